//! Scenarios played with the kernel's own TCP over emulated paths.
#![cfg(target_os = "linux")]
