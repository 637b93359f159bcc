//! Start-ups of the kernel's own congestion controls, on the whole machine, as they can be seen from outside.

use std::ffi::OsStr;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{fmt, mem};

use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, Object, ObjectBuilder, OpenObject, RingBuffer, RingBufferBuilder,
};
use rampcc::ExitReason;

use crate::error::LoadError;
use crate::event::{Plain, Tuple, read};
use crate::loader::{STARTS, explained};
use crate::onlooker::Table;

const COUNTERS: &str = ".bss.counters";
const EXITS: &str = "exits";
const TABLE: &str = "starts_table";
const BEFORE: u32 = 1;

/// A connection of a control of the kernel's own: in start-up, or at its end. `struct ramp_start_record`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    time_ns: u64,
    opened_ns: u64,
    /// A number from 1 on, in order of opening; 0: it has sent nothing since anybody looked.
    pub number: u64,
    /// Its ends.
    pub tuple: Tuple,
    /// Payload sent, retransmissions included.
    pub sent_bytes: u64,
    /// Payload acknowledged.
    pub acked_bytes: u64,
    /// Payload sent again.
    pub retransmitted_bytes: u64,
    /// The kernel's last rate sample; 0: none yet.
    pub delivery_bytes_per_s: u64,
    /// The kernel's pacing rate; 0: it does not pace.
    pub pacing_bytes_per_s: u64,
    /// Left side of the deciding comparison, in the reason's unit; with a limit of 0 it cannot be seen.
    pub evidence: u64,
    /// Right side of it.
    pub limit: u64,
    exit_reason: u32,
    flags: u32,
    /// The window.
    pub cwnd_packets: u32,
    /// The slow-start threshold; `0x7fff_ffff`: none.
    pub ssthresh_packets: u32,
    /// Sent and neither acknowledged nor taken for lost.
    pub in_flight_packets: u32,
    /// Packets found lost so far.
    pub lost_packets: u32,
    /// Smoothed RTT.
    pub smoothed_rtt_us: u32,
    /// Smallest RTT of the kernel's window.
    pub min_rtt_us: u32,
    /// Payload of a full segment.
    pub mss_bytes: u32,
    reserved: u32,
    control: [u8; 16],
}

impl Plain for Start {}

impl Start {
    /// The congestion control's name.
    pub fn control(&self) -> String {
        String::from_utf8_lossy(&self.control).trim_end_matches('\0').to_owned()
    }

    /// Reason for the end.
    pub fn exit_reason(&self) -> ExitReason {
        ExitReason::from_number(self.exit_reason).unwrap_or_default()
    }

    /// When this was so, on the monotonic clock.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.time_ns)
    }

    /// For how long it has been open. `None`: its opening was not seen.
    pub fn age(&self) -> Option<Duration> {
        let seen = self.flags & BEFORE == 0 && self.opened_ns > 0;
        seen.then(|| Duration::from_nanos(self.time_ns.saturating_sub(self.opened_ns)))
    }

    /// The same, counted from when it was seen first if its opening was not seen.
    pub fn known_for(&self) -> Duration {
        let since = if self.opened_ns > 0 { self.opened_ns } else { self.time_ns };
        Duration::from_nanos(self.time_ns.saturating_sub(since))
    }

    /// True if its control ends start-up by ssthresh. BBR's keeps none: it looks as if it never left.
    pub fn keeps_ssthresh(&self) -> bool {
        !self.control.starts_with(b"bbr")
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Counters {
    connections: u64,
    exits: u64,
    lost: u64,
}

impl Plain for Counters {}

/// What has been seen since the last look.
#[derive(Clone, Debug, Default)]
pub struct Starts {
    /// Connections in start-up, in no order: in every network namespace that this process may look into.
    pub flows: Vec<Start>,
    /// Ends of start-ups, in order, of every network namespace.
    pub exits: Vec<Start>,
    /// Ends for which there was no room.
    pub missed: u64,
}

/// Sees the start-ups of the kernel's own congestion controls. Dropping it, and the end of the process, take everything out of the
/// kernel.
pub struct Watcher {
    // Fields drop in this order: no more calls before the maps go.
    _links: Vec<Link>,
    table: Table,
    ring: RingBuffer<'static>,
    received: Arc<Mutex<Vec<Start>>>,
    missed: u64,
    object: Object,
}

impl Watcher {
    /// Begins now: connections that are past their start-up by then are left alone.
    ///
    /// # Errors
    ///
    /// The kernel refuses the programs: it is older than 5.19, has no BTF, or this process lacks `CAP_BPF` and `CAP_PERFMON`.
    pub fn load() -> Result<Self, LoadError> {
        let open = || ObjectBuilder::default().name("ramp_starts")?.open_memory(STARTS);
        let object =
            explained("loading the programs that watch start-ups", || open().and_then(OpenObject::load))?;
        let (links, table) = explained("attaching the programs that watch start-ups", || {
            let (mut links, mut table) = (Vec::new(), None);
            for program in object.progs_mut() {
                let link = program.attach()?;
                if program.name() == OsStr::new(TABLE) { table = Some(link) } else { links.push(link) }
            }
            Ok((links, table.expect("the object has its table")))
        })?;
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&received);
        let ring = explained("mapping the ring buffer", || {
            let map =
                object.maps().find(|map| map.name() == OsStr::new(EXITS)).expect("it has a ring buffer");
            let mut builder = RingBufferBuilder::new();
            builder.add(&map, move |bytes: &[u8]| {
                lock(&kept).extend(read::<Start>(bytes));
                0
            })?;
            builder.build()
        })?;
        let table = Table::Link(Arc::new(Mutex::new(table)));
        Ok(Self { _links: links, table, ring, received, missed: 0, object })
    }

    /// One look; without `flows` the connections in start-up are left out, which takes no time for those that are open.
    pub fn look(&mut self, flows: bool) -> io::Result<Starts> {
        match self.ring.consume() {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(io::Error::other(error)),
            _ => {}
        }
        let lost = self.counters()?.lost;
        let missed = lost.saturating_sub(mem::replace(&mut self.missed, lost));
        let exits = mem::take(&mut *lock(&self.received));
        let flows = if flows { self.table.rows()? } else { Vec::new() };
        Ok(Starts { flows, exits, missed })
    }

    fn counters(&self) -> io::Result<Counters> {
        let map =
            self.object.maps().find(|map| map.name() == OsStr::new(COUNTERS)).expect("the object counts");
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(io::Error::other)?;
        let counters = bytes.as_deref().and_then(read);
        counters.ok_or_else(|| io::Error::other("the counters of start-ups have an unexpected size"))
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

fn lock(received: &Mutex<Vec<Start>>) -> MutexGuard<'_, Vec<Start>> {
    received.lock().unwrap_or_else(PoisonError::into_inner)
}
