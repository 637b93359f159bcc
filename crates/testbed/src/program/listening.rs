//! Who listens in a network namespace, from the kernel's tables.

use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::row::Transport;

/// A socket that waits for strangers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Listener {
    pub(super) transport: Transport,
    pub(super) address: IpAddr,
    pub(super) port: u16,
}

impl Listener {
    /// All in the namespace of the calling thread.
    pub(super) fn all() -> Vec<Self> {
        let tables = [
            ("tcp", Transport::Tcp),
            ("tcp6", Transport::Tcp),
            ("udp", Transport::Udp),
            ("udp6", Transport::Udp),
        ];
        let read = |(name, transport)| {
            let table = fs::read_to_string(format!("/proc/thread-self/net/{name}")).unwrap_or_default();
            parse(&table, transport)
        };
        tables.into_iter().flat_map(read).collect()
    }

    /// Whether packets to this address reach it.
    pub(super) fn serves(&self, address: IpAddr, port: u16, transport: Option<Transport>) -> bool {
        let any = match self.address {
            IpAddr::V4(own) => own.is_unspecified() && address.is_ipv4(),
            // Of both families, unless it says otherwise.
            IpAddr::V6(own) => own.is_unspecified(),
        };
        let own = any || self.address.to_canonical() == address;
        own && self.port == port && transport.is_none_or(|transport| transport == self.transport)
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transport = match self.transport {
            Transport::Tcp => "TCP",
            Transport::Udp => "UDP",
        };
        write!(f, "{} ({transport})", SocketAddr::new(self.address, self.port))
    }
}

/// The rows of `/proc/net/tcp` or one of its kind. `LISTEN` is 0A; a UDP socket that has no peer is 07.
fn parse(table: &str, transport: Transport) -> Vec<Listener> {
    let waiting = if transport == Transport::Tcp { "0A" } else { "07" };
    let row = |line: &str| {
        let mut columns = line.split_whitespace().skip(1);
        let (local, _, state) = (columns.next()?, columns.next()?, columns.next()?);
        let (address, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        // Words of four bytes, each in the machine's order.
        let words = (0..address.len() / 8).map(|n| u32::from_str_radix(&address[8 * n..8 * n + 8], 16));
        let bytes: Vec<u8> = words.flat_map(|word| word.unwrap_or_default().to_ne_bytes()).collect();
        let address = match <[u8; 4]>::try_from(bytes.as_slice()) {
            Ok(four) => IpAddr::V4(four.into()),
            Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?)),
        };
        (state == waiting).then_some(Listener { transport, address, port })
    };
    table.lines().skip(1).filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const HOST: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));

    #[cfg(target_endian = "little")]
    #[test]
    fn tables_tell_who_listens_where() {
        let tcp = "  sl  local_address rem_address   st tx_queue\n   0: 0100007F:20FB 00000000:0000 0A 0:0\n   \
                   1: 01004D0A:20FB 00000000:0000 0A 0:0\n   2: 01004D0A:20FB 01804D0A:1234 01 0:0\n";
        let found = parse(tcp, Transport::Tcp);
        assert_eq!(found.len(), 2, "a connection is no listener");
        assert_eq!(found[0].to_string(), "127.0.0.1:8443 (TCP)");
        assert!(!found[0].serves(HOST, 8443, None));
        assert!(found[1].serves(HOST, 8443, None) && found[1].serves(HOST, 8443, Some(Transport::Tcp)));
        assert!(!found[1].serves(HOST, 8443, Some(Transport::Udp)) && !found[1].serves(HOST, 80, None));
        let udp6 =
            "  sl\n  9: 00000000000000000000000000000000:20FB 00000000000000000000000000000000:0000 07 0\n";
        let found = parse(udp6, Transport::Udp);
        assert_eq!(found[0].to_string(), "[::]:8443 (UDP)");
        let six = IpAddr::V6(Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1));
        assert!(found[0].serves(HOST, 8443, None) && found[0].serves(six, 8443, None), "both families");
        let tcp6 =
            "  sl\n  0: 000077FD000000000000000001000000:20FB 00000000000000000000000000000000:0000 0A 0\n";
        let found = parse(tcp6, Transport::Tcp);
        assert_eq!(found[0].to_string(), "[fd77::1]:8443 (TCP)");
        assert!(found[0].serves(six, 8443, None) && !found[0].serves(HOST, 8443, None));
        let any = parse("  sl\n 0: 00000000:20FB 00000000:0000 0A 0\n", Transport::Tcp);
        assert!(any[0].serves(HOST, 8443, None) && !any[0].serves(six, 8443, None));
    }
}
