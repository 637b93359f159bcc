//! The authors' patch of `tcp_cubic.c` (`suss_measurements`, `suss_speedup` and `suss_cap`), in packets and microseconds, with
//! Linux's HyStart around them; the red packets' window at once instead of with each that leaves.

use rampcc::Phase;

use super::{Oracle, Says, Seen, compare};

#[derive(Clone, Copy, Default, PartialEq)]
enum State {
    #[default]
    Clocked,
    Pacing,
    Off,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Colour {
    #[default]
    Red,
    Blue,
    LastBlue,
}

#[derive(Default)]
struct Suss {
    cwnd: f64,
    ssthresh: f64,
    limit: f64,
    initial_window: f64,
    state: State,
    colour: Colour,
    quadruples: bool,
    round: i32,
    head: f64,
    tail: f64,
    round_start: f64,
    last_ack: f64,
    blue_count: f64,
    /// The whole train of ACKs, as extrapolated in the last round that had one.
    last_train: Option<f64>,
    jumps: i32,
    cap: Option<f64>,
    delay_min: f64,
    round_of_delay_min: i32,
    round_rtt: f64,
    samples: u32,
    undecided: bool,
}

impl Suss {
    fn less(&mut self, a: f64, b: f64) -> bool {
        // The core counts whole microseconds and thousandths of them.
        self.undecided |= (a - b).abs() <= 1.0 + 1e-6 * b.abs();
        a < b
    }

    /// Conditions 1 and 2, one round ahead.
    fn speedup(&mut self, train: f64, whole: f64) -> bool {
        if self.round == 2 {
            let passes = self.delay_min > 10_000.0 && self.less(train, (self.delay_min / 4.0).floor());
            if !passes {
                self.state = State::Off;
            }
            return passes;
        }
        let last = self.last_train.expect("a train in an earlier round");
        let mu = whole / (2.0 * last);
        if !(self.less(2.0 * mu * whole, self.delay_min) && self.round < 5) {
            return false;
        }
        let k = f64::from(self.round - self.round_of_delay_min);
        self.less(self.round_rtt * (k + 1.0), self.delay_min * (k + 1.0) + self.delay_min * k / 8.0)
    }

    /// Whether it quadruples with this ACK.
    fn tail_ack(&mut self, seen: &Seen, now: f64) -> bool {
        let rounds = |exponent: i32| f64::from(1 << exponent);
        let blue_packets = self.initial_window * rounds(self.round - 1);
        let blue_acks = blue_packets / 2.0;
        self.colour = Colour::LastBlue;
        self.tail = self.head + blue_packets;
        let elapsed = now - self.round_start;
        if !self.quadruples || self.blue_count == 0.0 || elapsed == 0.0 {
            return false;
        }
        let train = elapsed * blue_acks / self.blue_count;
        let whole = train * rounds(self.round - 2);
        let mut jump = false;
        if self.round == 2 || self.last_train.is_some() {
            self.quadruples = self.speedup(train, whole);
            jump = self.quadruples;
        }
        self.last_train = Some(whole);
        jump = jump && self.less(train, self.delay_min / rounds(self.round - 1)) && seen.window_full;
        if jump {
            let red = blue_packets * rounds(self.round - 1) - blue_packets;
            let red_acks = blue_acks * rounds(self.round - 2) - blue_acks;
            self.state = State::Pacing;
            self.jumps += 1;
            self.cwnd = (self.cwnd + seen.acked + red - red_acks).min(self.ssthresh);
        }
        jump
    }

    fn hystart(&mut self, now: f64, rtt: f64) -> bool {
        if self.cwnd < 16.0 {
            return false;
        }
        let mut found = false;
        let in_train = now - self.last_ack <= 2000.0;
        if self.state == State::Off {
            if in_train {
                self.last_ack = now;
                found = now - self.round_start > (self.delay_min / 2.0).floor();
            }
        } else if let Some(cap) = self.cap {
            found = self.cwnd > cap;
        } else if self.colour != Colour::Red && in_train {
            self.last_ack = now;
            let ahead = f64::from(1 << self.jumps);
            if (now - self.round_start) * ahead > (self.delay_min / 2.0).floor() {
                self.cap = Some(self.cwnd + self.blue_count * (ahead - 1.0));
            }
        }
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < 8 {
            self.samples += 1;
        } else {
            let eta = (self.delay_min / 8.0).floor().clamp(4000.0, 16_000.0);
            found |= self.round_rtt > self.delay_min + eta;
        }
        found
    }
}

impl Oracle for Suss {
    fn new(initial_window: f64, ssthresh: f64, abc_limit: f64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh,
            limit: abc_limit,
            initial_window,
            quadruples: true,
            round: 1,
            tail: initial_window,
            delay_min: f64::INFINITY,
            round_rtt: f64::INFINITY,
            ..Self::default()
        }
    }

    fn on_ack(&mut self, seen: &Seen) -> Says {
        let now = (seen.now_ns / 1000.0).floor();
        if self.cwnd >= self.ssthresh {
            return Says { cwnd: self.cwnd, phase: Phase::Done, undecided: false };
        }
        if let Some(rtt) = seen.rtt_us
            && rtt < self.delay_min
        {
            self.delay_min = rtt;
            self.round_of_delay_min = self.round;
        }
        let new_round = seen.una > self.head;
        if new_round {
            self.head = seen.next;
            (self.round_start, self.last_ack) = (now, now);
            (self.round_rtt, self.samples) = (f64::INFINITY, 0);
        }
        // The host of these paths rates nothing, so no batch holds back an ACK.
        if let Some(rtt) = seen.rtt_us
            && self.hystart(now, rtt)
        {
            if self.state != State::Off && self.jumps > 1 {
                self.cwnd = (seen.next - seen.una).max(1.0);
            }
            return Says { cwnd: self.cwnd, phase: Phase::Done, undecided: self.undecided };
        }
        let mut grows = true;
        if self.state != State::Off && self.cap.is_none() {
            if self.colour == Colour::LastBlue {
                self.colour = Colour::Red;
            }
            if new_round {
                self.colour = Colour::Blue;
                self.blue_count = 0.0;
                // Nothing depends on more, and 2^24 first windows are more than any path holds.
                self.round = (self.round + 1).min(24);
                self.state = State::Clocked;
            }
            if seen.una >= self.tail {
                self.tail_ack(seen, now);
            }
            if self.colour != Colour::Red {
                self.blue_count += seen.acked;
            }
            grows = self.state != State::Pacing;
        }
        if grows && seen.window_full {
            self.cwnd = (self.cwnd + seen.acked.min(self.limit)).min(self.ssthresh);
        }
        let phase = if self.cwnd >= self.ssthresh { Phase::Done } else { Phase::Startup };
        Says { cwnd: self.cwnd, phase, undecided: self.undecided }
    }
}

#[test]
fn suss_follows_its_authors_patch() {
    let [growing, _, over] = compare::<Suss>("suss");
    assert!(growing > 5_000 && over > 100, "{growing} ACKs in slow start, {over} exits");
}
