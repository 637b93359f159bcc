/// Version of ramp with a fingerprint of the sources that decide what is kept of a run, whichever backend plays it:
/// `0.1.0+5d41402a`.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("RAMP_SOURCES"));
