//! The receive window (Linux dynamic right-sizing: `tcp_rcv_space_adjust`).

use rampcc::Time;

use crate::ReceiveWindow;
use crate::config::SYN_WINDOW;

/// What a buffer of 6 MiB, Linux's `tcp_rmem` for twenty years, holds in segments of 1448 bytes that take 2304 each.
const USUAL_WINDOW: u64 = (6 << 20) / 8 * 5;

/// What a receiver advertises.
///
/// Linux keeps a limit below the buffer (`rcv_ssthresh`), which every segment raises by two (`tcp_grow_window`). A
/// receiver whose window is never in the way, or is given, keeps it too: while it rises, every segment is
/// acknowledged at once. It begins at half of the buffer, and there is room for 5/8 as soon as the first segment has
/// shown what full ones cost (`scaling_ratio`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advertised {
    kind: ReceiveWindow,
    syn: u64,
    /// `rcv_ssthresh`, and what it may rise to.
    limit: u64,
    room: u64,
    max: u64,
    /// Of the running round: when and at how many received bytes it began, and the last round's bytes.
    round_start: Time,
    round_bytes: u64,
    last_round: u64,
}

impl Advertised {
    pub(crate) fn new(kind: ReceiveWindow, syn: u64) -> Self {
        let (limit, room, max) = match kind {
            ReceiveWindow::Unlimited => (SYN_WINDOW, USUAL_WINDOW, 0),
            ReceiveWindow::Fixed(bytes) => (bytes.min(SYN_WINDOW), bytes, 0),
            ReceiveWindow::Autotuned { initial, max } => (initial, (initial + initial / 4).min(max), max),
        };
        Self { kind, syn, limit, room, max, round_start: Time::ZERO, round_bytes: 0, last_round: 0 }
    }

    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        match self.kind {
            ReceiveWindow::Unlimited => u64::MAX,
            ReceiveWindow::Fixed(bytes) => bytes,
            ReceiveWindow::Autotuned { .. } => self.limit,
        }
    }

    /// What a SYN-ACK announces.
    pub(crate) fn first_bytes(&self) -> u64 {
        self.bytes().min(self.syn)
    }

    /// A segment arrived. Returns whether the limit rose.
    #[inline]
    pub(crate) fn on_segment(&mut self, mss: u64) -> bool {
        let rises = self.limit < self.room;
        if rises {
            self.limit = (self.limit + 2 * mss).min(self.room);
        }
        rises
    }

    /// The application has read; `received` in all.
    #[inline]
    pub(crate) fn on_received(&mut self, now: Time, received: u64, rtt: Time) {
        if self.room < self.max {
            self.tune(now, received, rtt);
        }
    }

    /// Once per round trip: room for twice what was delivered in it, more if that grows.
    fn tune(&mut self, now: Time, received: u64, rtt: Time) {
        if self.round_start == Time::ZERO {
            self.round_start = now;
            self.round_bytes = received;
            return;
        }
        if rtt == Time::ZERO || now - self.round_start < rtt {
            return;
        }
        let copied = received - self.round_bytes;
        if copied > self.last_round {
            let base = copied.saturating_mul(2);
            let growth = if self.last_round == 0 {
                0
            } else {
                let grown =
                    u128::from(base) * u128::from(copied - self.last_round) / u128::from(self.last_round);
                u64::try_from(grown).unwrap_or(u64::MAX).saturating_mul(2)
            };
            self.room = self.room.max(base.saturating_add(growth).min(self.max));
            self.last_round = copied;
        }
        self.round_start = now;
        self.round_bytes = received;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_room_for_twice_what_a_round_trip_delivers_and_uses_it_two_segments_at_a_time() {
        let mut advertised =
            Advertised::new(ReceiveWindow::Autotuned { initial: 65_536, max: 500_000 }, SYN_WINDOW);
        let rtt = Time::from_ms(100);
        let mut received = 0;
        let mut seen = vec![];
        for round in 1..=8u64 {
            advertised.on_received(Time::from_ms(100 * round), received, rtt);
            seen.push((advertised.room, advertised.bytes()));
            let segments = 20 << round.min(5);
            received += 1000 * segments;
            for _ in 0..segments {
                advertised.on_segment(1000);
            }
        }
        assert_eq!(seen[0], (81_920, 65_536));
        assert_eq!(seen[1], (81_920, 81_920), "two rounds of one size ask for no more");
        assert!(
            seen[2].0 > 160_000 && seen[2].1 == 81_920,
            "a window follows its room with the next segments"
        );
        assert!(seen.windows(2).all(|w| w[0].0 <= w[1].0 && w[0].1 <= w[1].1));
        assert_eq!(seen[7], (500_000, 500_000));
        assert_eq!(advertised.first_bytes(), 65_535);
    }

    #[test]
    fn a_fixed_window_stays() {
        let mut advertised = Advertised::new(ReceiveWindow::Fixed(1000), SYN_WINDOW);
        advertised.on_received(Time::from_secs(1), 1 << 40, Time::from_ms(1));
        assert!(!advertised.on_segment(100));
        assert_eq!(advertised.bytes(), 1000);
    }

    #[test]
    fn a_window_that_is_never_in_the_way_grows_for_as_long_as_a_usual_buffer() {
        let mut advertised = Advertised::new(ReceiveWindow::Unlimited, SYN_WINDOW);
        let grown = (0..5000).filter(|_| advertised.on_segment(1448)).count();
        assert_eq!((grown, advertised.bytes()), (1336, u64::MAX));
    }
}
