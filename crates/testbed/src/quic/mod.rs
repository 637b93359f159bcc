//! QUIC over UDP sockets: a stack at each end of an emulated path, driven by a thread of its own, with TLS.

mod backend;
mod driver;
mod hosts;
mod play;
mod socket;
mod tls;

pub use backend::RealQuic;
