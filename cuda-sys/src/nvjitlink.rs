//! nvjitlink
