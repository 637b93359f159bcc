//! Statistics that no library here has: checked against scipy in the tests.

mod bimodal;
mod bootstrap;
mod describe;
mod paired;

pub(crate) use bimodal::modes;
pub(crate) use bootstrap::bca;
pub(crate) use describe::{mean, quantile, sd, summarise, t_interval};
pub use paired::{Paired, paired};
pub(crate) use paired::{compare, holm};
