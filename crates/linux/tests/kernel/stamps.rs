//! The receiver's clock, as the kernel's algorithms get it (RFC 7323).

use std::io;
use std::net::IpAddr;

use nix::errno::Errno;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::SockProtocol;
use rampcc::{Ack, Config, ExitReason, algorithm};
use rampcc_emulator::End;
use rampcc_linux::{Event, FlowEvent, Record};
use rampcc_system::netlink::{Netlink, encode};
use rampcc_trace::Told;

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Bottleneck, Network, Open, ready, say};
use crate::{DEEP, MEGABYTES, ack, all_events, exits, own_reasons, put_in};

/// Read by `other_kernels`.
pub(crate) const MICROSECONDS: &str = "microsecond timestamps: played";
const NO_MICROSECONDS: &str = "microsecond timestamps: this kernel has none";
/// Linux counts milliseconds, unless a route says otherwise.
const TICK_NS: i128 = 1_000_000;

/// What the core got at the beginning, and with each ACK.
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
    let Some(()) = ready() else { return };
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
    let Some(()) = ready() else { return };
    let network = Network::new(Bottleneck::Queue(1_000_000));
    network.sysctl("s", "net.ipv4.tcp_timestamps=0");
    for open in [Open::Passive, Open::Active] {
        let (config, acks) = repeated(|| told(&network, open, "u"));
        assert_eq!(config.tsval, 0, "{open:?}");
        assert!(acks.iter().all(|ack| ack.tsval == 0), "{open:?}");
    }
}

/// What the receiver's host sends to this one shows microseconds from now on; `false`: the kernel has no such thing (before
/// 6.7). By netlink, since older `ip` commands have no word for it.
fn in_microseconds(path: &Path) -> bool {
    const RTM_NEWROUTE: u16 = 24;
    const REPLACE_CREATE: u16 = 0x500;
    const RTA_DST: u16 = 1;
    const RTA_OIF: u16 = 4;
    const RTA_METRICS: u16 = 8;
    const RTAX_FEATURES: u16 = 12;
    const RTAX_FEATURE_TCP_USEC_TS: u32 = 1 << 4;
    // struct rtmsg: IPv4, a host, the main table, set by hand, on the link, unicast.
    let message = [2, 32, 0, 0, 254, 4, 253, 1, 0, 0, 0, 0];
    let sender = path.running().hosts().iter().find(|host| host.end == End::Sender).expect("a host");
    let IpAddr::V4(address) = sender.address else { panic!("the message is of IPv4") };
    let done = path.running().in_namespace(End::Receiver, || -> io::Result<()> {
        let mut body = message.to_vec();
        body.extend(encode(&[
            (RTA_DST, address.octets().to_vec()),
            (RTA_OIF, if_nametoindex("ramp0")?.to_ne_bytes().to_vec()),
            (RTA_METRICS, encode(&[(RTAX_FEATURES, RTAX_FEATURE_TCP_USEC_TS.to_ne_bytes().to_vec())])),
        ]));
        Netlink::open(SockProtocol::NetlinkRoute)?.change(RTM_NEWROUTE, REPLACE_CREATE, &body)
    });
    match done.expect("the namespace") {
        Ok(()) => true,
        Err(error) if error.raw_os_error() == Some(Errno::EINVAL as i32) => false,
        Err(error) => panic!("a route: {error}"),
    }
}

/// The exit of a transfer by `reach`, which reads the clock, and how many nanoseconds of ours the receiver's clock took
/// for a tick.
fn left(path: &Path, open: Open, tag: &str) -> (FlowEvent, u64) {
    let loaded = put_in(algorithm("reach").expect("a row"), tag, Record::All);
    path.transfer(loaded.name(), open, 2 * MEGABYTES);
    let (events, _) = all_events(&loaded, 1);
    let exit = exits(&events).first().map(|exit| **exit);
    let acks: Vec<_> = events.iter().filter_map(|event| ack(event)?.ack().copied()).collect();
    complete(exit.is_some() && acks.len() > 10, (exit, acks.len()));
    let (first, last) = (acks[0], acks[acks.len() - 1]);
    let ticks = last.tsval.wrapping_sub(first.tsval);
    (exit.expect("complete"), (last.now_ns - first.now_ns) / u64::from(ticks.max(1)))
}

/// ACKs are held back on their way, which only a clock of milliseconds tells.
const HELD: &str = "rate = '40 Mbit/s'\nrtt = '100 ms'\nbuffer = '1 bdp'\n[path.reverse]\n\
                    jitter = { kind = 'grant', period = '40 ms' }";

/// Nothing tells a sender the unit of its peer's clock. Read as milliseconds, one of microseconds runs a thousand times too
/// fast: no ACK then seems held, and nothing is proved that is not so.
#[test]
fn a_clock_of_microseconds_is_not_taken_for_one_of_milliseconds() {
    let Some(()) = ready() else { return };
    for (text, most_packets) in [(DEEP, None), (HELD, Some(1000))] {
        for open in [Open::Passive, Open::Active] {
            let mut there = true;
            judged(|| {
                repeated(|| {
                    let path = Path::new(text);
                    let (plain, tick_ns) = left(&path, open, "v");
                    there = in_microseconds(&path);
                    if !there {
                        path.stop();
                        return Ok(());
                    }
                    let (fine, fine_tick_ns) = left(&path, open, "v");
                    path.stop();
                    let both = || format!("{open:?}: {fine:?}, {fine_tick_ns} ns; {plain:?}, {tick_ns} ns");
                    require((500_000..2_000_000).contains(&tick_ns), both)?;
                    require((500..2_000).contains(&fine_tick_ns), both)?;
                    let [reason, before] = [fine, plain].map(|exit| exit.decision.exit_reason());
                    let own = own_reasons("reach").contains(&reason);
                    let apart = fine.cwnd_packets.abs_diff(plain.cwnd_packets);
                    require(
                        if let Some(most) = most_packets {
                            (own || reason == ExitReason::Loss) && fine.cwnd_packets <= most
                        } else {
                            own && reason == before && apart <= plain.cwnd_packets / 4
                        },
                        both,
                    )
                })
            });
            if !there {
                say(NO_MICROSECONDS);
                return;
            }
        }
    }
    say(MICROSECONDS);
}
