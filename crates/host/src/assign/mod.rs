//! New connections of a control group get a congestion control drawn at random.

mod event;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter};
use libbpf_rs::{Link, MapCore, MapFlags, Object, ObjectBuilder, RingBuffer, RingBufferBuilder};
use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};
use rampcc_linux::{Held, explained, read_only, share};

pub use event::{AssignCounters, AssignEvent, Done, Opened};

use crate::error::{HostError, Result};

const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/assign.bpf.o"));
/// Shares are out of this many.
pub const WHOLE: u32 = 10_000;
/// `ASSIGN_ARMS_MAX`.
pub(crate) const ARMS_MAX: usize = 8;
/// `TCP_CA_NAME_MAX` less the final zero.
const NAME_MAX: usize = 15;

/// The largest page size there is: a ring buffer on every machine.
const LEAST_RING_BYTES: u32 = 1 << 16;

const ASSIGN_ALL: u32 = 1;
const ASSIGN_RECORD: u32 = 2;

/// Programs that do the same, so that the kernel's list of programs tells a trial from an attachment.
const ASSIGNS: &str = "assign_program";
const FOLLOWS: &str = "trial_program";
const SETTINGS: &str = ".rodata.settings";
const COUNTERS: &str = ".bss.counters";
const OVER: &str = ".bss.over";
const EVENTS: &str = "events";
/// What is pinned, and its names in the directory.
const PINNED_LINK: &str = "assign";
const PINNED_COUNTERS: &str = "assigned";

/// One of the congestion controls that connections are drawn for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignArm {
    /// Its name in the kernel.
    pub control: String,
    /// Its share of the connections, out of [`WHOLE`].
    pub share: u32,
}

/// Options of assigning connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AssignOptions {
    /// Also connections whose application, or another BPF program, has chosen by itself.
    pub all: bool,
    /// Tell the beginning and the end of every connection: [`Assign::drain`].
    pub record: bool,
}

/// New connections of a control group, and of those below it, are being assigned.
///
/// Both kinds of open, at the end of the handshake. A connection keeps what its application has chosen by
/// `TCP_CONGESTION` (for accepted ones: on the listener), unless [`AssignOptions::all`]. Dropping this ends it,
/// and so does the end of the process, unless it was pinned; connections keep what they were given.
pub struct Assign {
    // Fields drop in this order: no more connections before the maps go.
    link: Link,
    ring: Option<RingBuffer<'static>>,
    received: Arc<Mutex<Received>>,
    object: Object,
}

#[derive(Default)]
struct Received {
    events: Vec<AssignEvent>,
    unknown: u64,
}

impl Assign {
    /// Begins with the next connection.
    pub fn attach(cgroup: &Path, arms: &[AssignArm], options: AssignOptions) -> Result<Self> {
        check(arms)?;
        let directory = open_cgroup(cgroup)?;
        let settings = settings(arms, options);
        let (object, link) = explained("loading the program that assigns connections", || {
            let mut open = ObjectBuilder::default().name("ramp_assign")?.open_memory(OBJECT)?;
            for mut map in open.maps_mut() {
                match map.name().to_str() {
                    Some(SETTINGS) => map.set_initial_value(&settings)?,
                    Some(EVENTS) if !options.record => map.set_max_entries(LEAST_RING_BYTES)?,
                    _ => {}
                }
            }
            let wanted = if options.record { FOLLOWS } else { ASSIGNS };
            for mut program in open.progs_mut() {
                let autoload = program.name() == wanted;
                program.set_autoload(autoload);
            }
            let object = open.load()?;
            let program = object.progs_mut().find(|program| program.name() == wanted);
            let link = program.expect("the object has it").attach_cgroup(directory.as_raw_fd())?;
            Ok((object, link))
        })?;
        let mut assign = Self { link, ring: None, received: Arc::default(), object };
        if options.record {
            assign.listen().map_err(bpf("map the ring buffer"))?;
        }
        Ok(assign)
    }

    /// Leaves new connections alone from now on; those that were assigned are still followed.
    pub fn close(&self) -> Result {
        let map = self.object.maps().find(|map| map.name() == OVER).expect("the object has its switch");
        map.update(&0u32.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY).map_err(bpf("end the assignment"))
    }

    /// Whether another one records what becomes of its connections in one of these control groups, as far as this process
    /// may know: without `CAP_SYS_ADMIN` it may not.
    pub(crate) fn has_rival(&self, groups: &BTreeSet<u64>) -> Result<bool> {
        let own = self.link.info().map_err(bpf("look at the link"))?.id;
        let trials: BTreeSet<u32> = ProgInfoIter::default()
            .filter(|program| program.name == FOLLOWS)
            .map(|program| program.id)
            .collect();
        Ok(LinkInfoIter::default().any(|link| {
            let there =
                matches!(&link.info, LinkTypeInfo::Cgroup(found) if groups.contains(&found.cgroup_id));
            there && link.id != own && trials.contains(&link.prog_id)
        }))
    }

    /// Assignments so far.
    pub fn counters(&self) -> Result<AssignCounters> {
        let map =
            self.object.maps().find(|map| map.name() == COUNTERS).expect("the object counts what it assigns");
        counters(&map)
    }

    /// Everything recorded since the last call, in order; waits up to `patience` for the first.
    pub fn drain(&self, patience: Duration) -> Result<Vec<AssignEvent>> {
        if let Some(ring) = &self.ring {
            ring.consume().map_err(bpf("read the ring buffer"))?;
            if !patience.is_zero() && lock(&self.received).events.is_empty() {
                match ring.poll(patience) {
                    Err(error) if error.kind() != libbpf_rs::ErrorKind::Interrupted => {
                        return Err(bpf("read the ring buffer")(error));
                    }
                    _ => {}
                }
            }
        }
        let mut received = lock(&self.received);
        if received.unknown > 0 {
            let cause = io::Error::other(format!("{} events of an unknown kind", received.unknown));
            return Err(HostError::system::<io::Error>("read the ring buffer")(cause));
        }
        Ok(std::mem::take(&mut received.events))
    }

    /// Lets the assignment outlive this process, by names in an existing directory of a BPF file system.
    ///
    /// [`Assign::detach_pinned`] takes it back.
    pub fn pin(mut self, directory: &Path) -> Result {
        let pinned = directory.join(PINNED_COUNTERS);
        for mut map in self.object.maps_mut() {
            if map.name() == COUNTERS {
                map.pin(&pinned).map_err(bpf("pin the counters"))?;
                share(&pinned).map_err(HostError::file("share", &pinned))?;
            }
        }
        let result = self.link.pin(directory.join(PINNED_LINK)).map_err(bpf("pin the link"));
        if result.is_err() {
            // The link dies with this process; the counters alone would mean nothing.
            let _ = fs::remove_file(pinned);
        }
        result
    }

    /// Counters of a pinned assignment so far.
    pub fn pinned_counters(directory: &Path) -> Result<AssignCounters> {
        let pinned = directory.join(PINNED_COUNTERS);
        let map = read_only(&pinned).map_err(HostError::file("open", &pinned))?;
        counters(&map)
    }

    /// True if [`Assign::pin`] has left an assignment in a directory.
    pub fn is_pinned(directory: &Path) -> bool {
        directory.join(PINNED_LINK).exists()
    }

    /// Ends what [`Assign::pin`] left in a directory; nothing there is no error.
    pub fn detach_pinned(directory: &Path) -> Result {
        let link = directory.join(PINNED_LINK);
        if let Some(held) = Held::open(&link).map_err(HostError::file("open", &link))? {
            // Acts at once; removing the last name alone would act a moment later.
            let opened = Link::open(held.path()).map_err(bpf("open the pinned link"))?;
            opened.detach().map_err(bpf("detach from the control group"))?;
        }
        for path in [link, directory.join(PINNED_COUNTERS)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(HostError::file("remove", &path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn listen(&mut self) -> libbpf_rs::Result<()> {
        let received = Arc::clone(&self.received);
        let map = self.object.maps().find(|map| map.name() == EVENTS).expect("the object has a ring buffer");
        let mut builder = RingBufferBuilder::new();
        builder.add(&map, move |bytes: &[u8]| {
            let mut received = lock(&received);
            match AssignEvent::parse(bytes) {
                Some(event) => received.events.push(event),
                None => received.unknown += 1,
            }
            0
        })?;
        self.ring = Some(builder.build()?);
        Ok(())
    }
}

fn counters(map: &impl MapCore) -> Result<AssignCounters> {
    let bytes =
        map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(bpf("read the counters"))?.unwrap_or_default();
    AssignCounters::parse(&bytes).ok_or_else(|| {
        HostError::system::<io::Error>("read the counters")(io::Error::other("they have an unexpected size"))
    })
}

fn check(arms: &[AssignArm]) -> Result {
    let total: u64 = arms.iter().map(|arm| u64::from(arm.share)).sum();
    if arms.is_empty() || arms.len() > ARMS_MAX || total != u64::from(WHOLE) {
        return Err(HostError::input(
            format!("{} arms with shares of {total} in all cannot be assigned", arms.len()),
            format!("1 to {ARMS_MAX} arms, whose shares make {WHOLE}"),
        ));
    }
    if let Some(arm) = arms.iter().find(|arm| NEGOTIATE_ECN.contains(&arm.control.as_str())) {
        return Err(HostError::input(
            format!("{} would come too late: it negotiates ECN in the handshake", arm.control),
            "connections are assigned when the handshake is over: choose another congestion control",
        ));
    }
    let available = fs::read_to_string(AVAILABLE).map_err(HostError::file("read", AVAILABLE.as_ref()))?;
    for AssignArm { control, .. } in arms {
        if control.len() > NAME_MAX || !available.split_whitespace().any(|name| name == control) {
            return Err(HostError::input(
                format!("this kernel has no congestion control {control:?}"),
                format!("available: {}", available.trim()),
            ));
        }
    }
    Ok(())
}

/// Congestion controls with `TCP_CONG_NEEDS_ECN`, which the kernel does not tell.
const NEGOTIATE_ECN: [&str; 2] = ["dctcp", "prague"];

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

fn open_cgroup(path: &Path) -> Result<File> {
    let directory = File::open(path).map_err(HostError::file("open the control group", path))?;
    let kind = statfs(path).map_err(|e| HostError::file("examine", path)(e.into()))?.filesystem_type();
    if kind != CGROUP2_SUPER_MAGIC {
        return Err(HostError::input(
            format!("{} is not a control group of version 2", path.display()),
            "a directory below the mount of type cgroup2, mostly /sys/fs/cgroup or /sys/fs/cgroup/unified",
        ));
    }
    Ok(directory)
}

/// `struct assign_settings` of `bpf/assign.h`.
fn settings(arms: &[AssignArm], options: AssignOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut upto = 0;
    for index in 0..ARMS_MAX {
        let mut name = [0; NAME_MAX + 1];
        if let Some(arm) = arms.get(index) {
            name[..arm.control.len()].copy_from_slice(arm.control.as_bytes());
            upto += arm.share;
        }
        bytes.extend(name);
        bytes.extend(upto.to_ne_bytes());
        bytes.extend(0u32.to_ne_bytes());
    }
    let flags = if options.all { ASSIGN_ALL } else { 0 } | if options.record { ASSIGN_RECORD } else { 0 };
    bytes.extend((arms.len() as u32).to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes
}

/// For `map_err` on what libbpf does.
fn bpf(action: &'static str) -> impl FnOnce(libbpf_rs::Error) -> HostError {
    move |cause| HostError::system::<io::Error>(action)(io::Error::other(cause))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
