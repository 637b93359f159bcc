//! TCP connections between the hosts of flows.

use std::ffi::OsString;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SetSockOpt, SockFlag, SockType, SockaddrStorage, bind, connect, getsockopt,
    listen, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use rampcc::Time;

use crate::engine::ENGINE_PRIORITY;
use crate::{EmulatorError, Result, Running, sys};

/// Sockets' threads run above the emulator's, or it could keep them from the processor.
const PRIORITY: i32 = ENGINE_PRIORITY + 10;
/// How often blocked calls look whether they should give up, milliseconds.
const BLOCK_MS: u64 = 100;

/// Connection to open.
#[derive(Clone, Debug)]
pub struct Connect {
    /// Index of the flow: its hosts are the connection's.
    pub flow: usize,
    /// The sender's congestion control; `None`: the namespace's default, `reno`.
    pub congestion_control: Option<String>,
    /// End that opens it.
    pub opener: Opener,
    /// TCP spaces the sender's packets whatever its congestion control, as under `fq`.
    pub paced: bool,
    /// Give up after this long.
    pub limit: Time,
}

/// End that opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// The sender, as in simulation: data flows one round trip later.
    Sender,
    /// The receiver, as a web client does: the sender's socket comes from a listener.
    Receiver,
}

/// An open connection. Its sockets' calls fail with `WouldBlock` after a tenth of a second.
#[derive(Debug)]
pub struct Connection {
    /// The sender's socket.
    pub sender: TcpStream,
    /// The receiver's socket.
    pub receiver: Receiving,
    /// Time of the first SYN, on [`Running::clock`].
    pub opened: Time,
    /// Time when the sender's socket was connected.
    pub established: Time,
    /// Congestion control of the sender.
    pub congestion_control: String,
    /// The sender's end.
    pub local: SocketAddr,
    /// The receiver's end.
    pub remote: SocketAddr,
}

/// The receiver's end of a connection. If the sender opened it, its handshake reaches this end half a round trip after
/// the sender may send, so it is accepted when it is first asked for.
#[derive(Debug)]
pub struct Receiving {
    listener: Option<TcpListener>,
    stream: OnceLock<TcpStream>,
}

impl Receiving {
    fn accepted_later(listener: TcpListener) -> Self {
        Self { listener: Some(listener), stream: OnceLock::new() }
    }

    fn open(stream: TcpStream) -> Self {
        Self { listener: None, stream: stream.into() }
    }

    /// The socket; `WouldBlock` after a tenth of a second without the connection. To be called by one thread.
    pub fn stream(&self) -> io::Result<&TcpStream> {
        if let (None, Some(listener)) = (self.stream.get(), &self.listener) {
            let (stream, _) = listener.accept()?;
            set_limits(&stream, BLOCK_MS)?;
            // A second thread's is closed again.
            let _ = self.stream.set(stream);
        }
        self.stream.get().ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

/// Puts the calling thread above the emulator's, where sockets' threads belong (`CAP_SYS_NICE`).
pub fn run_above_engine() -> io::Result<()> {
    sys::run_realtime(PRIORITY)
}

impl Running {
    /// Opens a connection between the hosts of a flow, and waits until its sender has it.
    pub fn connect(&self, wanted: &Connect) -> Result<Connection> {
        let index = wanted.flow;
        let flow = self.scenario().flows.get(index).ok_or(EmulatorError::Flow { index })?;
        let host = |node| self.plan().host(node).ok_or(EmulatorError::Flow { index });
        let (from, to) = (host(flow.from)?, host(flow.to)?);
        let name = wanted.congestion_control.as_deref();
        let sending = || self.in_namespace(from.end, || tcp_socket(from.address, name))?;
        let receiving = || self.in_namespace(to.end, || tcp_socket(to.address, None))?;
        let (listening, connecting) = match wanted.opener {
            Opener::Sender => (receiving()?, sending()?),
            Opener::Receiver => (sending()?, receiving()?),
        };
        if let Some(window) = self.buffers().window {
            let receiver = if wanted.opener == Opener::Sender { &listening } else { &connecting };
            sys::set_window_clamp(receiver.as_fd(), window)
                .map_err(|cause| EmulatorError::io("setting TCP_WINDOW_CLAMP", cause))?;
        }
        if wanted.paced {
            let sender = if wanted.opener == Opener::Sender { &connecting } else { &listening };
            sys::set_paced(sender.as_fd())
                .map_err(|cause| EmulatorError::io("setting SO_MAX_PACING_RATE", cause))?;
        }
        listen(&listening, Backlog::MAXCONN).map_err(|error| EmulatorError::io("listening", error))?;
        let listener = TcpListener::from(listening);
        let there = listener.local_addr().map_err(|cause| EmulatorError::io("asking for a port", cause))?;
        let limit = wanted.limit;
        block_at_most(&connecting, limit.ns() / 1_000_000)?;
        let late = |action, error: io::Error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EINPROGRESS | Errno::EAGAIN | Errno::ETIMEDOUT) => {
                EmulatorError::Late { action, limit }
            }
            _ => EmulatorError::io(action, error),
        };
        let address = SockaddrStorage::from(there);
        let opened = self.clock().now();
        nix_connect(&connecting, &address).map_err(|error| late("connecting", error))?;
        let connected = self.clock().now();
        let connecting = TcpStream::from(connecting);
        let (sender, receiver, established) = match wanted.opener {
            Opener::Sender => {
                block_at_most(&listener, BLOCK_MS)?;
                (connecting, Receiving::accepted_later(listener), connected)
            }
            Opener::Receiver => {
                block_at_most(&listener, limit.ns() / 1_000_000)?;
                let (accepted, _) =
                    listener.accept().map_err(|error| late("accepting a connection", error))?;
                block_at_most(&connecting, BLOCK_MS)?;
                (accepted, Receiving::open(connecting), self.clock().now())
            }
        };
        block_at_most(&sender, BLOCK_MS)?;
        let congestion_control = getsockopt(&sender, sockopt::TcpCongestion)
            .map_err(|error| EmulatorError::io("reading TCP_CONGESTION", error))?;
        let congestion_control = congestion_control.to_string_lossy().trim_end_matches('\0').to_owned();
        let ends = [sender.local_addr(), sender.peer_addr()]
            .map(|end| end.map_err(|cause| EmulatorError::io("asking for a port", cause)));
        let [local, remote] = ends;
        let (local, remote) = (local?, remote?);
        Ok(Connection { sender, receiver, opened, established, congestion_control, local, remote })
    }

    /// Opens a connection from the host `node` to a server, as a client does. To be called by a thread in that host's namespace.
    /// The socket's calls fail with `WouldBlock` after a tenth of a second; as often the handshake asks whether it `goes_on`.
    /// `None`: it did not.
    pub fn dial(
        &self,
        node: usize,
        server: SocketAddr,
        goes_on: impl Fn() -> bool,
    ) -> Result<Option<TcpStream>> {
        let host = self.plan().host(node).ok_or(EmulatorError::Host { node })?;
        let client = socket(family(host.address), SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
            .map_err(|error| EmulatorError::io("making a socket", error))?;
        // Its port is chosen with the server's known: many connections share one.
        setsockopt(&client, sockopt::IpBindAddressNoPort, &true)
            .map_err(|error| EmulatorError::io("setting IP_BIND_ADDRESS_NO_PORT", error))?;
        bind(
            std::os::fd::AsRawFd::as_raw_fd(&client),
            &SockaddrStorage::from(SocketAddr::new(host.address, 0)),
        )
        .map_err(|error| EmulatorError::io("binding a socket", error))?;
        if let Some(window) = self.buffers().window {
            sys::set_window_clamp(client.as_fd(), window)
                .map_err(|cause| EmulatorError::io("setting TCP_WINDOW_CLAMP", cause))?;
        }
        block_at_most(&client, BLOCK_MS)?;
        let server = SockaddrStorage::from(server);
        loop {
            match connect(std::os::fd::AsRawFd::as_raw_fd(&client), &server) {
                Ok(()) => return Ok(Some(TcpStream::from(client))),
                Err(Errno::EINPROGRESS | Errno::EALREADY | Errno::EAGAIN | Errno::EINTR) if goes_on() => {}
                Err(Errno::EINPROGRESS | Errno::EALREADY | Errno::EAGAIN | Errno::EINTR) => return Ok(None),
                Err(error) => return Err(EmulatorError::io("connecting", error)),
            }
        }
    }
}

/// A socket of the calling thread's namespace, bound to `address`.
fn tcp_socket(address: IpAddr, congestion_control: Option<&str>) -> Result<OwnedFd> {
    let socket = socket(family(address), SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
        .map_err(|error| EmulatorError::io("making a socket", error))?;
    if let Some(name) = congestion_control {
        // Before it connects or listens: a connection must not begin under another one.
        setsockopt(&socket, sockopt::TcpCongestion, &OsString::from(name)).map_err(|error| {
            let reason = match error {
                Errno::ENOENT => "the kernel has no such one".to_owned(),
                Errno::EPERM => {
                    "this user may not choose it (net.ipv4.tcp_allowed_congestion_control); CAP_NET_ADMIN may"
                        .to_owned()
                }
                other => other.to_string(),
            };
            EmulatorError::CongestionControl { name: name.to_owned(), reason }
        })?;
    }
    let address = SockaddrStorage::from(SocketAddr::new(address, 0));
    bind(std::os::fd::AsRawFd::as_raw_fd(&socket), &address)
        .map_err(|error| EmulatorError::io("binding a socket", error))?;
    Ok(socket)
}

fn family(address: IpAddr) -> AddressFamily {
    if address.is_ipv6() { AddressFamily::Inet6 } else { AddressFamily::Inet }
}

fn nix_connect(socket: &OwnedFd, address: &SockaddrStorage) -> io::Result<()> {
    Ok(connect(std::os::fd::AsRawFd::as_raw_fd(socket), address)?)
}

/// Reads, writes, `connect` and `accept` fail after this long.
fn block_at_most(socket: &impl AsFd, ms: u64) -> Result {
    set_limits(socket, ms).map_err(|cause| EmulatorError::io("setting a time limit", cause))
}

fn set_limits(socket: &impl AsFd, ms: u64) -> io::Result<()> {
    let limit = TimeVal::milliseconds(i64::try_from(ms.max(1)).unwrap_or(i64::MAX / 1000));
    sockopt::ReceiveTimeout.set(socket, &limit)?;
    Ok(sockopt::SendTimeout.set(socket, &limit)?)
}
