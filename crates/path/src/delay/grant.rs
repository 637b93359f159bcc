//! Grants of a scheduled link: when a packet may join the queue.

use std::collections::VecDeque;

use rampcc::Time;

use crate::config::{Demand, Jitter};
use crate::random::{self, Numbered, Purpose};

/// The grants in `config`: they hold packets before service, not after.
pub(crate) fn grants(config: &Jitter, seed: u64) -> Vec<Grant> {
    fn collect(config: &Jitter, seed: u64, parts: &mut u32, found: &mut Vec<Grant>) {
        if let Jitter::Sum(sum) = config {
            return sum.iter().for_each(|jitter| collect(jitter, seed, parts, found));
        }
        if let Jitter::Grant { period, jitter, demand } = *config {
            found.push(Grant::new([period, jitter], demand, Numbered::new(seed, Purpose::Jitter(*parts))));
        }
        *parts += 1;
    }
    let mut found = Vec::new();
    collect(config, seed, &mut 0, &mut found);
    found
}

/// Grants of a scheduled link.
#[derive(Clone, Debug)]
pub struct Grant {
    period: u64,
    /// At most the period: a grant does not pass the next one.
    jitter: u64,
    /// Of the first grant, in `[0, period)`.
    phase: u64,
    draws: Numbered,
    /// The latest answer: it holds for every packet after `since`.
    since: Time,
    next: Time,
    number: u64,
    /// What bounds a grant; without it, it carries all that waits.
    assigned: Option<Assigned>,
}

/// Volume that is assigned on demand.
#[derive(Clone, Debug)]
struct Assigned {
    demand: Demand,
    /// The grant that the last packet went with, and how much of it is taken.
    current: u64,
    taken: u64,
    /// What was asked for, by the grant that answers it; in order.
    answers: VecDeque<(u64, u64)>,
}

impl Grant {
    /// The grants of `config`, if it is nothing else and they carry all that waits.
    pub fn unbounded(config: &Jitter, seed: u64) -> Option<Self> {
        let plain = matches!(config, Jitter::Grant { demand: None, .. });
        plain.then(|| grants(config, seed).pop()).flatten()
    }

    fn new([period, jitter]: [Time; 2], demand: Option<Demand>, draws: Numbered) -> Self {
        let period = period.ns();
        let phase = random::up_to(draws.pair(0).0, period.saturating_sub(1));
        let assigned =
            demand.map(|demand| Assigned { demand, current: 0, taken: 0, answers: VecDeque::new() });
        let jitter = jitter.ns().min(period);
        Self { period, jitter, phase, draws, since: Time::ZERO, next: Time::ZERO, number: 0, assigned }
    }

    /// The grant that a packet of `bytes` that comes at `now` leaves with.
    #[inline]
    pub fn next(&mut self, now: Time, bytes: u32) -> Time {
        if self.period == 0 {
            return now;
        }
        if !(self.since < now && now <= self.next) {
            self.find(now);
        }
        let Some(assigned) = &mut self.assigned else { return self.next.max(now) };
        let periods = assigned.demand.delay.ns().div_ceil(self.period);
        let number = assigned.assign([self.number, self.number.saturating_add(periods)], u64::from(bytes));
        if number == self.number { self.next.max(now) } else { self.instant(number) }
    }

    /// The first grant at `now` or later.
    #[cold]
    fn find(&mut self, now: Time) {
        // Grants ascend, since none is moved by more than the period.
        let mut number = now.ns().saturating_sub(self.phase + self.jitter) / self.period;
        self.next = self.instant(number);
        // It holds for others that come at this instant, too.
        self.since = Time::from_ns(now.ns().saturating_sub(1));
        while self.next < now {
            number += 1;
            self.since = self.next;
            self.next = self.instant(number);
        }
        self.number = number;
    }

    fn instant(&self, number: u64) -> Time {
        let drawn = || random::up_to(self.draws.pair(number.wrapping_add(1)).0, self.jitter);
        let moved = if self.jitter == 0 { 0 } else { drawn() };
        Time::from_ns(number.saturating_mul(self.period).saturating_add(self.phase).saturating_add(moved))
    }
}

impl Assigned {
    /// The grant, `first` or later, that has room for `bytes`, which are asked for now and answered with grant `answer`.
    fn assign(&mut self, [first, answer]: [u64; 2], bytes: u64) -> u64 {
        match self.answers.back_mut() {
            Some((number, volume)) if *number >= answer => *volume = volume.saturating_add(bytes),
            _ => self.answers.push_back((answer, bytes)),
        }
        if self.current < first {
            self.go_to(first);
        }
        while self.taken + bytes > self.room() {
            // No one else asks for what an earlier grant answered: the next answer is the next chance beyond what is assured.
            let next = self.answers.iter().map(|(number, _)| *number).find(|number| *number > self.current);
            let assured = self.demand.assured_bytes >= bytes;
            match next {
                Some(next) if !assured => self.go_to(next),
                _ => self.go_to(self.current + 1),
            }
        }
        self.taken += bytes;
        self.current
    }

    fn go_to(&mut self, number: u64) {
        self.current = number;
        self.taken = 0;
        while self.answers.front().is_some_and(|(answered, _)| *answered < number) {
            self.answers.pop_front();
        }
    }

    /// Of the current grant.
    fn room(&self) -> u64 {
        let answered = self.answers.front().filter(|(number, _)| *number == self.current);
        self.demand
            .assured_bytes
            .saturating_add(answered.map_or(0, |(_, volume)| volume.saturating_mul(self.demand.free.into())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_come_every_period_within_their_jitter() {
        let (period, jitter) = (Time::from_ms(40), Time::from_ms(15));
        let mut source = grants(&Jitter::Grant { period, jitter, demand: None }, 42).remove(0);
        let mut grants = Vec::new();
        for i in 0..40_000u64 {
            let now = Time::from_us(i * 100);
            let grant = source.next(now, 52);
            assert!(grant >= now && grant - now <= period + jitter);
            if grants.last() != Some(&grant) {
                assert!(grants.last().is_none_or(|&last| last < now && last < grant));
                grants.push(grant);
            }
        }
        assert!((99..=101).contains(&grants.len()), "{}", grants.len());
        let phase = source.phase;
        for (number, grant) in grants.iter().enumerate() {
            let moved = *grant - Time::from_ns(phase) - Time::from_ms(40 * number as u64);
            assert!(moved <= jitter, "grant {number} is moved by {moved}");
        }
    }

    /// Grants every 40 ms that carry one ACK, and what was asked for half a second before.
    fn on_demand(assured_bytes: u64) -> Grant {
        let demand = Some(Demand { assured_bytes, delay: Time::from_ms(500), free: 1 });
        let jitter = Jitter::Grant { period: Time::from_ms(40), jitter: Time::ZERO, demand };
        grants(&jitter, 42).remove(0)
    }

    /// The numbers of the grants that packets of 52 bytes go with.
    fn numbers(source: &mut Grant, arrivals: impl Iterator<Item = Time>) -> Vec<u64> {
        arrivals.map(|at| (source.next(at, 52).ns() - source.phase) / 40_000_000).collect()
    }

    #[test]
    fn a_first_flight_leaves_one_by_one_and_the_next_with_what_it_asked_for() {
        let mut source = on_demand(60);
        let start = Time::from_ns(source.phase) + Time::from_ms(1);
        assert_eq!(numbers(&mut source, (0..10).map(|_| start)), (1..11).collect::<Vec<_>>());
        // Asked for with grant 1, 500 ms or 13 grants before grant 14.
        let again = Time::from_ns(source.phase) + Time::from_ms(13 * 40 + 1);
        assert_eq!(numbers(&mut source, (0..12).map(|_| again)), [&[14; 11][..], &[15]].concat());
    }

    #[test]
    fn without_an_assured_volume_all_waits_for_the_answer() {
        let mut source = on_demand(0);
        let start = Time::from_ns(source.phase) + Time::from_ms(1);
        assert_eq!(numbers(&mut source, (0..3).map(|_| start)), [14; 3]);
        assert_eq!(numbers(&mut source, (0..2).map(|_| start + Time::from_ms(40))), [15; 2]);
    }

    #[test]
    fn nothing_waits_longer_than_for_its_answer() {
        for assured in [0, 51, 60, 500] {
            let (mut source, mut now, mut last) = (on_demand(assured), Time::ZERO, Time::ZERO);
            for i in 0..20_000u64 {
                // Sparse, dense and pauses.
                let pause = if i % 5_000 == 0 { 3_000_000 } else { i % 7 * i % 900 };
                now += Time::from_us(pause);
                let grant = source.next(now, 40 + (i % 40) as u32);
                assert!(grant >= now && grant >= last, "in order: {last} {grant}");
                assert!(grant - now <= Time::from_ms(500 + 2 * 40), "{i}: {now} {grant}");
                last = grant;
            }
        }
    }

    #[test]
    fn with_free_capacity_the_wait_ends_once_demand_is_steady() {
        let longest = |free| {
            let demand = Some(Demand { assured_bytes: 60, delay: Time::from_ms(500), free });
            let jitter = Jitter::Grant { period: Time::from_ms(40), jitter: Time::ZERO, demand };
            let (mut source, mut longest) = (grants(&jitter, 42).remove(0), [Time::ZERO; 2]);
            for i in 0..50_000u64 {
                // Demand doubles after five seconds.
                let now = Time::from_us(200 * i.min(25_000) + 100 * i.saturating_sub(25_000));
                let late = usize::from(now > Time::from_ms(5_500));
                longest[late] = longest[late].max(source.next(now, 52) - now);
            }
            longest
        };
        let [first, after] = longest(2);
        assert!(first > Time::from_ms(400), "the first ones wait for their answer: {first}");
        assert!(after <= Time::from_ms(80), "what doubles finds room: {after}");
        assert!(longest(1)[1] > Time::from_ms(200), "without it, what comes on top waits");
    }

    #[test]
    fn extreme_settings_are_harmless() {
        let hour = Time::from_secs(3600);
        let demand = Demand { assured_bytes: 0, delay: hour, free: 1 };
        let free = Demand { free: u32::MAX, ..demand };
        for (period, demand) in [
            (Time::ZERO, None),
            (Time::from_ns(1), None),
            (Time::ZERO, Some(demand)),
            (hour, Some(demand)),
            (Time::from_ns(1), Some(free)),
            (hour, Some(free)),
        ] {
            let mut grant = grants(&Jitter::Grant { period, jitter: hour, demand }, 42).remove(0);
            for now in [Time::ZERO, Time::from_ms(1), hour, Time::from_secs(1 << 33)] {
                assert!((now..=now + hour + hour + hour).contains(&grant.next(now, 52)), "{period}");
            }
        }
    }
}
