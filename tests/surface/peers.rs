//! Several devices.
