//! Options of a loaded algorithm, set before its first connection.

use rampcc::{Algorithm, Config, ConfigFlags, Environment, Hint, PARAMETERS_MAX};

/// Options of an algorithm in the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Name of the congestion control, at most 15 bytes; `None`: `ramp_<id>`. Two loads need two names.
    pub name: Option<String>,
    /// In the order of the algorithm's table.
    pub parameters: [u64; PARAMETERS_MAX],
    /// Window before the first ACK; 0: the kernel's, which routes may set (`initcwnd`).
    pub initial_window_packets: u32,
    /// Most growth per ACK, MSS (RFC 3465 L); 0: no limit, as in Linux.
    pub abc_limit_packets: u32,
    /// The receiver may acknowledge every second packet.
    pub delayed_acks: bool,
    /// Advance knowledge of the path, as far as the algorithm may have it.
    pub hint: Hint,
    /// Another object than the registry's: `bpf/startup.bpf.c` compiled for an algorithm outside it.
    pub object: Option<Vec<u8>>,
    /// Congestion control after start-up.
    pub avoidance: Avoidance,
    /// Events to record.
    pub record: Record,
    /// Room for events not yet drained: a power of two and a multiple of the page size.
    pub ring_bytes: u32,
    /// Register by a link where the kernel can (Linux 6.4). Without one the registration stays when its process dies.
    pub link: bool,
    /// Users that may choose it by its name.
    pub access: Access,
    /// What the host allows it, whatever it concludes.
    pub guard: Guard,
    /// For tests: connections begin with their first ACK, as they do where the kernel has not announced them.
    pub from_first_ack: bool,
}

/// A host's own limits for an algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Connections whose handshake took less stay with the kernel's CUBIC; 0: none.
    pub least_rtt_us: u32,
    /// The window is at most the first window and so many times the most that was in flight; 0: no bound. Slow start
    /// needs 1, or 2 where one ACK covers a whole flight.
    pub window_bound: u32,
}

/// Users that may choose a congestion control by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Every process, those in containers included. Network namespaces other than the first one have no other as their
    /// default.
    #[default]
    Everybody,
    /// Holders of `CAP_NET_ADMIN`.
    Privileged,
}

/// The kernel's congestion avoidance after start-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Avoidance {
    /// Linux's CUBIC, its HyStart off for these connections.
    #[default]
    Cubic,
    /// Linux's Reno.
    Reno,
}

/// Events that go to the ring buffer; each level includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Record {
    /// Nothing, since no one drains it: [`Onlooker`](crate::Onlooker) sees enough.
    Nothing,
    /// The end of every start-up.
    #[default]
    Exits,
    /// The end of every connection.
    Flows,
    /// Every ACK and event of a start-up.
    All,
}

impl Options {
    /// With the parameters that the algorithm has on a Linux server.
    pub fn new(algorithm: &Algorithm) -> Self {
        Self {
            name: None,
            parameters: algorithm.parameters_in(Environment::LinuxServer),
            initial_window_packets: 0,
            abc_limit_packets: 0,
            delayed_acks: true,
            hint: Hint::NONE,
            object: None,
            avoidance: Avoidance::default(),
            record: Record::default(),
            ring_bytes: 4 << 20,
            link: true,
            access: Access::default(),
            guard: Guard::default(),
            from_first_ack: false,
        }
    }

    /// `struct ramp_settings` of `bpf/events.h`.
    pub(crate) fn settings(&self, algorithm: &Algorithm) -> Vec<u8> {
        // MSS, windows and round-trip time are the connection's.
        let config = Config {
            flags: if self.delayed_acks { ConfigFlags::DELAYED_ACKS } else { 0 },
            abc_limit_packets: self.abc_limit_packets,
            unpaced_packets: UNPACED_SEGMENTS,
            hint: algorithm.admitted(self.hint),
            parameter: self.parameters,
            ..Config::new(algorithm, 0, 0)
        };
        let (record, avoidance) = (self.record as u32, self.avoidance as u32);
        let Guard { least_rtt_us, window_bound } = self.guard;
        let first_ack = u32::from(self.from_first_ack);
        let own = [self.initial_window_packets, record, avoidance, first_ack, least_rtt_us, window_bound];
        [config.bytes(), &own.map(u32::to_ne_bytes).concat()].concat()
    }
}

/// Linux never paces a connection's first ten data segments (`tcp_update_skb_after_send`).
const UNPACED_SEGMENTS: u32 = 10;
