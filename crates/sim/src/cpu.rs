//! Processors of hosts: packets that arrive wait for each other.
//!
//! A processor takes packets in the order of their arrival. What each costs is found when its turn comes, from the
//! state its connection then has. Timers do not wait, as the kernel's come before packets: they act at once, and what
//! they cost delays what is being served.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_scenario::Cpu as Prices;
use rampcc_trace::CpuSample;

use crate::packet::Parcel;

/// A sample of the load covers so much time. Samples end at multiples of it, as their reader has a clock of its own; the
/// first one is shorter.
const WINDOW: Time = Time::from_ms(100);

/// Entries of a queue that are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visits {
    pub(crate) entries: u64,
    /// How long the queue is.
    pub(crate) of: u64,
    /// It is a sender's queue of what is outstanding.
    pub(crate) outstanding: bool,
}

/// The processor of one host.
#[derive(Debug)]
pub(crate) struct Cpu<P> {
    prices: Prices,
    /// Packets that have come; the first one is served if `serving`.
    waiting: VecDeque<Parcel<P>>,
    /// A processor that is busy without it works for a timer.
    serving: bool,
    /// The card has interrupted, and packets are taken in until none waits.
    polling: bool,
    /// The next interrupt may come from here on.
    quiet_until: Time,
    /// When its work is done; `Time::NEVER`: idle.
    done: Time,
    /// How far the time spent has been counted.
    counted: Time,
    /// The window whose busy time is counted.
    window_start: Time,
    busy: Time,
    /// Time of searches, as a sender, in that window.
    searched: Time,
    /// It is the source of a flow.
    sends: bool,
    /// `Time::NEVER`: the host has not had a connection yet.
    window_end: Time,
    /// The work that was priced last, and what it took: most packets cost the same.
    priced: (u64, Time),
}

impl<P: Copy> Cpu<P> {
    pub(crate) fn new(prices: Prices) -> Self {
        Self {
            prices,
            waiting: VecDeque::new(),
            serving: false,
            polling: false,
            quiet_until: Time::ZERO,
            done: Time::NEVER,
            counted: Time::ZERO,
            window_start: Time::ZERO,
            busy: Time::ZERO,
            searched: Time::ZERO,
            sends: false,
            window_end: Time::NEVER,
            priced: (0, Time::ZERO),
        }
    }

    /// A connection of the host opens, as whose sender or not; from the first one on, its load counts.
    pub(crate) fn start(&mut self, now: Time, sends: bool) {
        self.sends |= sends;
        if self.window_end == Time::NEVER {
            self.counted = now;
            self.window_start = now;
            self.window_end = Time::from_ns((now.ns() / WINDOW.ns() + 1) * WINDOW.ns());
        }
    }

    /// When it has something to do.
    #[inline]
    pub(crate) fn poll_timeout(&self) -> Time {
        if self.done == Time::NEVER && !self.waiting.is_empty() { self.quiet_until } else { self.done }
    }

    /// When it has something to tell.
    pub(crate) fn window_end(&self) -> Time {
        self.window_end
    }

    /// A packet has arrived. Returns whether there was room for it; the caller goes on with [`next`](Self::next).
    pub(crate) fn take(&mut self, parcel: &Parcel<P>) -> bool {
        let waiting = self.waiting.len() - usize::from(self.serving);
        let room = self.prices.ring == 0 || waiting < self.prices.ring as usize;
        if room {
            self.waiting.push_back(*parcel);
        }
        room
    }

    /// Whether it works, for a packet or a timer.
    #[inline]
    pub(crate) fn is_busy(&self) -> bool {
        self.done != Time::NEVER
    }

    /// The packet whose turn it is, if the processor is idle and the card has interrupted it; [`serve`](Self::serve) follows.
    #[inline]
    pub(crate) fn next(&mut self, now: Time) -> Option<&Parcel<P>> {
        if self.is_busy() {
            return None;
        }
        if !self.polling && !self.waiting.is_empty() && self.quiet_until <= now {
            self.polling = true;
            self.quiet_until = now + self.prices.interrupt_gap;
        }
        self.polling &= !self.waiting.is_empty();
        self.waiting.front().filter(|_| self.polling)
    }

    /// Begins with that packet, which visits so many entries.
    #[inline]
    pub(crate) fn serve(&mut self, now: Time, visits: Visits) {
        self.count(now);
        self.done = now + self.wall_time(self.prices.packet.ns(), visits);
        if visits.outstanding {
            self.searched += self.search_time(visits);
        }
        self.serving = true;
    }

    /// A timer visited so many entries.
    pub(crate) fn interrupt(&mut self, now: Time, visits: Visits) {
        let cost = self.wall_time(0, visits);
        if cost > Time::ZERO {
            self.count(now);
            self.done = if self.done == Time::NEVER { now } else { self.done } + cost;
        }
    }

    /// The packet that is done with by `now`, if that is what was being served.
    pub(crate) fn finish(&mut self, now: Time) -> Option<Parcel<P>> {
        if self.done > now {
            return None;
        }
        self.count(now);
        self.done = Time::NEVER;
        if std::mem::take(&mut self.serving) { self.waiting.pop_front() } else { None }
    }

    /// The load of the window that has ended by `now`, if one has.
    pub(crate) fn poll_sample(&mut self, now: Time, node: u32) -> Option<CpuSample> {
        if self.window_end > now {
            return None;
        }
        self.count(self.window_end);
        let base = u64::from(self.prices.base_load_permille);
        let over = self.window_end - self.window_start;
        let rest = (1000 - base) * self.busy.ns() / over.ns();
        let sample = CpuSample {
            now: self.window_end,
            node,
            over,
            load_permille: (base + rest) as u32,
            sends: self.sends,
            search_permille: u32::try_from(1000 * self.searched.ns() / over.ns()).unwrap_or(u32::MAX),
        };
        self.busy = Time::ZERO;
        self.searched = Time::ZERO;
        self.window_start = self.window_end;
        self.window_end += WINDOW;
        Some(sample)
    }

    /// How the host searches its queues.
    pub(crate) fn search(&self) -> rampcc_tcp::Search {
        self.prices.search
    }

    /// Entries that come from memory. The cache keeps any entry with the same chance, so that of a longer queue it has its
    /// size's share.
    fn misses(&self, visits: Visits) -> u64 {
        let cache = u64::from(self.prices.cache);
        if cache == 0 || visits.of <= cache {
            return 0;
        }
        visits.entries.saturating_mul(visits.of - cache) / visits.of
    }

    fn count(&mut self, now: Time) {
        if self.done != Time::NEVER {
            self.busy += now - self.counted;
        }
        self.counted = now;
    }

    /// What visiting these entries takes of a processor that does nothing else.
    fn search_time(&self, visits: Visits) -> Time {
        let visit = self.prices.visit.ns().saturating_mul(visits.entries);
        let miss = self.prices.miss.ns().saturating_mul(self.misses(visits));
        Time::from_ns(visit.saturating_add(miss))
    }

    /// Work takes longer by what everything else takes of the processor.
    fn wall_time(&mut self, fixed_ns: u64, visits: Visits) -> Time {
        let own = fixed_ns.saturating_add(self.search_time(visits).ns());
        if self.priced.0 != own {
            let share = u64::from(1000 - self.prices.base_load_permille);
            self.priced = (own, Time::from_ns(own.saturating_mul(1000) / share));
        }
        self.priced.1
    }
}

#[cfg(test)]
mod tests {
    use rampcc_tcp::Search;

    use super::*;

    fn cpu(base_load_permille: u32) -> Cpu<u32> {
        let prices = Prices {
            search: Search::List,
            visit: Time::from_ns(5),
            packet: Time::from_us(1),
            cache: 0,
            miss: Time::from_ns(100),
            ring: 0,
            interrupt_gap: Time::ZERO,
            base_load_permille,
        };
        let mut cpu = Cpu::new(prices);
        cpu.start(Time::ZERO, true);
        cpu
    }

    fn parcel(packet: u32) -> Parcel<u32> {
        Parcel { packet, ..Parcel::default() }
    }

    fn visits(entries: u64) -> Visits {
        Visits { entries, of: entries, ..Visits::default() }
    }

    #[test]
    fn what_the_cache_does_not_hold_comes_from_memory() {
        let mut cpu = cpu(0);
        cpu.prices.cache = 8192;
        // 1 us + 4000 x 5 ns, all in the cache.
        assert_eq!(
            cpu.wall_time(1000, Visits { entries: 4000, of: 8192, ..Visits::default() }),
            Time::from_us(21)
        );
        // Half of a queue twice as long as the cache comes from memory: 100 ns more each.
        assert_eq!(
            cpu.wall_time(1000, Visits { entries: 4000, of: 16384, ..Visits::default() }),
            Time::from_us(221)
        );
        cpu.prices.cache = 0;
        assert_eq!(
            cpu.wall_time(1000, Visits { entries: 4000, of: 16384, ..Visits::default() }),
            Time::from_us(21)
        );
    }

    #[test]
    fn packets_wait_for_each_other() {
        let mut cpu = cpu(0);
        cpu.take(&parcel(1));
        cpu.take(&parcel(2));
        cpu.next(Time::ZERO).expect("it is idle");
        // 1 us + 200 x 5 ns.
        cpu.serve(Time::ZERO, visits(200));
        assert!(cpu.next(Time::ZERO).is_none());
        assert_eq!(cpu.poll_timeout(), Time::from_us(2));
        assert!(cpu.finish(Time::from_ns(1999)).is_none());
        assert_eq!(cpu.finish(Time::from_us(2)).map(|p| p.packet), Some(1));
        assert_eq!(cpu.next(Time::from_us(2)).map(|p| p.packet), Some(2));
    }

    #[test]
    fn a_packet_soon_after_an_interrupt_waits_for_the_next_one() {
        let mut cpu = cpu(0);
        cpu.prices.interrupt_gap = Time::from_us(50);
        cpu.take(&parcel(1));
        cpu.next(Time::from_us(10)).expect("the card has been quiet");
        cpu.serve(Time::from_us(10), visits(0));
        assert!(cpu.finish(Time::from_us(11)).is_some());
        assert!(cpu.next(Time::from_us(11)).is_none());
        // Two more in the gap: the next interrupt hands over both.
        cpu.take(&parcel(2));
        assert!(cpu.next(Time::from_us(13)).is_none());
        cpu.take(&parcel(3));
        assert_eq!(cpu.poll_timeout(), Time::from_us(60));
        cpu.next(Time::from_us(60)).expect("the gap is over");
        cpu.serve(Time::from_us(60), visits(0));
        assert_eq!(cpu.finish(Time::from_us(61)).map(|p| p.packet), Some(2));
        cpu.next(Time::from_us(61)).expect("it came with the one before");
        // What arrives while packets are taken in needs no interrupt.
        cpu.serve(Time::from_us(61), visits(0));
        cpu.take(&parcel(4));
        assert_eq!(cpu.finish(Time::from_us(62)).map(|p| p.packet), Some(3));
        assert_eq!(cpu.next(Time::from_us(62)).map(|p| p.packet), Some(4));
    }

    #[test]
    fn a_senders_search_is_counted_by_itself() {
        let mut cpu = cpu(500);
        for outstanding in [true, false] {
            cpu.take(&parcel(0));
            cpu.next(Time::ZERO).expect("it is idle");
            // 10 ms of the processor, 20 ms of the clock and the rest.
            cpu.serve(Time::ZERO, Visits { outstanding, ..visits(2_000_000) });
            let done = cpu.poll_timeout();
            assert!(cpu.finish(done).is_some());
        }
        let sample = cpu.poll_sample(Time::from_ms(100), 0).expect("a window is over");
        assert_eq!((sample.sends, sample.search_permille), (true, 100));
    }

    #[test]
    fn load_is_the_base_and_what_packets_cost() {
        let mut cpu = cpu(300);
        // 1 us + 4999 us of work every 10 ms: half the processor, next to 30 % of it.
        for round in 0..10 {
            let now = Time::from_ms(10 * round);
            cpu.take(&parcel(0));
            cpu.next(now).expect("the last one is done");
            cpu.serve(now, visits(999_800));
            let done = cpu.poll_timeout();
            assert_eq!((done - now).ns(), 7_142_857, "5 ms of work take 5 / 0.7 ms");
            assert!(cpu.finish(done).is_some());
        }
        let sample = cpu.poll_sample(Time::from_ms(100), 3).expect("a window is over");
        assert_eq!((sample.node, sample.now, sample.over), (3, Time::from_ms(100), WINDOW));
        assert!((799..=800).contains(&sample.load_permille), "{sample:?}");
        let idle = cpu.poll_sample(Time::from_ms(200), 3).expect("another one is");
        assert_eq!(idle.load_permille, 300);
    }

    #[test]
    fn a_window_in_which_it_never_rests_is_full() {
        let mut cpu = cpu(300);
        cpu.take(&parcel(0));
        cpu.next(Time::ZERO).expect("it is idle");
        // 250 ms of work at 5 ns an entry.
        cpu.serve(Time::ZERO, visits(50_000_000));
        let loads: Vec<u32> = [100, 200, 300]
            .into_iter()
            .map(|ms| cpu.poll_sample(Time::from_ms(ms), 0).expect("a window is over").load_permille)
            .collect();
        assert_eq!(loads, [1000; 3]);
    }

    #[test]
    fn samples_end_at_multiples_of_their_length() {
        let mut cpu = Cpu::<u32>::new(cpu(0).prices);
        cpu.start(Time::from_ms(175), true);
        assert_eq!(cpu.window_end(), Time::from_ms(200));
        cpu.take(&parcel(0));
        cpu.next(Time::from_ms(175)).expect("it is idle");
        // 1 us + 2 499 800 x 5 ns: half of what is left of the window.
        cpu.serve(Time::from_ms(175), visits(2_499_800));
        assert!(cpu.finish(Time::from_us(187_500)).is_some());
        let first = cpu.poll_sample(Time::from_ms(200), 0).expect("a window is over");
        assert_eq!(
            (first.now, first.over, first.load_permille),
            (Time::from_ms(200), Time::from_ms(25), 500)
        );
        let second = cpu.poll_sample(Time::from_ms(300), 0).expect("another one is");
        assert_eq!((second.over, second.load_permille), (WINDOW, 0));
    }

    #[test]
    fn a_timer_delays_what_is_being_served() {
        let mut cpu = cpu(0);
        cpu.take(&parcel(7));
        cpu.next(Time::ZERO).expect("it is idle");
        cpu.serve(Time::ZERO, visits(0));
        cpu.interrupt(Time::from_ns(500), visits(100));
        assert!(cpu.finish(Time::from_us(1)).is_none());
        assert_eq!(cpu.finish(Time::from_ns(1500)).map(|p| p.packet), Some(7));
        cpu.interrupt(Time::from_us(3), visits(100));
        assert_eq!(cpu.poll_timeout(), Time::from_ns(3500), "an idle processor is busy with it alone");
        assert!(cpu.finish(Time::from_ns(3500)).is_none());
        assert_eq!(cpu.poll_timeout(), Time::NEVER);
    }
}
