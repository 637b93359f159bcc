//! RFC 6675 written afresh, as slowly and literally as possible, and compared with the sender segment by segment.

mod support;

use std::collections::BTreeSet;

use proptest::prelude::*;
use rampcc_tcp::{Profile, Recovery};
use support::{Dice, MSS, Script, config, ms};

/// The sender of RFC 6675 §3-5, in segments of one SMSS.
#[derive(Debug, Default)]
struct Oracle {
    high_ack: u64,
    high_data: u64,
    sacked: BTreeSet<u64>,
    retransmitted: BTreeSet<u64>,
    high_rxt: Option<u64>,
    rescue_rxt: Option<u64>,
    recovery_point: u64,
    in_recovery: bool,
    dup_acks: u32,
    cwnd: u64,
    /// New segments that the application still has.
    unsent: u64,
    /// What the third duplicate ACK gives up, whether `IsLost` or not.
    given_up: Option<u64>,
}

impl Oracle {
    fn outstanding(&self) -> std::ops::Range<u64> {
        self.high_ack..self.high_data
    }

    /// §4 `IsLost`: three discontiguous SACKed sequences above, or more than 2 x SMSS bytes SACKed above.
    fn is_lost(&self, number: u64) -> bool {
        let above: Vec<u64> = self.sacked.iter().copied().filter(|&s| s > number).collect();
        let sequences = above.iter().enumerate().filter(|&(i, &s)| i == 0 || above[i - 1] + 1 != s).count();
        sequences >= 3 || above.len() as u64 * MSS > 2 * MSS || self.given_up == Some(number)
    }

    /// §4 `SetPipe`.
    fn pipe(&self) -> u64 {
        self.outstanding()
            .filter(|s| !self.sacked.contains(s))
            .map(|s| u64::from(!self.is_lost(s)) + u64::from(self.retransmitted.contains(&s)))
            .sum()
    }

    /// §4 `NextSeg`.
    fn next_seg(&mut self) -> Option<u64> {
        let above_rxt = |s: &u64| self.high_rxt.is_none_or(|h| *s > h);
        let highest = self.sacked.last().copied();
        let hole = |s: &u64| !self.sacked.contains(s) && above_rxt(s);
        let below = |s: &u64| highest.is_some_and(|h| *s < h);
        if let Some(s) = self.outstanding().find(|s| hole(s) && below(s) && self.is_lost(*s)) {
            return Some(s);
        }
        if self.unsent > 0 {
            return Some(self.high_data);
        }
        if let Some(s) = self.outstanding().find(|s| hole(s) && below(s)) {
            return Some(s);
        }
        if self.rescue_rxt.is_none() {
            let last = self.outstanding().rev().find(|s| !self.sacked.contains(s))?;
            if !self.retransmitted.contains(&last) {
                self.rescue_rxt = Some(self.recovery_point);
                return Some(last);
            }
        }
        None
    }

    fn send(&mut self, number: u64, rescue: bool) {
        if number == self.high_data {
            self.high_data += 1;
            self.unsent -= 1;
        } else {
            self.retransmitted.insert(number);
            if !rescue {
                self.high_rxt = self.high_rxt.max(Some(number));
            }
        }
    }

    fn send_loop(&mut self, sent: &mut Vec<u64>) {
        while self.cwnd > self.pipe() {
            let rescued = self.rescue_rxt;
            let Some(number) = self.next_seg() else { break };
            self.send(number, rescued != self.rescue_rxt);
            sent.push(number);
        }
    }

    /// §5. What leaves in answer to an ACK.
    fn on_ack(&mut self, ack: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let mut sent = vec![];
        let known = self.sacked.len();
        self.high_ack = self.high_ack.max(ack);
        self.sacked.extend(blocks.iter().flat_map(|&(a, b)| a..b));
        let fresh = self.sacked.len() > known;
        self.sacked = self.sacked.split_off(&self.high_ack);
        if self.in_recovery {
            if self.high_ack >= self.recovery_point {
                self.in_recovery = false;
                return sent;
            }
            self.send_loop(&mut sent);
            return sent;
        }
        self.dup_acks += u32::from(fresh);
        if self.dup_acks >= 3 || self.is_lost(self.high_ack) {
            self.in_recovery = true;
            self.recovery_point = self.high_data;
            self.cwnd = (self.high_data - self.high_ack).min(self.cwnd) / 2;
            self.given_up = Some(self.high_ack);
            let head = self.high_ack;
            self.send(head, false);
            sent.push(head);
            self.send_loop(&mut sent);
        }
        sent
    }
}

/// A receiver that gets whatever the dice deliver.
#[derive(Default)]
struct Arrivals {
    next: u64,
    held: BTreeSet<u64>,
    latest: Vec<u64>,
}

impl Arrivals {
    fn deliver(&mut self, number: u64) -> (u64, Vec<(u64, u64)>) {
        if number >= self.next {
            self.held.insert(number);
        }
        while self.held.remove(&self.next) {
            self.next += 1;
        }
        self.latest.retain(|n| *n != number);
        self.latest.insert(0, number);
        let mut blocks: Vec<(u64, u64)> = vec![];
        for &n in &self.latest {
            if self.held.contains(&n) && !blocks.iter().any(|&(a, b)| a <= n && n < b) && blocks.len() < 3 {
                let start = (0..=n).rev().take_while(|s| self.held.contains(s)).last().unwrap_or(n);
                let end = (n..n + 10_000).find(|s| !self.held.contains(s)).unwrap_or(n);
                blocks.push((start, end));
            }
        }
        (self.next, blocks)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_sender_sends_what_the_rfc_says(
        window in 8u64..60,
        seed in any::<u64>(),
        loss in 20u64..600,
        extra in prop_oneof![Just(0u64), 0u64..20, Just(1_000)],
    ) {
        // An even window, so that half of it is whole; the first segment is lost, so that it never grows.
        let window = window / 2 * 2;
        let mut rules = config(Profile::Era);
        rules.limited_transmit = false;
        rules.recovery = Recovery::Sack;
        rules.initial_window_packets = window as u32;
        let mut script = Script::with_bytes(&rules, (window + extra) * MSS);
        let mut oracle = Oracle { high_data: window, cwnd: window, unsent: extra, ..Oracle::default() };
        let mut dice = Dice(seed);
        let mut network: Vec<u64> = script.sent().into_iter().filter(|&n| n != 0 && !dice.happens(loss)).collect();
        let mut arrivals = Arrivals::default();
        let mut now = ms(100);
        for _ in 0..400 {
            if network.is_empty() {
                break;
            }
            // Mostly in order, sometimes not.
            let index = if dice.happens(50) { dice.roll(network.len() as u64) as usize } else { 0 };
            let (ack, blocks) = arrivals.deliver(network.remove(index));
            now += rampcc::Time::from_us(50);
            let was_in_recovery = oracle.in_recovery;
            let expected = oracle.on_ack(ack, &blocks);
            let sent = script.ack(now, ack, &blocks);
            if was_in_recovery && !oracle.in_recovery {
                break;
            }
            prop_assert_eq!(&sent, &expected, "after ACK {} {:?} in {:?}", ack, blocks, oracle);
            prop_assert_eq!(script.in_flight(), oracle.pipe_seen(), "pipe after ACK {} {:?}", ack, blocks);
            network.extend(sent.into_iter().filter(|_| !dice.happens(loss)));
        }
    }
}

impl Oracle {
    /// Before recovery nothing is believed lost.
    fn pipe_seen(&self) -> u64 {
        if self.in_recovery {
            self.pipe()
        } else {
            self.outstanding().filter(|s| !self.sacked.contains(s)).count() as u64
        }
    }
}

#[test]
fn three_contiguous_duplicates_mean_loss() {
    let mut rules = config(Profile::Era);
    rules.limited_transmit = false;
    let mut script = Script::warmed_up(&rules, 20);
    assert!(script.ack(ms(100), 0, &[(1, 2)]).is_empty());
    assert!(script.ack(ms(101), 0, &[(1, 3)]).is_empty());
    assert_eq!(script.ack(ms(102), 0, &[(1, 4)]), [0]);
    assert_eq!((script.cwnd(), script.ssthresh()), (10, 10));
}

#[test]
fn three_ranges_mean_loss_of_what_is_below_all_of_them() {
    let mut rules = config(Profile::Era);
    rules.limited_transmit = false;
    let mut script = Script::warmed_up(&rules, 20);
    script.ack(ms(100), 0, &[(1, 2)]);
    script.ack(ms(101), 0, &[(3, 4), (1, 2)]);
    assert_eq!(script.ack(ms(102), 0, &[(5, 6), (3, 4), (1, 2)]), [0]);
    // 0 is lost and sent again; 2 and 4 are not lost: 20 outstanding, 3 SACKed, 0 counted once.
    assert_eq!(script.in_flight(), 17);
}
