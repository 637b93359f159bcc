//! Into the kernel and out again.

use std::ffi::OsStr;
use std::fmt;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, io};

use libbpf_rs::query::ProgInfoIter;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, OpenObject, PrintCallback,
    PrintLevel, RingBuffer, RingBufferBuilder, set_print,
};
use rampcc::{Algorithm, LINUX_LACKS};

use crate::error::LoadError;
use crate::event::{Counters, Event};
use crate::onlooker::{Onlooker, Table};
use crate::options::{Access, Options, Record};
use crate::pinned::{detach_pinned, held, share};

include!(concat!(env!("OUT_DIR"), "/objects.rs"));

/// `BPF_F_LINK` (Linux 6.4): the registration lives and dies with a link.
pub(crate) const BPF_F_LINK: u32 = 1 << 13;
/// The largest page size there is: a ring buffer on every machine.
const LEAST_RING_BYTES: u32 = 1 << 16;
/// `TCP_CA_NAME_MAX` less the final zero.
const NAME_MAX: usize = 15;

/// Of our `struct tcp_congestion_ops`, after the name.
const FLAGS: std::ops::Range<usize> = NAME_MAX + 1..NAME_MAX + 5;

const OPERATIONS: &str = "startup";
const SETTINGS: &str = ".rodata.settings";
const COUNTERS: &str = ".bss.counters";
pub(crate) const EVENTS: &str = "events";
pub(crate) const FLOWS: &str = "flows";
pub(crate) const EXITS: &str = "exits";
/// Of rows that need it.
pub(crate) const HISTORY: &str = "history";
/// Iterator over connections in start-up, of all network namespaces.
const TABLE: &str = "startup_table";
/// The same of the reader's network namespace alone.
const TABLE_HERE: &str = "startup_table_here";
/// Set once the kernel has refused [`TABLE`], and taken the other: hardened ones refuse iterators over socket storage.
static ONLY_HERE: AtomicBool = AtomicBool::new(false);
/// Names in a directory of pins; `events`, `flows` and `exits` keep theirs.
pub(crate) const PINNED_LINK: &str = "link";
pub(crate) const PINNED_OPERATIONS: &str = "operations";
pub(crate) const PINNED_COUNTERS: &str = "counters";
pub(crate) const PINNED_TABLE: &str = "table";

/// The compiled BPF object of an algorithm; `None`: no row of the registry.
pub fn bpf_object(id: &str) -> Option<&'static [u8]> {
    OBJECTS.iter().find(|(known, _)| *known == id).map(|(_, object)| *object)
}

/// Does something with libbpf, and where that fails finds the cause in what libbpf and verifier said.
pub fn explained<T>(what: &'static str, work: impl FnOnce() -> libbpf_rs::Result<T>) -> Result<T, LoadError> {
    let heard = Listening::begin();
    work().map_err(|source| LoadError::explain(what, source, heard.so_far()))
}

/// Loads an algorithm and registers it under its name.
///
/// Where the kernel knows no links for congestion controls (before 6.4) it is registered the old way, which differs
/// in one thing: a process that dies without detaching leaves it behind.
pub fn load(algorithm: &'static Algorithm, options: &Options) -> Result<Loaded, LoadError> {
    let heard = Listening::begin();
    let mut loaded = prepare(algorithm, options, &heard)?;
    loaded.register(&heard)?;
    loaded
        .listen()
        .map_err(|source| LoadError::explain("mapping the ring buffer", source, heard.so_far()))?;
    Ok(loaded)
}

/// Loads an algorithm and registers it so that it outlives this process.
///
/// Its maps and its registration get names in a new directory of a BPF file system, and have them before the
/// registration exists: whenever this process dies, [`detach_pinned`] on the directory undoes what it did.
/// [`Pinned`](crate::Pinned) reads what is there.
pub fn load_pinned(
    algorithm: &'static Algorithm,
    options: &Options,
    directory: &Path,
) -> Result<Loaded, LoadError> {
    let heard = Listening::begin();
    let mut loaded = prepare(algorithm, options, &heard)?;
    let pinning = |cause| LoadError::Pin { directory: directory.to_path_buf(), cause };
    make_directory(directory).map_err(pinning)?;
    let done = loaded
        .pin_maps(directory)
        .map_err(pinning)
        .and_then(|()| loaded.register(&heard))
        .and_then(|()| loaded.pin_link(directory).map_err(pinning));
    match done {
        Ok(()) => Ok(loaded),
        Err(error) => {
            // What went wrong is reported; the directory only holds our own names.
            let _ = detach_pinned(directory);
            Err(error)
        }
    }
}

/// Checks that an algorithm could be loaded: past the verifier and out again, never registered.
pub fn probe(algorithm: &'static Algorithm, options: &Options) -> Result<(), LoadError> {
    prepare(algorithm, options, &Listening::begin()).map(|_| ())
}

/// In the kernel, but not yet registered.
fn prepare(algorithm: &'static Algorithm, options: &Options, heard: &Listening) -> Result<Loaded, LoadError> {
    if let Some(unmet) = algorithm.unmet(LINUX_LACKS).next() {
        let need = unmet.need.words().next().unwrap_or_default();
        return Err(LoadError::Unmet { algorithm: algorithm.id, need, reason: unmet.reason });
    }
    let name = options.name.clone().unwrap_or_else(|| format!("ramp_{}", algorithm.id));
    if !valid_name(&name) {
        return Err(LoadError::Name { name });
    }
    let mut said_before = 0;
    let mut load = |table| {
        let with = |link| open(algorithm, &name, options, link, table).and_then(OpenObject::load);
        with(options.link).map(|object| (object, options.link)).or_else(|_| {
            // Other trouble than the link's comes again, and alone.
            said_before = heard.so_far().len();
            with(false).map(|object| (object, false))
        })
    };
    let mut table = if ONLY_HERE.load(Ordering::Relaxed) { TABLE_HERE } else { TABLE };
    let mut loaded = load(table);
    if table == TABLE && loaded.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
        table = TABLE_HERE;
        loaded = load(table);
        ONLY_HERE.store(loaded.is_ok(), Ordering::Relaxed);
    }
    let (object, linked) = loaded.map_err(|error| {
        LoadError::explain("loading the program", error, heard.so_far().split_off(said_before))
    })?;
    let table = attach_table(&object, table)
        .map_err(|source| LoadError::explain("attaching the iterator", source, heard.so_far()))?;
    Ok(Loaded {
        algorithm,
        name,
        link: None,
        table: Arc::new(Mutex::new(table)),
        ring: Mutex::new(None),
        received: Arc::default(),
        object,
        linked,
    })
}

/// An algorithm in the kernel, registered under [`Loaded::name`].
///
/// Dropping it takes the name away, unless it was pinned. Connections that use the algorithm keep it until they
/// close: the kernel frees programs and maps after the last one.
pub struct Loaded {
    algorithm: &'static Algorithm,
    name: String,
    linked: bool,
    // Fields drop in this order: the name goes before the maps.
    link: Option<Link>,
    table: Arc<Mutex<Link>>,
    ring: Mutex<Option<RingBuffer<'static>>>,
    received: Arc<Mutex<Received>>,
    object: Object,
}

#[derive(Default)]
struct Received {
    events: Vec<Event>,
    unknown: u64,
}

/// Cost of one callback, from the kernel's own statistics (`sysctl kernel.bpf_stats_enabled=1`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Name of the callback.
    pub callback: String,
    /// Number of calls.
    pub calls: u64,
    /// For how long in all, the statistics' own cost included.
    pub total: Duration,
    /// Instructions that the verifier looked at.
    pub verified_instructions: u32,
}

impl Loaded {
    /// Name to set as `TCP_CONGESTION`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Algorithm.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// True if the registration belongs to a link, so that it vanishes with this process.
    pub fn linked(&self) -> bool {
        self.linked
    }

    /// True if the program can space packets at a rate that the algorithm sets.
    pub fn paces(&self) -> bool {
        self.object.progs().any(|program| program.name() == OsStr::new("startup_min_tso_segs"))
    }

    /// Totals over all connections.
    pub fn counters(&self) -> io::Result<Counters> {
        let map = self.map(COUNTERS)?;
        let bytes = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(io::Error::other)?;
        bytes
            .and_then(|bytes| Counters::parse(&bytes))
            .ok_or_else(|| io::Error::other("the counters do not have the expected size"))
    }

    /// Gives out all events that have come since the last call, in order; waits up to `patience` for the first.
    ///
    /// Per-ACK events wake no reader: ask at least every few hundred milliseconds while they are recorded.
    pub fn drain(&self, patience: Duration) -> io::Result<Vec<Event>> {
        if let Some(ring) = &*lock(&self.ring) {
            ring.consume().map_err(io::Error::other)?;
            if !patience.is_zero() && lock(&self.received).events.is_empty() {
                match ring.poll(patience) {
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(io::Error::other(error)),
                }
                ring.consume().map_err(io::Error::other)?;
            }
        }
        let mut received = lock(&self.received);
        if received.unknown > 0 {
            return Err(io::Error::other(format!("{} events of an unknown kind", received.unknown)));
        }
        Ok(std::mem::take(&mut received.events))
    }

    /// Sees what happens, without taking events from [`Self::drain`].
    pub fn onlooker(&self) -> io::Result<Onlooker> {
        let handle = |name| MapHandle::try_from(&self.map(name)?).map_err(io::Error::other);
        Ok(Onlooker {
            table: Table::Link(Arc::clone(&self.table)),
            counters: handle(COUNTERS)?,
            exits: handle(EXITS)?,
        })
    }

    /// Number of places of which it remembers something; `None`: it needs no history.
    pub fn places(&self) -> Option<usize> {
        self.object.maps().find(|map| map.name() == OsStr::new(HISTORY)).map(|map| held(&map))
    }

    /// The kernel's numbers of its maps, as `bpftool map` shows them.
    pub fn map_ids(&self) -> Vec<u32> {
        self.object.maps().filter_map(|map| map.info().ok()).map(|info| info.info.id).collect()
    }

    /// Cost of the callbacks so far.
    pub fn costs(&self) -> Vec<Cost> {
        // The kernel keeps 15 bytes of a program's name.
        let names: Vec<_> = self
            .object
            .progs()
            .filter_map(|program| {
                let id = libbpf_rs::Program::id_from_fd(program.as_fd()).ok()?;
                Some((id, program.name().to_string_lossy().into_owned()))
            })
            .collect();
        let mut costs: Vec<_> = ProgInfoIter::default()
            .filter_map(|info| {
                let (_, name) = names.iter().find(|(id, _)| *id == info.id)?;
                Some(Cost {
                    callback: name.strip_prefix("startup_").unwrap_or(name).to_owned(),
                    calls: info.run_cnt,
                    total: Duration::from_nanos(info.run_time_ns),
                    verified_instructions: info.verified_insns,
                })
            })
            .collect();
        costs.sort_by(|a, b| a.callback.cmp(&b.callback));
        costs
    }

    /// Lets the registration outlive this process, by names in a new directory of a BPF file system.
    ///
    /// [`detach_pinned`] takes it back, and [`Pinned`](crate::Pinned) reads what is there.
    pub fn pin(mut self, directory: &Path) -> io::Result<()> {
        make_directory(directory)?;
        let result = self.pin_maps(directory).and_then(|()| self.pin_link(directory));
        if result.is_err() {
            // What went wrong is reported; the directory only holds our own names.
            let _ = detach_pinned(directory);
        }
        result
    }

    /// Takes the name away. Running connections finish with the algorithm they have.
    pub fn detach(mut self) {
        self.link = None;
    }

    fn pin_maps(&mut self, directory: &Path) -> io::Result<()> {
        for mut map in self.object.maps_mut() {
            let name = match map.name().to_str() {
                Some(COUNTERS) => PINNED_COUNTERS,
                Some(EVENTS) => EVENTS,
                Some(FLOWS) => FLOWS,
                Some(EXITS) => EXITS,
                Some(HISTORY) => HISTORY,
                Some(OPERATIONS) => PINNED_OPERATIONS,
                _ => continue,
            };
            let path = directory.join(name);
            map.pin(&path).map_err(io::Error::other)?;
            if name == PINNED_COUNTERS {
                share(&path)?;
            }
        }
        lock(&self.table).pin(directory.join(PINNED_TABLE)).map_err(io::Error::other)
    }

    fn pin_link(&mut self, directory: &Path) -> io::Result<()> {
        let Some(mut link) = self.link.take() else { return Ok(()) };
        if self.linked {
            // Dropped here: the pin alone holds it now.
            link.pin(directory.join(PINNED_LINK)).map_err(io::Error::other)
        } else {
            link.disconnect();
            Ok(())
        }
    }

    fn register(&mut self, heard: &Listening) -> Result<(), LoadError> {
        self.attach().map_err(|source| {
            if source.kind() == ErrorKind::AlreadyExists {
                LoadError::NameTaken { name: self.name.clone() }
            } else {
                LoadError::explain("registering the congestion control", source, heard.so_far())
            }
        })
    }

    fn attach(&mut self) -> libbpf_rs::Result<()> {
        for mut map in self.object.maps_mut() {
            if map.name() == OsStr::new(OPERATIONS) {
                self.link = Some(map.attach_struct_ops()?);
            }
        }
        Ok(())
    }

    fn listen(&mut self) -> libbpf_rs::Result<()> {
        let received = Arc::clone(&self.received);
        let algorithm = self.algorithm;
        let Some(map) = self.object.maps().find(|map| map.name() == OsStr::new(EVENTS)) else {
            return Ok(());
        };
        let mut builder = RingBufferBuilder::new();
        builder.add(&map, move |bytes: &[u8]| {
            let mut received = lock(&received);
            match Event::parse(bytes, algorithm) {
                Some(event) => received.events.push(event),
                None => received.unknown += 1,
            }
            0
        })?;
        self.ring = Mutex::new(Some(builder.build()?));
        Ok(())
    }

    fn map(&self, name: &str) -> io::Result<libbpf_rs::Map<'_>> {
        self.object
            .maps()
            .find(|map| map.name() == OsStr::new(name))
            .ok_or_else(|| io::Error::other(format!("the object has no map {name}")))
    }
}

impl fmt::Debug for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loaded")
            .field("name", &self.name)
            .field("linked", &self.linked)
            .finish_non_exhaustive()
    }
}

/// Searchable by everybody and written by the owner, whatever the umask.
fn make_directory(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// The iterator over connections in start-up.
fn attach_table(object: &Object, name: &str) -> libbpf_rs::Result<Link> {
    let flows = object.maps().find(|map| map.name() == OsStr::new(FLOWS));
    let table = object.progs_mut().find(|program| program.name() == OsStr::new(name));
    let (flows, table) = flows.zip(table).expect("the object has its table of connections");
    table.attach_iter(flows.as_fd())
}

fn open(
    algorithm: &Algorithm,
    name: &str,
    options: &Options,
    link: bool,
    table: &str,
) -> libbpf_rs::Result<OpenObject> {
    let own = options.object.as_deref().or_else(|| bpf_object(algorithm.id));
    let bytes = own.expect("the build compiles every row of the registry, and others bring their object");
    let mut object = ObjectBuilder::default().name("ramp")?.open_memory(bytes)?;
    for mut program in object.progs_mut() {
        let other = if table == TABLE { TABLE_HERE } else { TABLE };
        if program.name() == OsStr::new(other) {
            program.set_autoload(false);
        }
    }
    for mut map in object.maps_mut() {
        match map.name().to_str() {
            Some(SETTINGS) => map.set_initial_value(&options.settings(algorithm))?,
            Some(EVENTS) if options.record == Record::Nothing => map.set_max_entries(LEAST_RING_BYTES)?,
            Some(EVENTS) => map.set_max_entries(options.ring_bytes)?,
            Some(OPERATIONS) => {
                if let Some(operations) = map.initial_value_mut() {
                    name_operations(operations, name);
                    if options.access == Access::Privileged {
                        operations[FLAGS].fill(0);
                    }
                }
                map.set_map_flags(if link { BPF_F_LINK } else { 0 })?;
            }
            _ => {}
        }
    }
    Ok(object)
}

/// True if a congestion control may have this name.
pub fn valid_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(plain)
}

/// The name is the first member of our `struct tcp_congestion_ops`.
pub(crate) fn name_operations(operations: &mut [u8], name: &str) {
    operations[..=NAME_MAX].fill(0);
    operations[..name.len()].copy_from_slice(name.as_bytes());
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// libbpf reports through one function for the whole process; while this lives, it is ours.
struct Listening {
    previous: Option<(PrintLevel, PrintCallback)>,
    heard: &'static Mutex<String>,
    _turn: std::sync::MutexGuard<'static, ()>,
}

static TURN: Mutex<()> = Mutex::new(());
static HEARD: Mutex<String> = Mutex::new(String::new());

impl Listening {
    fn begin() -> Self {
        let turn = lock(&TURN);
        lock(&HEARD).clear();
        let previous = set_print(Some((PrintLevel::Info, |_, text| lock(&HEARD).push_str(&text))));
        Self { previous, heard: &HEARD, _turn: turn }
    }

    fn so_far(&self) -> String {
        lock(self.heard).clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        set_print(self.previous);
    }
}
