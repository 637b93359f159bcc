//! Statistics that no library here has: checked against scipy in the tests.

mod bimodal;
mod bootstrap;
mod correlation;
mod describe;
mod paired;
mod power;
mod ranks;
pub mod weighted;

pub(crate) use bimodal::modes;
pub(crate) use bootstrap::bca;
pub use correlation::{ranks, spearman};
pub use describe::quantile;
pub(crate) use describe::{mean, sd, skewness, summarise, t_interval};
pub(crate) use paired::{How, compare, holm};
pub use paired::{Paired, paired};
pub(crate) use power::{runs_for_ranks, runs_for_t};
pub(crate) use ranks::signed_rank;
