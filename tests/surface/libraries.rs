//! Libraries, kernels and functions, and what can be asked of them.
