//! The stack by itself: two endpoints that hand each other their datagrams after a fixed delay, without links, queues or an
//! observer, as the harness of a stack's own tests does. What the simulator adds to it is a figure of `make bench`.

use std::collections::VecDeque;

use rampcc::Time;
use rampcc_sim::{Endpoint, Receiving, Sending};

use crate::datagram::{Arena, UdpDatagram};
use crate::ends::{Announced, Receiver, Sender};
use crate::noq;
use crate::seen::Watch;
use crate::transport::base;
use crate::wishes::Wishes;

/// Sends so many bytes over noq-proto with its own CUBIC; returns how many datagrams that took, both ways.
///
/// # Panics
///
/// If nothing moves any more before all has arrived.
#[must_use]
pub fn bare(bytes: u64, delay: Time) -> u64 {
    let wishes = Wishes::bare(base(), Arena::default());
    let (watch, announced) = (Watch::default(), Announced::default());
    let cubic = noq::Watched::cubic(&wishes, &watch);
    let mut sender = Sender::new(Box::new(noq::sender(&wishes, cubic)), 0, watch, announced.clone());
    let mut receiver = Receiver::new(Box::new(noq::receiver(&wishes)), announced);
    let mut now = Time::ZERO;
    let (mut there, mut back) = (VecDeque::new(), VecDeque::new());
    let mut datagrams = 0;
    sender.write(now, bytes);
    sender.finish(now);
    sender.open(now);
    while !receiver.completed() {
        drain(&mut sender, now, |datagram| there.push_back((now + delay, datagram)));
        drain(&mut receiver, now, |datagram| back.push_back((now + delay, datagram)));
        let due = |way: &VecDeque<(Time, UdpDatagram)>| way.front().map_or(Time::NEVER, |front| front.0);
        now = due(&there).min(due(&back)).min(sender.poll_timeout()).min(receiver.poll_timeout());
        assert!(now < Time::NEVER, "nothing moves any more");
        if sender.poll_timeout() <= now {
            sender.handle_timeout(now);
        }
        if receiver.poll_timeout() <= now {
            receiver.handle_timeout(now);
        }
        datagrams += arrive(&mut there, now, &mut receiver) + arrive(&mut back, now, &mut sender);
    }
    datagrams
}

fn drain(end: &mut impl Endpoint<Packet = UdpDatagram>, now: Time, mut take: impl FnMut(UdpDatagram)) {
    while end.poll_transmit(now, |datagram| take(*datagram)) {}
}

fn arrive(
    way: &mut VecDeque<(Time, UdpDatagram)>,
    now: Time,
    end: &mut impl Endpoint<Packet = UdpDatagram>,
) -> u64 {
    let mut count = 0;
    while way.front().is_some_and(|(due, _)| *due <= now) {
        let (_, datagram) = way.pop_front().expect("it has a front");
        end.handle_packet(now, &datagram);
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_in_as_many_datagrams_each_time() {
        let datagrams = bare(1_000_000, Time::from_ms(10));
        // At most 1438 bytes of a stream in each, and at most an ACK for every second: those that arrive at once share one.
        let full = 1_000_000_u64.div_ceil(1438);
        assert!((full..full * 3 / 2 + 50).contains(&datagrams), "{datagrams}");
        assert_eq!(bare(1_000_000, Time::from_ms(10)), datagrams);
    }
}
