//! Westwood+ as Linux has it: Reno, but in the end a loss leaves what the measured rate fills, not half of the window.
//!
//! The window falls to Reno's half while the loss is repaired. The end of the repair (`CA_EVENT_COMPLETE_CWR`) sets it and its
//! threshold to rate times smallest RTT, be that less or more. A timeout has the threshold there at once (`CA_EVENT_LOSS`).

use rampcc::Time;

use crate::growth::Growth;
use crate::reno::Reno;

/// A sample takes an RTT, and at least so long (Linux `TCP_WESTWOOD_RTT_MIN`).
const SAMPLE_MIN: Time = Time::from_ms(50);

/// The state of Westwood+.
#[derive(Clone, Debug)]
pub struct Westwood {
    reno: Reno,
    /// Bytes per second, after one and after two filters of 7/8.
    once: u64,
    twice: u64,
    /// Bytes since the sample began.
    bytes: u64,
    since: Option<Time>,
    rtt: Time,
    rtt_min: Time,
    /// The path may be another after a timeout: the next ACK's RTT is the smallest.
    relearns: bool,
    /// The threshold of the repair that is under way.
    half: Option<u64>,
}

impl Westwood {
    pub(crate) fn new(counts_acks: bool) -> Self {
        Self {
            reno: Reno::new(counts_acks),
            once: 0,
            twice: 0,
            bytes: 0,
            since: None,
            rtt: Time::ZERO,
            rtt_min: Time::NEVER,
            relearns: false,
            half: None,
        }
    }

    /// Any ACK that delivers, in every state. Bytes count when they are first acknowledged, by SACK too, which is what
    /// the papers' counting of duplicate ACKs is for.
    #[inline]
    pub(crate) fn observe(&mut self, now: Time, bytes: u64, rtt: Option<Time>) {
        if let Some(rtt) = rtt {
            self.rtt = rtt;
        }
        if self.rtt > Time::ZERO && (self.relearns || self.rtt < self.rtt_min) {
            self.rtt_min = self.rtt;
            self.relearns = false;
        }
        let since = *self.since.get_or_insert(now);
        if self.rtt > Time::ZERO && now - since > self.rtt.max(SAMPLE_MIN) {
            self.end_sample(now - since);
            self.since = Some(now);
        }
        self.bytes += bytes;
    }

    #[cold]
    fn end_sample(&mut self, span: Time) {
        let rate = u128::from(self.bytes) * 1_000_000_000 / u128::from(span.ns());
        let rate = u64::try_from(rate).unwrap_or(u64::MAX) / 8;
        self.bytes = 0;
        if self.once == 0 && self.twice == 0 {
            (self.once, self.twice) = (rate * 8, rate * 8);
        } else {
            self.once = self.once / 8 * 7 + rate;
            self.twice = self.twice / 8 * 7 + self.once / 8;
        }
    }

    pub(crate) fn on_ack(&mut self, growth: &Growth) -> u64 {
        self.reno.on_ack(growth)
    }

    /// Reno's half, until the repair is over.
    pub(crate) fn on_loss(&mut self, flight: u64, mss: u64) -> u64 {
        let half = self.reno.on_loss(flight).max(2 * mss);
        self.half = Some(half);
        half
    }

    /// The repair is over, with `ssthresh` where it is: the window, and the threshold, from here. `None`: the start-up
    /// algorithm has set its own. ns-2's rules keep whole packets of the half.
    pub(crate) fn on_repaired(&mut self, ssthresh: u64, mss: u64) -> Option<u64> {
        let half = self.half.take()?;
        (ssthresh <= half && half - ssthresh < mss).then(|| self.pipe(mss))
    }

    /// Rate times smallest RTT, two packets at least.
    pub(crate) fn pipe(&self, mss: u64) -> u64 {
        let known = if self.rtt_min == Time::NEVER { 0 } else { self.rtt_min.ns() };
        let pipe = u128::from(self.twice) * u128::from(known) / 1_000_000_000;
        u64::try_from(pipe).unwrap_or(u64::MAX).max(2 * mss)
    }

    pub(crate) fn on_timeout(&mut self) {
        self.reno.reset();
        self.relearns = true;
        self.half = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1500 bytes every `gap_us` for `count` packets.
    fn fed(westwood: &mut Westwood, from: Time, gap_us: u64, count: u64) -> Time {
        let mut now = from;
        for _ in 0..count {
            now += Time::from_us(gap_us);
            westwood.observe(now, 1500, Some(Time::from_ms(106)));
        }
        now
    }

    /// 12.5 MB/s and 106 ms: 883 packets of 1500 bytes.
    #[test]
    fn a_repair_ends_with_rate_times_rtt_be_it_less_or_more() {
        let mut westwood = Westwood::new(false);
        assert_eq!(westwood.pipe(1500), 3000, "nothing measured");
        fed(&mut westwood, Time::ZERO, 120, 10_000);
        for flight in [300_000, 3_000_000] {
            let half = westwood.on_loss(flight, 1500);
            assert_eq!(half, flight / 2);
            let left = westwood.on_repaired(half, 1500).expect("the threshold is its own");
            assert!((left as f64 / 1500.0 - 883.0).abs() < 3.0, "{left}");
            assert_eq!(westwood.on_repaired(half, 1500), None, "once for each repair");
        }
        for (ssthresh, own) in [(7, false), (1_500_001, false), (1_498_500, false), (1_498_501, true)] {
            westwood.on_loss(3_000_000, 1500);
            assert_eq!(
                westwood.on_repaired(ssthresh, 1500).is_some(),
                own,
                "somebody else's threshold stays"
            );
        }
    }

    /// Two filters of 7/8: of a rate that halves, after n samples (1 + n/8) (7/8)^n of the difference is left.
    #[test]
    fn the_rate_is_filtered_twice() {
        let mut westwood = Westwood::new(false);
        let mut now = fed(&mut westwood, Time::ZERO, 120, 10_000);
        let first = westwood.twice as f64;
        let sample = 106_000 / 240 + 1;
        let mut power = 1.0;
        for n in 1..=10 {
            now = fed(&mut westwood, now, 240, sample);
            power *= 7.0 / 8.0;
            let left = (1.0 + f64::from(n) / 8.0) * power;
            let expected = first / 2.0 * (1.0 + left);
            assert!(
                (westwood.twice as f64 / expected - 1.0).abs() < 0.05,
                "{n}: {} {expected}",
                westwood.twice
            );
        }
    }

    #[test]
    fn after_a_timeout_the_next_rtt_is_the_smallest() {
        let mut westwood = Westwood::new(false);
        let now = fed(&mut westwood, Time::ZERO, 120, 10_000);
        westwood.on_timeout();
        let packets = |westwood: &Westwood| westwood.pipe(1500) as f64 / 1500.0;
        assert!((packets(&westwood) - 883.0).abs() < 3.0, "until then the old one counts");
        westwood.observe(now, 1500, Some(Time::from_ms(212)));
        assert!((packets(&westwood) - 1766.0).abs() < 6.0, "{}", packets(&westwood));
        westwood.observe(now, 1500, Some(Time::from_ms(53)));
        assert!((packets(&westwood) - 441.5).abs() < 3.0, "{}", packets(&westwood));
    }
}
