//! The ramp command.
fn main() {}
