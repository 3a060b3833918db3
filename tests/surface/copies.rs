//! 2-D and 3-D copies and sets.
