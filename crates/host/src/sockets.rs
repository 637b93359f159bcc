//! Congestion controls that the connections of a namespace or a control group use now.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use nix::sys::socket::SockProtocol;
use rampcc_system::netlink::{Netlink, attributes};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_CONG: u16 = 4;
const INET_DIAG_CGROUP_ID: u16 = 21;
const IPPROTO_TCP: u8 = 6;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
/// Every state of a connection that may still send: not `TIME_WAIT` (6), `CLOSE` (7), `LISTEN` (10) and
/// `NEW_SYN_RECV` (12).
const STATES: u32 = 0xfff & !(1 << 6 | 1 << 7 | 1 << 10);
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;

/// Connections of the thread's network namespace by congestion control; with `groups`, only those of processes in
/// these control groups.
pub(crate) fn by_congestion_control(groups: Option<&BTreeSet<u64>>) -> io::Result<BTreeMap<String, u64>> {
    let socket = Netlink::open(SockProtocol::NetlinkSockDiag)?;
    let mut counts = BTreeMap::new();
    for family in [AF_INET, AF_INET6] {
        let of_family = socket.dump(
            SOCK_DIAG_BY_FAMILY,
            &request(family),
            |counts: &mut BTreeMap<String, u64>, message| {
                let Some((name, group)) = connection(message) else { return };
                if groups.is_none_or(|groups| group.is_some_and(|group| groups.contains(&group))) {
                    *counts.entry(name).or_insert(0) += 1;
                }
            },
        )?;
        for (name, count) in of_family {
            *counts.entry(name).or_insert(0) += count;
        }
    }
    Ok(counts)
}

/// `struct inet_diag_req_v2`.
fn request(family: u8) -> Vec<u8> {
    let mut body = vec![family, IPPROTO_TCP, 1 << (INET_DIAG_CONG - 1), 0];
    body.extend(STATES.to_ne_bytes());
    body.resize(56, 0);
    body
}

/// The congestion control of a connection that the kernel tells of, and its control group.
pub fn connection(message: &[u8]) -> Option<(String, Option<u64>)> {
    let attributes = attributes(message.get(MESSAGE..)?);
    let value = |kind| attributes.iter().find(|(found, _)| *found == kind).map(|(_, value)| value);
    let name = value(INET_DIAG_CONG)?;
    let name = String::from_utf8_lossy(name).trim_end_matches('\0').to_owned();
    let group = value(INET_DIAG_CGROUP_ID).and_then(|id| id.first_chunk()).map(|id| u64::from_ne_bytes(*id));
    Some((name, group))
}
