//! What the running Linux kernel is asked by those who work on it: [`netlink`], and what this process may do
//! ([`capabilities`]).
#![cfg(target_os = "linux")]

pub mod capabilities;
pub mod netlink;
