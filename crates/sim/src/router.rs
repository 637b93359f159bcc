//! Routers' answers to Quick-Start requests (RFC 4782).

use rampcc::{Rate, Time};
use rampcc_path::{Capacity, LinkConfig, QuickStartPolicy};
use rampcc_tcp::{QuickStart, QuickStartKind as Kind};

/// A grant counts against the next ones for so long: until its packets show in what the link carries.
const REMEMBERED: Time = Time::from_ms(500);
/// What a link carries is averaged over at least so long.
const AVERAGED: Time = Time::from_ms(200);
/// Percent of a link's rate that may be carried and granted together.
const SHARE: u64 = 85;

/// The router before one link.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    policy: QuickStartPolicy,
    capacity: Capacity,
    grants: Vec<Grant>,
    /// Bytes that had entered the link at some times, the last of them old enough to average from.
    seen: Vec<(Time, u64)>,
}

#[derive(Clone, Copy, Debug)]
struct Grant {
    at: Time,
    flow: u32,
    rate: Rate,
}

impl Router {
    pub(crate) fn new(config: &LinkConfig) -> Self {
        Self {
            policy: config.quick_start,
            capacity: config.capacity.clone(),
            grants: Vec::new(),
            seen: vec![(Time::ZERO, 0)],
        }
    }

    /// The option of a packet of `flow` after this router, which `entered` bytes have passed so far.
    pub(crate) fn pass(&mut self, now: Time, flow: u32, option: QuickStart, entered: u64) -> QuickStart {
        // A link without a rate has no queue, and is no router.
        let Some(rate) = rate_at(&self.capacity, now) else { return option };
        match (self.policy, option.kind) {
            (QuickStartPolicy::Unaware, _) => QuickStart { unheeded: true, ..option },
            (QuickStartPolicy::Refuse, Kind::Request) => QuickStart { code: 0, ..option },
            (QuickStartPolicy::Refuse, Kind::Report) => option,
            (QuickStartPolicy::Grant, Kind::Request) => {
                let code = option.code.min(QuickStart::code_within(self.available(now, rate, entered)));
                if code > 0 {
                    self.grants.push(Grant { at: now, flow, rate: QuickStart::rate(code) });
                }
                QuickStart { code, ..option }
            }
            (QuickStartPolicy::Grant, Kind::Report) => {
                // A router further on has granted less than this one.
                for grant in self.grants.iter_mut().filter(|grant| grant.flow == flow) {
                    grant.rate = grant.rate.min(QuickStart::rate(option.code));
                }
                option
            }
        }
    }

    fn available(&mut self, now: Time, rate: Rate, entered: u64) -> Rate {
        self.grants.retain(|grant| now < grant.at + REMEMBERED);
        let granted: u64 = self.grants.iter().map(|grant| grant.rate.bits_per_s()).sum();
        while self.seen.len() > 1 && self.seen[1].0 + AVERAGED <= now {
            self.seen.remove(0);
        }
        let (since, before) = self.seen[0];
        let carried = (entered - before).saturating_mul(8_000_000) / (now - since).us().max(1);
        self.seen.push((now, entered));
        let most = rate.bits_per_s() / 100 * SHARE;
        Rate::from_bits_per_s(most.saturating_sub(granted).saturating_sub(carried))
    }
}

/// What a link serves at `now`; a measured one, on average. `None`: it has no rate.
fn rate_at(capacity: &Capacity, now: Time) -> Option<Rate> {
    match capacity {
        Capacity::Unlimited => None,
        Capacity::Constant(rate) => Some(*rate),
        Capacity::Steps { steps, period } => {
            let within = period.map_or(now, |period| Time::from_ns(now.ns() % period.ns().max(1)));
            steps.iter().rev().find(|(at, _)| *at <= within).map(|(_, rate)| *rate)
        }
        Capacity::Trace(trace) => {
            let bits = trace.at.len() as u64 * u64::from(trace.bytes) * 8;
            Some(Rate::from_bits_per_s(bits.saturating_mul(1_000_000) / trace.period.us().max(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use rampcc_path::Limit;

    use super::*;

    fn router(mbits: u64, policy: QuickStartPolicy) -> Router {
        let rate = Rate::from_bits_per_s(mbits * 1_000_000);
        let mut config = LinkConfig::constant(rate, Time::ZERO, Limit::Unlimited);
        config.quick_start = policy;
        Router::new(&config)
    }

    fn ask(router: &mut Router, ms: u64, flow: u32, entered: u64) -> u8 {
        router.pass(Time::from_ms(ms), flow, QuickStart::request(), entered).code
    }

    #[test]
    fn a_router_grants_what_its_link_has_left() {
        // 85 of 100 Mbit/s: 80 kbit/s x 2^10 = 81.92 (code 11). Then 3 are left: 2.56 (code 6).
        let mut router = router(100, QuickStartPolicy::Grant);
        assert_eq!((ask(&mut router, 1000, 1, 0), ask(&mut router, 1100, 2, 0)), (11, 6));
        // Half a second later the first is forgotten; what the link carries counts: 60 Mbit/s over 500 ms.
        assert_eq!(ask(&mut router, 1600, 3, 3_750_000), 9);
    }

    #[test]
    fn a_report_gives_back_what_others_did_not_grant() {
        let mut router = router(100, QuickStartPolicy::Grant);
        assert_eq!(ask(&mut router, 1000, 1, 0), 11);
        let report = QuickStart::report(4);
        assert_eq!(router.pass(Time::from_ms(1100), 1, report, 0), report);
        // 85 less 0.64.
        assert_eq!(ask(&mut router, 1200, 2, 0), 11);
    }

    #[test]
    fn a_router_that_refuses_or_knows_nothing_grants_nothing() {
        let refused = router(100, QuickStartPolicy::Refuse).pass(Time::ZERO, 1, QuickStart::request(), 0);
        assert_eq!((refused.granted(), refused.unheeded), (None, false));
        let ignored = router(100, QuickStartPolicy::Unaware).pass(Time::ZERO, 1, QuickStart::request(), 0);
        assert_eq!((ignored.granted(), ignored.code), (None, QuickStart::CODE_MAX));
        // A link without a rate is a wire.
        let mut wire = router(1, QuickStartPolicy::Unaware);
        wire.capacity = Capacity::Unlimited;
        assert_eq!(wire.pass(Time::ZERO, 1, QuickStart::request(), 0), QuickStart::request());
    }
}
