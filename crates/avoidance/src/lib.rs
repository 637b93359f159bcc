//! What a host does with its window after start-up, for any transport.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! A start-up algorithm decides until it has left; then the host's own congestion avoidance follows: [`Avoid`]. Both want to
//! know how fast the path delivers: [`RateSampler`]. Nothing here knows TCP, QUIC, a packet or a clock.

mod avoid;
mod bbr;
mod bbr3;
mod bounds;
mod cubic;
mod growth;
mod model;
mod policed;
mod rate;
mod reno;
mod vegas;
mod westwood;

pub use avoid::{Avoid, Avoidance, Rules};
pub use growth::Growth;
pub use model::{Delivered, Lost, Startup};
pub use rate::{RateSampler, Stamp};
pub use vegas::VegasConfig;
