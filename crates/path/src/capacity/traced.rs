//! A measured link: instants at which so many bytes may leave.
//!
//! Source: mahimahi's link queue (Netravali et al. 2015): a packet that arrives at the very instant of an
//! opportunity has missed it; bytes an opportunity has left over go to the next waiting packet or are lost.

use std::sync::Arc;

use rampcc::Time;

use super::Serve;
use crate::config::Opportunities;

/// Serves from opportunity to opportunity.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    at: Arc<[Time]>,
    /// Not shorter than the last instant, so that instants ascend over repetitions.
    period: Time,
    bytes: u32,
    offset: Time,
    /// The current opportunity: which, in the repetition that began when (time of the trace), and what it has left.
    index: usize,
    base: Time,
    left: u32,
    busy_until: Time,
}

impl Traced {
    /// `None` if nothing could ever leave.
    pub(super) fn new(trace: &Opportunities) -> Option<Self> {
        let period = trace.period.max(*trace.at.last()?);
        if period == Time::ZERO || trace.bytes == 0 {
            return None;
        }
        Some(Self {
            at: trace.at.clone(),
            period,
            bytes: trace.bytes,
            offset: Time::from_ns(trace.offset.ns() % period.ns()),
            index: 0,
            base: Time::ZERO,
            left: trace.bytes,
            busy_until: Time::ZERO,
        })
    }
}

impl Serve for Traced {
    /// The first opportunity after `now` that has room.
    #[inline]
    fn start(&mut self, now: Time) -> Time {
        let now = now + self.offset;
        if self.left == 0 {
            self.step(1);
        }
        if self.instant() <= now {
            self.seek(now);
        }
        self.instant_of_run()
    }

    fn last_departure(&self) -> Time {
        self.busy_until
    }

    #[inline]
    fn serve(&mut self, _start: Time, bytes: u32) -> Time {
        if bytes > self.left {
            let missing = bytes - self.left;
            self.step(missing.div_ceil(self.bytes) as usize);
            let used = missing % self.bytes;
            self.left = if used == 0 { 0 } else { self.bytes - used };
        } else {
            self.left -= bytes;
        }
        self.busy_until = self.instant_of_run();
        self.busy_until
    }
}

impl Traced {
    fn instant(&self) -> Time {
        self.base + self.at[self.index]
    }

    fn instant_of_run(&self) -> Time {
        match self.instant() {
            Time::NEVER => Time::NEVER,
            instant => instant - self.offset,
        }
    }

    /// So many opportunities on, to one that is unused.
    #[inline]
    fn step(&mut self, by: usize) {
        self.left = self.bytes;
        self.index += by;
        if self.index >= self.at.len() {
            let repetitions = (self.index / self.at.len()) as u64;
            self.index %= self.at.len();
            self.base += Time::from_ns(self.period.ns().saturating_mul(repetitions));
        }
    }

    /// To the first opportunity after `now`, where the current one is not.
    fn seek(&mut self, now: Time) {
        self.left = self.bytes;
        // Mostly a few steps away; after a long pause found by bisection.
        for _ in 0..8 {
            self.step(1);
            if self.instant() > now {
                return;
            }
        }
        let repetitions = (now - self.base).ns() / self.period.ns();
        self.base += Time::from_ns(repetitions.saturating_mul(self.period.ns()));
        let within = now - self.base;
        self.index = self.at.partition_point(|&at| at <= within);
        self.step(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(ms: &[u64], offset: u64) -> Traced {
        let at: Arc<[Time]> = ms.iter().map(|&ms| Time::from_ms(ms)).collect();
        let period = *at.last().expect("not empty");
        let trace = Opportunities { at, period, bytes: 1500, offset: Time::from_ms(offset) };
        Traced::new(&trace).expect("something leaves")
    }

    fn serve(server: &mut Traced, now: Time, bytes: u32) -> Time {
        let start = server.start(now);
        server.serve(start, bytes)
    }

    #[test]
    fn a_packet_waits_for_the_next_opportunity() {
        let mut server = server(&[0, 3, 3, 10], 0);
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(3));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(3));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(10));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(10), "0 of the second repetition");
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(13));
    }

    #[test]
    fn packets_share_and_span_opportunities() {
        let mut server = server(&[1, 2, 3, 4], 0);
        assert_eq!(serve(&mut server, Time::ZERO, 500), Time::from_ms(1));
        assert_eq!(serve(&mut server, Time::ZERO, 500), Time::from_ms(1));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(2));
        assert_eq!(serve(&mut server, Time::ZERO, 1000), Time::from_ms(3));
        assert_eq!(serve(&mut server, Time::ZERO, 4000), Time::from_ms(5), "the second repetition's first");
        assert_eq!(serve(&mut server, Time::ZERO, 1), Time::from_ms(6));
    }

    #[test]
    fn room_left_over_is_lost_when_nobody_waits() {
        let mut server = server(&[1, 2, 3, 4], 0);
        assert_eq!(serve(&mut server, Time::ZERO, 100), Time::from_ms(1));
        assert_eq!(serve(&mut server, Time::from_ms(1), 1500), Time::from_ms(2));
        assert_eq!(serve(&mut server, Time::from_us(2_500), 1501), Time::from_ms(4));
    }

    #[test]
    fn an_offset_starts_in_the_middle() {
        let mut server = server(&[5, 7, 20], 6);
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(1));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(14));
        assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(19));
        assert_eq!(serve(&mut server, Time::from_secs(2), 1500), Time::from_ms(2_014 - 14 + 1));
    }

    #[test]
    fn one_line_is_a_constant_rate() {
        let mut server = server(&[4], 0);
        for i in 1..=1000 {
            assert_eq!(serve(&mut server, Time::ZERO, 1500), Time::from_ms(4 * i));
        }
        assert_eq!(serve(&mut server, Time::from_secs(3600), u32::MAX).ns() % 4_000_000, 0);
    }

    #[test]
    fn seeking_far_ahead_equals_stepping() {
        let ms = [0, 0, 1, 5, 5, 5, 6, 9, 13, 13, 17, 18, 19, 23, 29, 31, 31, 40];
        for offset in [0, 13, 39, 40, 41] {
            for pause_us in [0, 900, 5_000, 29_000, 40_000, 1_234_567] {
                let (mut seeking, mut now) = (server(&ms, offset), Time::ZERO);
                for _ in 0..50 {
                    now += Time::from_us(pause_us);
                    let mut stepping = server(&ms, offset);
                    while stepping.instant() <= now + stepping.offset {
                        stepping.step(1);
                    }
                    assert_eq!(seeking.start(now), stepping.instant_of_run());
                    seeking.left = 700;
                }
            }
        }
    }
}
