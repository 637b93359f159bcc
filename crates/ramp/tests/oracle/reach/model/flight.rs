//! What a flight has shown by its ACKs.

use super::terms::{Parameters, minus, plus, share, times};

/// What the page keeps of a flight's first and of its latest ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    pub(super) time: u64,
    pub(super) sent: u64,
    pub(super) delivered: u64,
    pub(super) newest: u64,
    /// Of the first alone.
    pub(super) rtt: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quarter {
    /// Of 64 ns.
    pub(super) units: u64,
    pub(super) bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) first: Mark,
    pub(super) quarters: Vec<Quarter>,
    pub(super) paused: bool,
}

#[expect(clippy::struct_excessive_bools, reason = "the page's own answers")]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proof {
    /// rate'
    pub(super) rate: u64,
    pub(super) middle: u64,
    pub(super) rate_off: u64,
    pub(super) middle_off: u64,
    pub(super) even: bool,
    pub(super) clear: bool,
    pub(super) quiet: bool,
    pub(super) stretched: bool,
    pub(super) slowed: bool,
    pub(super) queued: bool,
}

impl Flight {
    pub(super) fn after(start: u64) -> Self {
        Self { start, ..Self::default() }
    }

    /// From the first ACK to `last`: ns and bytes.
    pub(super) fn span_and_bytes(&self, last: &Mark) -> (u64, u64) {
        (minus(last.time, self.first.time), minus(last.delivered, self.first.delivered))
    }

    /// **Proof.**
    pub(super) fn proof(&self, is: &Parameters, last: &Mark, base: u64, noise: u64) -> Proof {
        let Self { first, quarters, paused, .. } = self;
        let (span, bytes) = self.span_and_bytes(last);
        let sent = minus(last.sent, first.sent);
        if first.time == 0 || bytes == 0 || span == 0 || last.newest <= first.newest {
            return Proof::default();
        }
        let wait = times(1000, minus(first.rtt, base));
        let moved = times(1000, noise);
        let newest = last.newest - first.newest;
        let off = |quarter: &Quarter| (64 * quarter.units).abs_diff(share(span, quarter.bytes, newest));
        let uneven = times(2, quarters.iter().map(off).max().unwrap_or(0));
        let noise = uneven.max(moved);
        let part = |ns: u64| (times(65_536, ns) / span).min(65_535);
        let fits = |part: u64, whole: u64| times(part, whole) <= span;
        let even = !paused && quarters.len() >= 2 && fits(is.clear, noise);
        Proof {
            rate: share(1_000_000_000, bytes, plus(span, wait).max(moved)),
            middle: share(1_000_000_000, bytes, span),
            rate_off: part(plus(noise, wait)),
            middle_off: part(noise),
            even,
            clear: even && fits(is.clear, wait),
            quiet: fits(is.quiet, noise),
            stretched: span > plus(plus(sent, sent / 4), noise),
            slowed: span > plus(plus(sent, share(sent, is.fill - 100, 200)), noise),
            queued: times(2, span) >= times(3000, base),
        }
    }
}
