//! A UDP socket that knows when its datagrams came, and waits to the microsecond.

use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use rampcc::Time;

/// Room for a tenth of a second at the rate that the emulator is rated to.
pub(super) const BUFFER_BYTES: usize = 16 << 20;

/// A socket between the two ends of a flow.
pub(super) struct Socket {
    udp: UdpSocket,
    /// Room for what the kernel says with a datagram.
    beside: Vec<u8>,
}

impl Socket {
    /// In the calling thread's network namespace.
    pub(super) fn between(own: SocketAddr, other: SocketAddr) -> io::Result<Self> {
        let udp = UdpSocket::bind(own)?;
        udp.connect(other)?;
        udp.set_nonblocking(true)?;
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        // Without the privilege the machine's limit holds; what is lost for it refuses the run.
        if setsockopt(&udp, sockopt::RcvBufForce, &BUFFER_BYTES).is_err() {
            setsockopt(&udp, sockopt::RcvBuf, &BUFFER_BYTES)?;
        }
        if setsockopt(&udp, sockopt::SndBufForce, &BUFFER_BYTES).is_err() {
            setsockopt(&udp, sockopt::SndBuf, &BUFFER_BYTES)?;
        }
        Ok(Self { udp, beside: nix::cmsg_space!(TimeSpec) })
    }

    /// The next datagram's length, and how long it had been there; `None`: there is none.
    pub(super) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Option<(usize, Time)>> {
        let mut parts = [IoSliceMut::new(buffer)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let message = match recvmsg::<()>(self.udp.as_raw_fd(), &mut parts, Some(&mut self.beside), flags) {
            Ok(message) => message,
            // The other end may be gone: its last datagrams find no receiver.
            Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let came = message.cmsgs()?.find_map(|beside| match beside {
            ControlMessageOwned::ScmTimestampns(came) => Some(Duration::from(came)),
            _ => None,
        });
        let now = Duration::from(clock_gettime(ClockId::CLOCK_REALTIME)?);
        let waited = came.map_or(Duration::ZERO, |came| now.saturating_sub(came));
        Ok(Some((message.bytes, Time::from_ns(waited.as_nanos() as u64))))
    }

    /// `false`: the kernel had no room for it.
    pub(super) fn send(&self, datagram: &[u8]) -> io::Result<bool> {
        match self.udp.send(datagram) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// For a datagram, at most so long.
    pub(super) fn wait(&self, longest: Time) -> io::Result<()> {
        let mut polled = [PollFd::new(self.udp.as_fd(), PollFlags::POLLIN)];
        let longest = TimeSpec::from(Duration::from_nanos(longest.ns()));
        match ppoll(&mut polled, Some(longest), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Datagrams that the calling thread's network namespace had no room for, at either end of its sockets.
pub(super) fn lost_in_namespace() -> io::Result<u64> {
    let table = std::fs::read_to_string("/proc/thread-self/net/snmp")?;
    lost(&table).ok_or_else(|| io::Error::other("/proc/net/snmp has no counters for UDP"))
}

fn lost(table: &str) -> Option<u64> {
    let mut rows = table.lines().filter_map(|line| line.strip_prefix("Udp:"));
    let (names, values) = (rows.next()?, rows.next()?);
    let counters = || names.split_whitespace().zip(values.split_whitespace());
    let count = |name| counters().find(|counter| counter.0 == name)?.1.parse::<u64>().ok();
    Some(count("RcvbufErrors")? + count("SndbufErrors")?)
}

#[cfg(test)]
mod tests {
    use super::lost;

    #[test]
    fn losses_are_read_from_the_counters_of_udp() {
        let table = "Tcp: RtoMin RtoMax\nTcp: 200 120000\n\
                     Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors\n\
                     Udp: 10 1 9 20 7 2 0\nUdpLite: InDatagrams\nUdpLite: 0\n";
        assert_eq!(lost(table), Some(9));
        assert_eq!(lost("Tcp: RtoMin\nTcp: 200\n"), None);
        assert_eq!(lost("Udp: InDatagrams\nUdp: 3\n"), None);
    }
}
