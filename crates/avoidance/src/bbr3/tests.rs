//! A path of 1 MB/s and 100 ms, 100 packets of 1000 bytes, ACK by ACK. Every ACK ends a round.

use super::*;

const MSS: u64 = 1000;
const RATE: u64 = 1_000_000;
const BDP: u64 = 100_000;

struct Feed {
    bbr: Bbr3,
    now: Time,
    delivered: u64,
    cwnd: u64,
    /// Of the next ACKs.
    every: Time,
    rate: u64,
    rtt: Time,
    in_flight: u64,
    sent_into: u64,
    limited: bool,
    startup: Startup,
}

impl Feed {
    /// In Startup, with the path known and a window of 150 packets.
    fn new() -> Self {
        let mut feed = Self {
            bbr: Bbr3::new(3),
            now: Time::from_ms(100),
            delivered: 0,
            cwnd: 150_000,
            every: Time::from_ms(10),
            rate: RATE,
            rtt: Time::from_ms(100),
            in_flight: BDP,
            sent_into: BDP,
            limited: false,
            startup: Startup::Rising,
        };
        feed.ack(&[]);
        feed.rtt = Time::from_ms(101);
        feed
    }

    /// Cruising, all drained.
    fn cruising() -> Self {
        let mut feed = Self::new();
        feed.startup = Startup::Left { lossy: false };
        feed.ack(&[]);
        feed.ack(&[]);
        assert_eq!(feed.bbr.state, State::Cruise);
        feed
    }

    fn up() -> Self {
        let mut feed = Self::cruising();
        feed.until(State::Up);
        feed
    }

    /// What `every` carries is acknowledged; its own round trip's worth.
    fn ack(&mut self, lost: &[Lost]) -> State {
        let acked = volume(RATE, self.every);
        self.now += self.every;
        self.delivered += acked;
        let ack = Delivered {
            now: self.now,
            mss: MSS,
            acked,
            delivered: self.delivered,
            prior_delivered: self.delivered - acked,
            rate: self.rate,
            paused: false,
            rtt: Some(self.rtt),
            before: self.in_flight + acked,
            in_flight: self.in_flight,
            lost: 0,
            lost_since: lost.iter().map(|lost| lost.bytes).sum(),
            sent_into: self.sent_into,
            limited: self.limited,
            startup: self.startup,
            departure: self.now,
            open: true,
        };
        self.bbr.observe(&ack, self.cwnd, lost);
        if self.startup != Startup::Rising {
            self.cwnd = self.bbr.control(&ack, self.cwnd);
        }
        self.bbr.state
    }

    /// ACKs until then.
    fn until(&mut self, state: State) -> u64 {
        (1..1000).find(|_| self.ack(&[]) == state).expect("it comes")
    }
}

/// 3000 bytes of a flight of 120 packets are lost, and 2 % are 2400.
const MUCH: Lost = Lost { bytes: 1_000, sent_into: 120_000, since: 3_000, paused: false };

#[test]
fn down_paces_at_nine_tenths_until_the_queue_is_gone_and_cruise_at_the_rate() {
    let mut feed = Feed::new();
    feed.startup = Startup::Left { lossy: false };
    feed.in_flight = 2 * BDP;
    assert_eq!(feed.ack(&[]), State::Down);
    // A hundredth below each; the window grows by the ten packets.
    assert_eq!((feed.bbr.pacing(), feed.cwnd), (891_000, 160_000));
    feed.in_flight = BDP + 1;
    assert_eq!(feed.ack(&[]), State::Down);
    feed.in_flight = BDP;
    assert_eq!(feed.ack(&[]), State::Cruise);
    assert_eq!(feed.bbr.pacing(), 990_000);
    // Twice the BDP, and the ten packets that one ACK brings.
    (0..10).for_each(|_| _ = feed.ack(&[]));
    assert_eq!(feed.cwnd, 210_000);
}

#[test]
fn it_probes_as_often_as_reno_would_lose_or_after_two_to_three_seconds() {
    let mut feed = Feed::cruising();
    let since = feed.now;
    // Rounds of 10 ms: 63 of them, or 62.
    let rounds = feed.until(State::Refill);
    assert!((feed.now - since).us() <= 640_000 && (60..=63).contains(&rounds), "{rounds}");
    // Rounds of 100 ms: the clock.
    let mut feed = Feed::cruising();
    feed.every = Time::from_ms(100);
    let since = feed.now;
    feed.until(State::Refill);
    let waited = (feed.now - since).us();
    assert!((1_900_000..3_100_000).contains(&waited), "{waited}");
}

#[test]
fn refill_takes_a_round_and_up_ends_when_three_rounds_add_no_quarter() {
    let mut feed = Feed::cruising();
    feed.until(State::Refill);
    assert_eq!(feed.bbr.pacing(), 990_000);
    assert_eq!(feed.ack(&[]), State::Up);
    assert_eq!(feed.bbr.pacing(), 1_237_500);
    (0..3).for_each(|_| _ = feed.ack(&[]));
    assert_eq!(feed.bbr.state, State::Down);
    // As long as the rate grows by a quarter, it goes on.
    let mut feed = Feed::up();
    for _ in 0..8 {
        feed.rate = feed.rate * 5 / 4;
        assert_eq!(feed.ack(&[]), State::Up);
    }
    assert_eq!(feed.bbr.pacing(), Ratio::of(99, 100).times(feed.rate * 5 / 4));
    // Two and a quarter BDP of the new rate, what one ACK brought, two packets: far away yet.
    assert!(feed.cwnd < Ratio::of(225, 100).times(volume(feed.rate, Time::from_ms(100))));
}

#[test]
fn the_rate_is_the_largest_of_this_cycle_and_the_last() {
    let mut feed = Feed::up();
    feed.rate = 1_200_000;
    feed.ack(&[]);
    feed.rate = RATE;
    feed.until(State::Down);
    let mut seen = vec![];
    for _ in 0..2 {
        feed.until(State::Up);
        seen.push(feed.bbr.max_rate());
        feed.until(State::Down);
    }
    // Each *down* closes a cycle with the round after it.
    assert_eq!(seen, [1_200_000, RATE]);
}

#[test]
fn losses_of_a_probe_bound_the_flight_and_the_next_probe_is_careful() {
    let mut feed = Feed::up();
    feed.in_flight = 120_000;
    assert_eq!(feed.ack(&[MUCH]), State::Down);
    feed.in_flight = BDP;
    // 119 packets before it, 2 % of them less 2000 lost before, over 0.98.
    assert_eq!(feed.bbr.bounds.long, 119_387);
    // Cruise leaves 15 % of that to others.
    feed.until(State::Cruise);
    assert_eq!(feed.cwnd, 101_479);
    // The next probe ends as soon as it fills that, and a round later the one after it begins.
    feed.until(State::Up);
    feed.in_flight = 119_387;
    assert_eq!(feed.ack(&[]), State::Down);
    assert_eq!(feed.ack(&[]), State::Refill);
    // That one stays there, and goes beyond: one packet, then two.
    assert_eq!(feed.ack(&[]), State::Up);
    feed.limited = true;
    feed.every = Time::from_ms(100);
    let mut bounds = vec![];
    for _ in 0..3 {
        feed.cwnd = feed.bbr.bounds.long;
        assert_eq!(feed.ack(&[]), State::Up);
        bounds.push(feed.bbr.bounds.long - 119_387);
    }
    assert!(bounds.is_sorted_by(|a, b| a < b) && bounds[2] >= 3 * bounds[0], "{bounds:?}");
}

#[test]
fn losses_that_no_probe_caused_do_not_bound_the_flight_for_long() {
    let mut feed = Feed::cruising();
    feed.rate = 500_000;
    // The round before delivered the full rate: no less than that, and seven tenths of the window.
    assert_eq!(feed.ack(&[MUCH]), State::Cruise);
    assert_eq!((feed.bbr.bounds.rate, feed.bbr.bounds.short), (RATE, 119_000));
    // This one brought half the rate: seven tenths of both.
    feed.ack(&[MUCH]);
    assert_eq!((feed.bbr.bounds.rate, feed.bbr.bounds.short), (700_000, 83_300));
    assert_eq!((feed.bbr.pacing(), feed.cwnd), (693_000, 83_300));
    assert_eq!(feed.bbr.bounds.long, u64::MAX);
    // The next probe begins without.
    feed.rate = RATE;
    feed.until(State::Refill);
    assert_eq!((feed.bbr.bounds.rate, feed.bbr.bounds.short), (u64::MAX, u64::MAX));
    assert_eq!(feed.bbr.pacing(), 990_000);
}

#[test]
fn five_seconds_without_a_smaller_round_trip_halve_the_flight_for_two_tenths_of_a_second() {
    let mut feed = Feed::cruising();
    let since = feed.now;
    feed.until(State::ProbeRtt);
    assert!((4_900_000..5_100_000).contains(&(feed.now - since).us()));
    assert_eq!(feed.cwnd, BDP / 2);
    let before = feed.bbr.prior_cwnd;
    feed.in_flight = BDP / 2 + 1;
    (0..100).for_each(|_| assert_eq!(feed.ack(&[]), State::ProbeRtt));
    feed.in_flight = BDP / 2;
    let since = feed.now;
    assert_eq!(feed.until(State::Cruise), 22, "one ACK begins the 200 ms, one ends them");
    assert_eq!((feed.now - since).us(), 220_000);
    assert!(feed.cwnd >= before.min(200_000), "{} {before}", feed.cwnd);
}

#[test]
fn a_probe_that_losses_ended_for_nothing_is_made_again() {
    let mut feed = Feed::up();
    feed.ack(&[MUCH]);
    feed.bbr.on_undone();
    assert_eq!((feed.bbr.state, feed.bbr.bounds.long), (State::Refill, u64::MAX));
    // Not if it ended by itself.
    let mut feed = Feed::up();
    feed.until(State::Down);
    feed.bbr.on_undone();
    assert_eq!(feed.bbr.state, State::Down);
}

#[test]
fn a_start_up_that_lost_too_much_bounds_the_flight_from_the_beginning() {
    let mut feed = Feed::new();
    feed.startup = Startup::Left { lossy: true };
    feed.ack(&[]);
    assert_eq!(feed.bbr.bounds.long, BDP);
    feed.startup = Startup::Rising;
    assert_eq!(feed.ack(&[]), State::Startup, "the core takes it back");
}

#[test]
fn after_a_pause_it_paces_at_the_rate_and_does_not_look_for_the_round_trip() {
    let mut feed = Feed::up();
    feed.bbr.on_idle(feed.now);
    assert_eq!(feed.bbr.pacing(), 990_000);
    let mut feed = Feed::cruising();
    feed.now += Time::from_secs(7);
    feed.bbr.on_idle(feed.now);
    assert_ne!(feed.ack(&[]), State::ProbeRtt);
    assert_eq!(feed.bbr.recent_rtt_at, feed.now, "the pause has drained the path");
}
