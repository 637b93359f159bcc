//! Assigning, watching and trying on real connections of a control group. Needs root and a kernel with BTF.
#![cfg(target_os = "linux")]

mod all;
mod assign;
mod support;
mod trial;
mod watch;
