//! Time at which the next packet may leave.

use rampcc::{Decision, Rate, Time};

/// Linux never paces the first ten data packets.
pub(crate) const UNPACED_SEGMENTS: u32 = 10;
/// Linux sends about a millisecond's worth at once (`tcp_pacing_shift` 10: 1/1024 s), at least two packets and at
/// most 64 kB.
const BURST_SHIFT: u32 = 10;
const BURST_MIN_SEGMENTS: u64 = 2;
const BURST_MAX_BYTES: u64 = 65_536;

/// Spaces packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pacer {
    next: Time,
    burst_left: u64,
    chirp: Chirp,
}

/// What is left of a chirp: as the decision was when it began.
#[derive(Clone, Copy, Debug, Default)]
struct Chirp {
    packets: u32,
    gap_ns: u32,
    step_ns: u32,
    pause_ns: u32,
}

impl Pacer {
    /// When the next packet may leave; in the past: now.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Whether a packet may leave now.
    #[inline]
    pub(crate) fn ready(&self, now: Time) -> bool {
        self.burst_left > 0 || now >= self.next
    }

    /// A packet left and the next one may follow at once.
    #[inline]
    pub(crate) fn on_sent_unspaced(&mut self, now: Time) {
        self.burst_left = 0;
        self.next = now;
    }

    /// A packet left, one of `packets` that leave at once; the gap of all of them follows.
    pub(crate) fn on_sent_of_several(&mut self, now: Time, bytes: u32, bytes_per_s: u64, packets: u32) {
        if self.burst_left == 0 {
            self.burst_left = u64::from(packets);
            self.next = now;
        }
        self.next += Rate::from_bytes_per_s(bytes_per_s).time_of(u64::from(bytes));
        self.burst_left -= 1;
    }

    /// Whether a chirp has begun and packets of it are to come.
    #[inline]
    pub(crate) fn in_chirp(&self) -> bool {
        self.chirp.packets > 0
    }

    /// A packet left, the first of a chirp or the next of the one under way: each gap is shorter than the last, and a
    /// pause follows the last packet.
    pub(crate) fn on_sent_in_chirp(&mut self, now: Time, decision: &Decision) {
        if self.chirp.packets == 0 {
            self.chirp = Chirp {
                packets: decision.chirp_packets,
                gap_ns: decision.chirp_gap_ns,
                step_ns: decision.chirp_step_ns,
                pause_ns: decision.chirp_pause_ns,
            };
        }
        let chirp = &mut self.chirp;
        chirp.packets -= 1;
        let gap_ns = if chirp.packets == 0 { chirp.pause_ns } else { chirp.gap_ns };
        chirp.gap_ns = chirp.gap_ns.saturating_sub(chirp.step_ns);
        self.burst_left = 0;
        self.next = now + Time::from_ns(gap_ns.into());
    }

    /// A packet left and the next one follows exactly one gap later.
    #[inline]
    pub(crate) fn on_sent_exactly(&mut self, now: Time, bytes: u32, bytes_per_s: u64) {
        self.burst_left = 0;
        self.next = now + Rate::from_bytes_per_s(bytes_per_s).time_of(u64::from(bytes));
    }

    /// The same under Linux's pacing: after a pause half a gap is forgiven (`tcp_update_skb_after_send`).
    #[inline]
    pub(crate) fn on_sent_singly(&mut self, now: Time, bytes: u32, bytes_per_s: u64) {
        let late = now - self.next;
        self.on_sent_exactly(now, bytes, bytes_per_s);
        let gap = self.next - now;
        self.next = now + (gap - late.min(Time::from_ns(gap.ns() / 2)));
    }

    /// A packet left under Linux's pacing: bursts of about a millisecond, and half a gap forgiven when late.
    pub(crate) fn on_sent_in_burst(&mut self, now: Time, bytes: u32, bytes_per_s: u64) {
        let bytes = u64::from(bytes.max(1));
        let gap = Rate::from_bytes_per_s(bytes_per_s).time_of(bytes);
        if self.burst_left == 0 {
            let most = (BURST_MAX_BYTES / bytes).max(BURST_MIN_SEGMENTS);
            self.burst_left = ((bytes_per_s >> BURST_SHIFT) / bytes).clamp(BURST_MIN_SEGMENTS, most);
            let late = now - self.next;
            self.next = now + (gap - late.min(Time::from_ns(gap.ns() / 2)));
        } else {
            self.next += gap;
        }
        self.burst_left -= 1;
    }

    /// Nothing more leaves for now: a burst does not go on after a pause.
    #[inline]
    pub(crate) fn end_burst(&mut self) {
        self.burst_left = 0;
    }
}

/// Linux's rate: twice the window per smoothed RTT while it may double within it, 1.2 times after.
#[inline]
pub(crate) fn linux_rate(cwnd: u64, ssthresh: u64, smoothed: Time) -> u64 {
    // 200 % while cwnd < ssthresh / 2, else 120 %.
    share(cwnd, if cwnd < ssthresh / 2 { 200 } else { 120 }, smoothed)
}

/// So many percent of the window per smoothed RTT; 0: there is no RTT.
#[inline]
pub(crate) fn share(cwnd: u64, percent: u64, smoothed: Time) -> u64 {
    let ns = smoothed.ns();
    if ns == 0 {
        return 0;
    }
    match cwnd.checked_mul(percent * 10_000_000) {
        Some(n) => n / ns,
        None => u64::try_from(u128::from(cwnd) * u128::from(percent * 10_000_000) / u128::from(ns))
            .unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_gaps_do_not_depend_on_when_the_packet_was_asked_for() {
        let mut pacer = Pacer::default();
        pacer.on_sent_exactly(Time::from_us(500), 1000, 12_500_000);
        assert_eq!(pacer.next(), Time::from_us(580));
        assert!(!pacer.ready(Time::from_us(579)) && pacer.ready(Time::from_us(580)));
    }

    #[test]
    fn a_pause_forgives_half_a_gap() {
        let mut pacer = Pacer::default();
        let gap = Time::from_us(80);
        let send = |pacer: &mut Pacer, now| pacer.on_sent_singly(now, 1000, 12_500_000);
        pacer.on_sent_unspaced(Time::from_ms(1));
        send(&mut pacer, Time::from_ms(1));
        assert_eq!(pacer.next(), Time::from_ms(1) + gap, "it was not late");
        send(&mut pacer, Time::from_ms(1) + gap);
        assert_eq!(pacer.next(), Time::from_ms(1) + gap + gap);
        send(&mut pacer, Time::from_ms(9));
        assert_eq!(pacer.next(), Time::from_ms(9) + Time::from_us(40));
        send(&mut pacer, Time::from_ms(9) + Time::from_us(50));
        assert_eq!(pacer.next(), Time::from_ms(9) + Time::from_us(120), "10 us late: as much sooner");
    }

    #[test]
    fn twice_the_window_per_rtt_in_slow_start() {
        assert_eq!(linux_rate(100_000, u64::MAX, Time::from_ms(100)), 2_000_000);
        assert_eq!(linux_rate(100_000, 150_000, Time::from_ms(100)), 1_200_000);
        assert_eq!(linux_rate(100_000, 150_000, Time::ZERO), 0);
        assert!(linux_rate(u64::MAX / 4, u64::MAX, Time::from_us(1)) > u64::MAX / 4);
    }

    #[test]
    fn several_leave_at_once_and_then_none_for_as_long_as_all_of_them_take() {
        let mut pacer = Pacer::default();
        let mut left = Vec::new();
        for us in 0..1000 {
            let now = Time::from_us(us);
            while pacer.ready(now) {
                pacer.on_sent_of_several(now, 1000, 12_500_000, 4);
                left.push(us);
            }
        }
        assert_eq!(left[..12], [0, 0, 0, 0, 320, 320, 320, 320, 640, 640, 640, 640]);
    }

    #[test]
    fn a_chirp_keeps_its_shape_to_its_end() {
        let mut pacer = Pacer::default();
        let chirp = |packets, gap_ns| {
            let mut decision = Decision::new();
            (decision.chirp_packets, decision.chirp_gap_ns) = (packets, gap_ns);
            (decision.chirp_step_ns, decision.chirp_pause_ns) = (30, 500);
            decision
        };
        let mut now = Time::ZERO;
        let mut gaps = Vec::new();
        for said in [chirp(4, 100), chirp(2, 7), chirp(2, 7), chirp(2, 7), chirp(2, 7), chirp(2, 7)] {
            pacer.on_sent_in_chirp(now, &said);
            gaps.push((pacer.next() - now).ns());
            now = pacer.next();
        }
        assert_eq!(gaps, [100, 70, 40, 500, 7, 500]);
        assert!(!pacer.in_chirp());
    }

    #[test]
    fn a_burst_is_about_a_millisecond_long() {
        let mut pacer = Pacer::default();
        let mut at_once = 0;
        while pacer.ready(Time::from_secs(1)) {
            pacer.on_sent_in_burst(Time::from_secs(1), 1000, 10_240_000);
            at_once += 1;
        }
        assert_eq!(at_once, 10);
    }
}
