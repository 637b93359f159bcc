//! What the host remembers of a place: by connections in a row, each of which begins with what the one before has left.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use nix::net::if_::if_nametoindex;
use rampcc::{Hint, HintSource, algorithm};
use rampcc_linux::{Event, Loaded, Options, Record, load};
use rampcc_trace::Told;
use socket2::{Domain, Socket, Type};

use crate::support::judged::{judged, require};
use crate::support::left_out::{complete, repeated};
use crate::support::path::Path;
use crate::support::{Bottleneck, Network, Open, ready};
use crate::{all_events, replayed, settled};

/// 40 Mbit/s and 20 ms hold 100 kB, of which headers take 3 %.
const PATH: &str = "rate = '40 Mbit/s'\nrtt = '20 ms'\nbuffer = '60 kB'";
const BDP: u64 = 100_000;
/// Places of each of those who open connections at the same time, and how many a memory holds.
const VISITED: u32 = 3000;
const HELD: usize = 4096;

/// Registered under a name of the test's own, since tests run side by side.
fn put_in(id: &str, tag: char, hint: Hint) -> Loaded {
    let row = algorithm(id).expect("a row");
    let mut options = Options::new(row);
    options.name = Some(format!("r{tag}_{id}"));
    options.record = Record::All;
    options.hint = hint;
    load(row, &options).unwrap_or_else(|error| panic!("{error}\n{}", error.log()))
}

/// The hint that each connection got, in the order in which they opened.
fn told(events: &[Event]) -> Vec<Hint> {
    let hint = |event: &Event| match event {
        Event::Call(call) => match &call.call.told {
            Told::Open(opening) => Some(opening.config.hint),
            _ => None,
        },
        _ => None,
    };
    events.iter().filter_map(hint).collect()
}

#[test]
fn a_connection_begins_with_what_the_one_before_it_has_left() {
    if ready().is_some() {
        judged(|| repeated(begins_with_what_is_left));
    }
}

fn begins_with_what_is_left() -> Result<(), String> {
    let loaded = put_in("careful", 'h', Hint::NONE);
    assert_eq!(loaded.places(), Some(0));
    let path = Path::new(PATH);
    for _ in 0..2 {
        path.transfer(loaded.name(), Open::Active, 2_000_000);
    }
    let (events, _) = all_events(&loaded, 2);
    complete(replayed(&events) > 20, events.len());
    let told = told(&events);
    complete(told.len() == 2, &told);
    assert_eq!(told[0], Hint::NONE, "nobody had been there");
    let Hint { window_bytes, bytes_per_s, rtt_us, age_s, .. } = told[1];
    assert_eq!((told[1].source(), loaded.places()), (HintSource::History, Some(1)));
    require((BDP / 2..=2 * BDP).contains(&window_bytes), || format!("{told:?}"))?;
    require((BDP * 25..=BDP * 75).contains(&bytes_per_s), || format!("{told:?}"))?;
    assert!(rtt_us >= 20_000, "{told:?}");
    require(rtt_us < 40_000 && age_s < 60, || format!("{told:?}"))?;
    path.stop();
    // In another namespace the same address is another place.
    let other = Path::new(PATH);
    other.transfer(loaded.name(), Open::Active, 2_000_000);
    assert_eq!(loaded.places(), Some(2));
    other.stop();
    Ok(())
}

#[test]
fn what_the_loader_was_told_counts_as_seen() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let mut hint = Hint::of(HintSource::History);
        (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (BDP, 5_000_000, 20_000, 30);
        let loaded = put_in("careful", 'o', hint);
        let path = Path::new(PATH);
        path.transfer(loaded.name(), Open::Active, 200_000);
        let told = told(&all_events(&loaded, 1).0);
        complete(told.len() == 1, &told);
        assert_eq!((told[0], loaded.places()), (hint, Some(1)));
        path.stop();
    });
}

/// An IPv6 /64 is a place, but not where hosts of any network share it.
#[test]
fn hosts_that_share_a_prefix_and_no_network_are_places_each() {
    let Some(()) = ready() else { return };
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (BDP, 5_000_000, 20_000, 30);
    let network = Network::new(Bottleneck::None);
    for (prefix, hosts, expected) in [
        ("fd77:3::/64", ["fd77:3::1", "fd77:3::2"], 1),
        ("64:ff9b::/96", ["64:ff9b::808:808", "64:ff9b::c633:6401"], 2),
        ("64:ff9b:1::/48", ["64:ff9b:1::808:808", "64:ff9b:1::c633:6401"], 2),
        ("2001::/32", ["2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:4136:e378:8000:63bf:3fff:fdd3"], 2),
    ] {
        for (role, line) in [
            ("r", format!("-6 route add {prefix} via fd77:2::1")),
            ("c", format!("-6 addr add {}/128 dev lo nodad", hosts[0])),
            ("c", format!("-6 addr add {}/128 dev lo nodad", hosts[1])),
        ] {
            assert!(network.try_ip("ip", role, &line), "{line}");
        }
        repeated(|| {
            let loaded = put_in("stateful", 'p', hint);
            for host in hosts {
                let address = host.parse().expect("an address");
                assert_eq!(network.transfer_to(loaded.name(), address, 20_000), 20_000);
            }
            complete(loaded.counters().expect("counters").opened == 2, prefix);
            assert_eq!(loaded.places(), Some(expected), "{prefix}");
        });
    }
}

/// A link-local address names a host only with its interface: two hosts of one link are two places, and so are
/// two hosts of the same address on two links. A second visit finds the first one's.
#[test]
fn a_link_local_address_is_a_place_on_its_interface() {
    let Some(()) = ready() else { return };
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (BDP, 5_000_000, 20_000, 30);
    let network = Network::new(Bottleneck::None);
    let visited = [("eth1", 1), ("eth1", 2), ("eth2", 1), ("eth1", 1)];
    for (device, host) in &visited[..3] {
        let line = format!("-6 addr add fe80::77:{host}/64 dev {device} nodad");
        assert!(network.try_ip("ip", "r", &line), "{line}");
    }
    repeated(|| {
        let loaded = put_in("stateful", 'l', hint);
        network.within("r", || {
            let listener = listening(Domain::IPV6);
            for (device, host) in visited {
                let scope = if_nametoindex(device).expect("an interface");
                let address = format!("fe80::77:{host}").parse().expect("an address");
                visit(loaded.name(), SocketAddrV6::new(address, 0, 0, scope).into(), &listener);
            }
        });
        complete(loaded.counters().expect("counters").opened == 4, "link-local");
        assert_eq!(loaded.places(), Some(3));
    });
}

/// On a port of its own.
fn listening(domain: Domain) -> Socket {
    let listener = Socket::new(domain, Type::STREAM, None).expect("a socket");
    let any: SocketAddr = match domain {
        Domain::IPV4 => (Ipv4Addr::UNSPECIFIED, 0).into(),
        _ => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    listener.bind(&any.into()).expect("bind");
    listener.listen(64).expect("listen");
    listener
}

/// A connection to this host, on the listener's port, that is over at once.
fn visit(name: &str, mut to: SocketAddr, listener: &Socket) {
    let bound = listener.local_addr().expect("an address");
    to.set_port(bound.as_socket().expect("an IP address").port());
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).expect("a socket");
    socket.set_tcp_congestion(name.as_bytes()).expect("TCP_CONGESTION");
    // No port waits for anything afterwards.
    socket.set_linger(Some(Duration::ZERO)).expect("SO_LINGER");
    socket.connect(&to.into()).expect("connect");
    drop(listener.accept().expect("accept"));
}

/// All of 127.0.0.0/8 is this host, and each address a place.
fn visit_places(name: &str, places: Range<u32>, listener: &Socket) {
    for number in places {
        let address = Ipv4Addr::from(Ipv4Addr::new(127, 1, 0, 1).to_bits() + number);
        visit(name, SocketAddrV4::new(address, 0).into(), listener);
    }
}

#[test]
fn more_places_than_it_holds_at_once_push_out_others_and_stop_nobody() {
    let Some(()) = ready() else { return };
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (BDP, 5_000_000, 20_000, 30);
    repeated(|| {
        let loaded = put_in("careful", 'm', hint);
        let over = AtomicU32::new(0);
        let most = thread::scope(|scope| {
            for own in 0..2 {
                let (loaded, over) = (&loaded, &over);
                scope.spawn(move || {
                    // The last of them at the same places.
                    let listener = listening(Domain::IPV4);
                    visit_places(loaded.name(), own * VISITED..(own + 1) * VISITED, &listener);
                    visit_places(loaded.name(), 0..VISITED / 10, &listener);
                    over.fetch_add(1, Ordering::Release);
                });
            }
            // Counted meanwhile: what is pushed out under the counting makes it begin anew.
            let mut most = 0;
            while over.load(Ordering::Acquire) < 2 {
                most = most.max(loaded.places().expect("it has a history"));
            }
            most
        });
        let counters = loaded.counters().expect("counters");
        let visits = u64::from(2 * VISITED + 2 * (VISITED / 10));
        complete(counters.opened == visits, counters);
        let left = loaded.places().expect("it has a history");
        assert!(most <= HELD && (HELD / 2..=HELD).contains(&left), "{most} at most, then {left}");
        // One that was not visited yet is remembered as the first was.
        loaded.drain(Duration::ZERO).expect("events");
        visit_places(loaded.name(), 3 * VISITED..3 * VISITED + 1, &listening(Domain::IPV4));
        let told = told(&settled(&loaded, visits + 1).0);
        complete(told.len() == 1, &told);
        assert_eq!(told[0], hint);
    });
}

/// Ten times what the path and its queue hold: the next connection begins with what this one saw.
#[test]
fn what_was_too_much_is_forgotten() {
    if ready().is_some() {
        judged(|| repeated(forgets_what_was_too_much));
    }
}

fn forgets_what_was_too_much() -> Result<(), String> {
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.bytes_per_s, hint.rtt_us, hint.age_s) = (10 * BDP, 50_000_000, 20_000, 30);
    let loaded = put_in("stateful", 'w', hint);
    let path = Path::new(PATH);
    for _ in 0..2 {
        path.transfer(loaded.name(), Open::Active, 1_500_000);
    }
    let told = told(&all_events(&loaded, 2).0);
    complete(told.len() == 2, &told);
    path.stop();
    assert_eq!(told[0], hint);
    require(told[1].window_bytes <= 2 * BDP, || format!("{told:?}"))
}

#[test]
fn who_needs_no_history_keeps_none() {
    let Some(()) = ready() else { return };
    assert_eq!(put_in("best", 'h', Hint::NONE).places(), None);
}
