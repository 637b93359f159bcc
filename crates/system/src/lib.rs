//! What the running Linux kernel is asked by those who work on it: [`netlink`], and what this process may do
//! ([`capabilities`]).
//!
//! A part of ramp, not meant for other programs: any release may change it.
#![cfg(target_os = "linux")]

pub mod capabilities;
pub mod netlink;
