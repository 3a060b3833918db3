//! Which pages have memory, where, and what the driver is asked.

mod addresses;
mod capture;
mod handles;
mod idle;
