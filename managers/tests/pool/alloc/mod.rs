//! Requests: what they get, what they wait for, and when they are refused.

mod basics;
mod behind;
mod deadlines;
mod hopeless;
mod refusals;
mod under_way;
