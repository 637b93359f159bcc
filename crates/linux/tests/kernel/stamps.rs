//! The receiver's clock, as the kernel's algorithms are told of it (RFC 7323).

use rampcc::{Ack, Config, algorithm};
use rampcc_linux::{Event, Record};
use rampcc_trace::Told;

use crate::support::left_out::{complete, repeated};
use crate::support::{Bottleneck, Network, Open, ready};
use crate::{MEGABYTES, ack, all_events, put_in};

/// Linux counts milliseconds, unless a route says otherwise.
const TICK_NS: i128 = 1_000_000;

/// What the core was told at the beginning, and of each ACK.
fn told(network: &Network, open: Open, tag: &str) -> (Config, Vec<Ack>) {
    let loaded = put_in(algorithm("slow_start").expect("a row"), tag, Record::All);
    network.transfer(loaded.name(), open, 3 * MEGABYTES);
    let (events, _) = all_events(&loaded, 1);
    let config = events.iter().find_map(|event| match event {
        Event::Call(call) => match &call.call.told {
            Told::Open(opening) => Some(opening.config),
            _ => None,
        },
        _ => None,
    });
    let acks: Vec<_> = events.iter().filter_map(|event| ack(event)?.ack().copied()).collect();
    complete(config.is_some() && acks.len() > 10, (config, acks.len()));
    (config.expect("complete"), acks)
}

#[test]
fn every_ack_shows_when_it_left() {
    if !ready() {
        return;
    }
    // 1 MB at 40 Mbit/s: start-up takes hundreds of ticks.
    let network = Network::new(Bottleneck::Queue(1_000_000));
    for open in [Open::Passive, Open::Active] {
        repeated(|| shows_when_it_left(&network, open));
    }
}

fn shows_when_it_left(network: &Network, open: Open) {
    let (config, acks) = told(network, open, "t");
    complete(config.tsval != 0, config);
    assert!(config.now_ns > 0 && config.now_ns <= acks[0].now_ns, "{open:?}: {config:?}");
    let first = acks[0].tsval;
    for pair in acks.windows(2) {
        assert!(pair[1].tsval.wrapping_sub(pair[0].tsval) < 1 << 31, "{open:?}: {pair:?}");
    }
    assert!(acks[acks.len() - 1].tsval.wrapping_sub(first) > 1, "{open:?}: it does not tick");
    // Both ends are on this machine. An ACK left after what it acknowledges did, and came after it had left: between
    // two clocks of the same pace that bounds the difference by the RTT and a tick.
    let apart = |now_ns: u64, tsval: u32| {
        let ticks = i128::from(tsval.wrapping_sub(first).cast_signed());
        i128::from(now_ns) - ticks * TICK_NS
    };
    let mut bounds = vec![(apart(config.now_ns, config.tsval), config.handshake_rtt_us)];
    bounds.extend(acks.iter().map(|a| (apart(a.now_ns, a.tsval), a.rtt_us)));
    let least = bounds.iter().map(|(apart, _)| *apart).min().expect("the handshake's");
    for (apart, rtt_us) in bounds.into_iter().filter(|(_, rtt_us)| *rtt_us > 0) {
        let most = i128::from(rtt_us + 1) * 1000 + TICK_NS;
        assert!(apart - least <= most, "{open:?}: {} of {most} ns", apart - least);
    }
}

#[test]
fn without_timestamps_no_ack_shows_a_clock() {
    if !ready() {
        return;
    }
    let network = Network::new(Bottleneck::Queue(1_000_000));
    network.sysctl("s", "net.ipv4.tcp_timestamps=0");
    for open in [Open::Passive, Open::Active] {
        let (config, acks) = repeated(|| told(&network, open, "u"));
        assert_eq!(config.tsval, 0, "{open:?}");
        assert!(acks.iter().all(|ack| ack.tsval == 0), "{open:?}");
    }
}
