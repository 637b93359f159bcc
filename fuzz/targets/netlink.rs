//! What the kernel tells over netlink: datagrams of messages, and in them routes and connections.
//!
//! The first byte says what the rest is: `r` the message of a route, `c` of a connection, `a` attributes, else a datagram.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rampcc_host::{told_connection, told_route};
use rampcc_system::netlink::{attributes, datagram, encode};

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind {
        b'r' => route(rest),
        b'c' => {
            if let Some((name, _)) = told_connection(rest) {
                assert!(!name.ends_with('\0') && rest.len() > name.len() / 3);
            }
        }
        b'a' => {
            let all = attributes(rest);
            assert_eq!(attributes(&encode(&all)), all, "what is written can be read");
        }
        _ => {
            let (mut torn, mut length) = (false, 0);
            let end = datagram(rest, &mut torn, |body| {
                length += body.len();
                route(body);
            });
            assert!(length <= rest.len() && !(torn && matches!(end, Ok(None)) && rest.len() < 16));
        }
    }
});

/// What puts a route back is the same route to its reader.
fn route(message: &[u8]) {
    let Some((described, record, again)) = told_route(message) else { return };
    assert!(!described.is_empty() && !record.is_empty());
    let Some(again) = again else { return };
    let (described_again, record_again, third) = told_route(&again).expect("it can be read");
    let nexthop = described.contains(" nhid ");
    assert!(nexthop || described_again == described, "{described}: {described_again}");
    assert_eq!(third.as_ref(), Some(&again), "{record}: {record_again}");
}
