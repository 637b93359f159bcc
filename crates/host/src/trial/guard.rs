//! Guard that stops a trial early if the arm on trial does harm.
//!
//! At the end of each block there is a look at three harms: slower transfers, more retransmissions, more connections
//! that do not finish. Each is a one-sided [`rank_test`], whose null distribution is that of the draw. A look at a
//! harm may err with a probability of `alpha` / (looks x harms); since the looks are planned beforehand, the
//! probability that an arm that does no harm is ever stopped is at most `alpha`, however the looks depend on each other
//! (Bonferroni). A spending function with the joint distribution of the looks would stop a little earlier; it would
//! need that distribution, which dependent connections do not have. And an effect must not only be certain but also
//! count: it has to exceed its margin.

use serde::{Deserialize, Serialize};

use super::connection::{Connection, FIRST_WINDOW_BYTES};
use super::judge::size_adjusted_log_ratio;
use super::plan::Plan;
use super::rank::{RankTest, Ranked, rank_test};

/// Fewer connections in an arm than this tell nothing, and the test's normal shape needs some.
const FEWEST: usize = 20;
/// A difference of shares (of retransmitted bytes, of unfinished connections) below this is no harm.
const SHARE_MARGIN: f64 = 0.01;
/// An open connection counts as unfinished when it is older than so many blocks.
const PATIENCE_BLOCKS: f64 = 2.0;

/// Harm that an arm on trial may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// Transfers take longer.
    Slower,
    /// More is sent twice.
    Retransmits,
    /// More connections are cut off, or still open long after.
    Unfinished,
}

const HARMS: [Harm; 3] = [Harm::Slower, Harm::Retransmits, Harm::Unfinished];

/// Reason for rolling a trial back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Harm that the arm on trial does.
    pub harm: Harm,
    /// By how much: a ratio of times, or a difference of shares.
    pub effect: f64,
    /// One-sided probability of ranks like these if the arms were alike.
    pub p: f64,
    /// Threshold that it had to fall below.
    pub threshold: f64,
    /// Connections of the arm on trial, and of the other.
    pub counts: [usize; 2],
    /// Number of the look, from 1.
    pub look: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Open {
    pub(crate) arm: usize,
    pub(crate) opened_s: f64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) now_s: f64,
    pub(crate) done: &'a [Connection],
    pub(crate) open: &'a [Open],
}

/// Looks when a block ends.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    plan: Plan,
    looks: u32,
}

impl Guard {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { plan: plan.clone(), looks: 0 }
    }

    pub(crate) fn looks(&self) -> u32 {
        self.looks
    }

    /// Whether the next look is due.
    pub(crate) fn due(&self, now_s: f64) -> bool {
        self.looks < self.plan.blocks() && now_s >= f64::from(self.looks + 1) * self.plan.block_s
    }

    /// One look; `None`: go on.
    pub(crate) fn look(&mut self, known: &Known<'_>) -> Option<Stop> {
        self.looks += 1;
        let threshold = self.plan.alpha / (f64::from(self.plan.blocks()) * HARMS.len() as f64);
        HARMS.into_iter().find_map(|harm| {
            let (test, effect, limit) = match harm {
                Harm::Slower => self.slower(known),
                Harm::Retransmits => self.retransmits(known),
                Harm::Unfinished => self.unfinished(known),
            }?;
            let p = upper_tail(test.z);
            let certain = p < threshold && test.counts.iter().all(|count| *count >= FEWEST);
            (certain && effect > limit).then_some(Stop {
                harm,
                effect,
                p,
                threshold,
                counts: test.counts,
                look: self.looks,
            })
        })
    }

    fn slower(&self, known: &Known<'_>) -> Option<(RankTest, f64, f64)> {
        let timed = || known.done.iter().filter(|c| c.delivered && c.bytes > FIRST_WINDOW_BYTES);
        let mut figures: Vec<_> =
            timed().map(|c| Ranked { stratum: self.stratum(c), new: c.arm == 0, value: c.busy_s }).collect();
        let effect = size_adjusted_log_ratio(timed(), self.plan.tick_s)?;
        Some((rank_test(&mut figures)?, libm::exp(effect), 1.0 + self.plan.margin))
    }

    fn retransmits(&self, known: &Known<'_>) -> Option<(RankTest, f64, f64)> {
        let sending = || known.done.iter().filter(|c| c.bytes > FIRST_WINDOW_BYTES);
        let share = |c: &Connection| c.retransmitted_bytes as f64 / c.sent_bytes.max(1) as f64;
        let mut figures: Vec<_> = sending()
            .map(|c| Ranked { stratum: self.stratum(c), new: c.arm == 0, value: share(c) })
            .collect();
        let of_arm = |arm| {
            let (again, sent) = sending()
                .filter(|c| c.arm == arm)
                .fold((0, 0), |(again, sent), c| (again + c.retransmitted_bytes, sent + c.sent_bytes));
            again as f64 / sent.max(1) as f64
        };
        Some((rank_test(&mut figures)?, of_arm(0) - of_arm(1), SHARE_MARGIN))
    }

    fn unfinished(&self, known: &Known<'_>) -> Option<(RankTest, f64, f64)> {
        let patience = PATIENCE_BLOCKS * self.plan.block_s;
        let figure = |arm, opened_s: f64, unfinished| Ranked {
            stratum: self.plan.block_of(opened_s),
            new: arm == 0,
            value: f64::from(u8::from(unfinished)),
        };
        let done = known.done.iter().map(|c| figure(c.arm, c.opened_s, !c.delivered));
        let open = known.open.iter().map(|o| figure(o.arm, o.opened_s, known.now_s - o.opened_s > patience));
        let mut figures: Vec<_> = done.chain(open).collect();
        let share = |new| {
            let of_arm = figures.iter().filter(|figure| figure.new == new);
            let (sum, count) = of_arm.fold((0.0, 0), |(sum, count), f| (sum + f.value, count + 1));
            sum / f64::from(count.max(1))
        };
        let effect = share(true) - share(false);
        Some((rank_test(&mut figures)?, effect, SHARE_MARGIN))
    }

    /// Connections of one block and one size class are compared with each other.
    fn stratum(&self, connection: &Connection) -> u64 {
        self.plan.block_of(connection.opened_s) * 8 + connection.size() as u64
    }
}

fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2)
}
