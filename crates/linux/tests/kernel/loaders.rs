//! What becomes of programs, maps and names when their loader lets go, dies or may not load at all.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use std::{env, io};

use libbpf_rs::query::MapInfoIter;
use nix::sys::resource::{Resource, setrlimit};
use rampcc::algorithm;
use rampcc_linux::{Event, Loaded, Options, Record, load};

use crate::support::left_out::{complete, repeated};
use crate::support::ready::unobstructed;
use crate::support::{Bottleneck, Network, Open, ready, small};
use crate::{MEGABYTES, links_exist, put_in, settled};

/// Registered the old way, an algorithm stays until it is detached by name.
pub(crate) const NO_LINKS: &str = "this kernel registers without links";

#[test]
fn a_thousand_connections_leave_nothing_behind() {
    let Some(()) = ready() else { return };
    setrlimit(Resource::RLIMIT_NOFILE, 4096, 4096).expect("room for sockets");
    repeated(|| leave_nothing_behind(if small() { 200 } else { 1000 }));
}

fn leave_nothing_behind(connections: usize) {
    let network = Network::new(Bottleneck::None);
    let loaded = put_in(algorithm("best").expect("a row"), "d", Record::Flows);
    let onlooker = loaded.onlooker().expect("what anybody may look at");
    assert_eq!(network.crowd(loaded.name(), connections, 20_000), connections as u64 * 20_000);
    let all = connections as u64;
    let (events, counters) = settled(&loaded, all);
    // Nine in ten: among so many some meet a moment in which the kernel leaves out a callback.
    complete(counters.opened >= all * 9 / 10 && counters.closed >= all * 9 / 10, counters);
    assert!(counters.opened + counters.late <= all && counters.closed <= counters.opened, "{counters:?}");
    assert_eq!((counters.without_storage, counters.lost_events), (0, 0));
    // Emulated in virtual time, none does.
    assert!(!small() || (counters.closed, counters.left_out) == (all, 0), "{counters:?}");
    let closes = events.iter().filter(|event| matches!(event, Event::Close(_))).count();
    assert_eq!(closes as u64, counters.closed);
    assert!(onlooker.table().expect("the table").is_empty(), "storage that no connection has");
    drop(onlooker);
    let maps = maps_of(&loaded);
    let name = loaded.name().to_owned();
    drop(loaded);
    assert!(!network.offers(&name));
    freed(&maps);
}

fn maps_of(loaded: &Loaded) -> BTreeSet<u32> {
    let maps: BTreeSet<_> = loaded.map_ids().into_iter().collect();
    assert!(maps.len() >= 4 && maps.is_subset(&all_maps()), "{maps:?}");
    maps
}

fn all_maps() -> BTreeSet<u32> {
    MapInfoIter::default().map(|info| info.id).collect()
}

/// The kernel frees maps some grace periods after their last user.
fn freed(maps: &BTreeSet<u32>) {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    for _ in 0..600 {
        if maps.is_disjoint(&all_maps()) {
            return;
        }
        let _ = never.recv_timeout(Duration::from_millis(100));
    }
    panic!("maps stay: {maps:?}");
}

/// The test that is a loader itself where the environment names what it is to load.
const CHILD: &str = "loaders::killed_while_connections_run_a_loader_leaves_only_them";

/// Another process of this program, which is a [`child`].
struct Loader {
    process: Child,
    says: BufReader<std::process::ChildStdout>,
}

impl Loader {
    fn start(name: &str, prefix: &[&str]) -> Self {
        let program = env::current_exe().expect("this program");
        let mut words =
            prefix.iter().copied().map(std::ffi::OsString::from).chain([program.into_os_string()]);
        let mut process = Command::new(words.next().expect("at least the program"))
            .args(words)
            .args(["--exact", CHILD, "--nocapture", "--test-threads", "1"])
            .env("RAMP_CHILD", name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let says = BufReader::new(process.stdout.take().expect("piped"));
        Self { process, says }
    }

    /// The rest of the first line that tells of loading.
    fn outcome(&mut self) -> String {
        let mut line = String::new();
        while self.says.read_line(&mut line).expect("a line") > 0 {
            if let Some((_, outcome)) = line.trim_end().split_once("outcome: ") {
                return outcome.to_owned();
            }
            line.clear();
        }
        panic!("the other process said nothing");
    }

    /// What it says, and that it detached: registered the old way, a name outlives a process that is killed.
    fn outcome_and_end(mut self) -> String {
        let outcome = self.outcome();
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        outcome
    }
}

impl Drop for Loader {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Loads and holds what the environment names; whether it named something.
#[expect(clippy::disallowed_methods, reason = "it is told what to do through its environment")]
fn child() -> bool {
    let Ok(name) = env::var("RAMP_CHILD") else { return false };
    let best = algorithm("best").expect("a row");
    let mut options = Options::new(best);
    options.name = Some(name);
    match load(best, &options) {
        Ok(loaded) => {
            println!("outcome: loaded {:?}", loaded.map_ids());
            // Until it is killed, or its input ends.
            let _ = io::stdin().read(&mut [0]);
        }
        Err(error) => println!("outcome: {error}"),
    }
    true
}

#[test]
fn killed_while_connections_run_a_loader_leaves_only_them() {
    if child() {
        return;
    }
    let Some(()) = ready().and_then(|()| unobstructed((!links_exist()).then_some(NO_LINKS))) else { return };
    let network = Network::new(Bottleneck::Queue(1_000_000));
    let mut loader = Some(Loader::start("rk_best", &[]));
    let said = loader.as_mut().expect("running").outcome();
    assert!(said.starts_with("loaded ["), "{said}");
    let numbers = said.trim_start_matches("loaded [").trim_end_matches(']').split(", ");
    let maps: BTreeSet<u32> = numbers.map(|number| number.parse().expect("a number")).collect();
    assert!(network.offers("rk_best") && maps.is_subset(&all_maps()));
    let arrived = network.transfer_with("rk_best", Open::Active, 4 * MEGABYTES, |_, written| {
        if written > MEGABYTES {
            drop(loader.take());
        }
    });
    assert_eq!((arrived, loader.is_none()), (4 * MEGABYTES, true));
    // Its connection kept all it needed, and with that one everything goes.
    freed(&maps);
    assert!(!network.offers("rk_best"));
}

#[test]
fn each_missing_capability_is_named() {
    let Some(()) = ready() else { return };
    for (missing, without) in [
        ("CAP_BPF", "-sys_admin,-bpf"),
        ("CAP_PERFMON", "-sys_admin,-perfmon"),
        ("CAP_BPF and CAP_NET_ADMIN and CAP_PERFMON", "-all"),
    ] {
        let bounds = format!("--bounding-set={without}");
        let outcome = Loader::start("rl_best", &["setpriv", &bounds]).outcome_and_end();
        assert!(outcome.starts_with(&format!("missing {missing}: ")), "{without}: {outcome}");
    }
    // Some kernels ask for it (6.18 does not).
    let outcome =
        Loader::start("rl_best", &["setpriv", "--bounding-set=-sys_admin,-net_admin"]).outcome_and_end();
    assert!(outcome.starts_with("loaded ") || outcome.starts_with("missing CAP_NET_ADMIN: "), "{outcome}");
    let enough = "--bounding-set=-all,+bpf,+net_admin,+perfmon";
    let outcome = Loader::start("rl_best", &["setpriv", enough]).outcome_and_end();
    assert!(outcome.starts_with("loaded "), "{outcome}");
}
