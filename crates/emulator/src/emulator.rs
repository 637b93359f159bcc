//! A running path.

use std::io;
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use rampcc_scenario::Scenario;

use crate::engine::{Engine, Played, Stop};
use crate::namespace::{HostSettings, HostTcp, Namespace};
use crate::network::{Network, Recorded};
use crate::options::Options;
use crate::plan::{Buffers, End, Host, Plan};
use crate::privileges::missing_capabilities;
use crate::report::{ErrorReport, Lateness, LinkReport, Verdict, tolerated};
use crate::{Clock, EmulatorError, Result};

/// Starts emulated paths.
#[derive(Debug)]
pub struct Emulator;

/// Two namespaces with a path between them whose time has not begun: packets wait.
#[derive(Debug)]
pub struct Ready {
    namespaces: [Namespace; 2],
    devices: [OwnedFd; 2],
    plan: Plan,
    scenario: Scenario,
    seed: u64,
    options: Options,
}

/// A path that is being played. Dropping it ends it, as does the end of the process.
#[derive(Debug)]
pub struct Running {
    namespaces: [Namespace; 2],
    plan: Plan,
    tcp: HostTcp,
    scenario: Scenario,
    clock: Clock,
    stop: Arc<Stop>,
    thread: Option<JoinHandle<io::Result<Played>>>,
}

impl Emulator {
    /// Makes two namespaces and plays the links of `scenario` between them from now on, as the run with this seed.
    ///
    /// Needs `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`, here or within a user namespace.
    pub fn start(scenario: &Scenario, seed: u64, options: &Options) -> Result<Running> {
        Self::ready(scenario, seed, options)?.start()
    }

    /// The same, up to the moment before time begins.
    pub fn ready(scenario: &Scenario, seed: u64, options: &Options) -> Result<Ready> {
        let scenario = scenario.at_seed(seed);
        let plan = Plan::new(&scenario, options)?;
        if let Some(capability) = missing_capabilities().first() {
            return Err(EmulatorError::Capability { action: "emulating a path", capability });
        }
        let namespaces = [Namespace::new()?, Namespace::new()?];
        let set_up = |end: End| {
            namespaces[end as usize].set_up(&HostSettings {
                family: options.family,
                addresses: plan.addresses(end).collect(),
                mtu: plan.mtu,
                queue_packets: options.device_queue_packets,
                time_stamps: plan.time_stamps,
                buffers: plan.buffers,
                tcp: options.tcp,
            })
        };
        let devices = [set_up(End::Sender)?, set_up(End::Receiver)?];
        Ok(Ready { namespaces, devices, plan, scenario, seed, options: options.clone() })
    }
}

impl Ready {
    /// Plays the links from now on.
    pub fn start(self) -> Result<Running> {
        let Self { namespaces, devices, plan, scenario, seed, options } = self;
        let recorded = Recorded {
            queue: options.sample_queue,
            drops: options.record_drops,
            packets: options.record_packets,
        };
        let network = Network::new(&scenario, &plan, seed, recorded);
        let stop = Arc::new(Stop::new().map_err(|cause| EmulatorError::io("making an eventfd", cause))?);
        let clock = Clock::start();
        let engine = Engine {
            network,
            devices,
            mtu: plan.mtu,
            clock,
            spin: options.spin,
            back_dating: options.back_dating,
            realtime: options.realtime,
            stop: Arc::clone(&stop),
        };
        let (ready, started) = mpsc::channel();
        let thread = thread::Builder::new()
            .name("rampcc-emulator".to_owned())
            .spawn(move || engine.run(move || ready.send(()).unwrap_or_default()))
            .map_err(|cause| EmulatorError::io("starting the emulator's thread", cause))?;
        let tcp = options.tcp;
        let running = Running { namespaces, plan, tcp, scenario, clock, stop, thread: Some(thread) };
        // An error of the thread itself is reported when it is stopped.
        let _ = started.recv();
        Ok(running)
    }

    /// As [`Running::hosts`].
    pub fn hosts(&self) -> &[Host] {
        &self.plan.hosts
    }

    /// As [`Running::in_namespace`].
    pub fn in_namespace<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> Result<T> {
        in_namespace(&self.namespaces, end, work)
    }

    /// As [`Running::command`].
    pub fn command(&self, end: End, program: &str) -> Result<Command> {
        command(&self.namespaces, end, program)
    }
}

fn in_namespace<T: Send>(
    namespaces: &[Namespace; 2],
    end: End,
    work: impl FnOnce() -> T + Send,
) -> Result<T> {
    namespaces[end as usize]
        .run(work)
        .map_err(|cause| EmulatorError::io("entering a network namespace", cause))
}

fn command(namespaces: &[Namespace; 2], end: End, program: &str) -> Result<Command> {
    namespaces[end as usize]
        .command(program)
        .map_err(|cause| EmulatorError::io("copying a descriptor", cause))
}

impl Running {
    /// Time since the links' virtual time began.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The scenario as it is played: trace offsets drawn by the seed.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// End of every node that sends or receives.
    pub fn hosts(&self) -> &[Host] {
        &self.plan.hosts
    }

    /// The address of a node; `None` if no flow begins or ends there.
    ///
    /// With several hosts at one end, clients must bind to theirs: packets between other pairs are thrown away.
    pub fn address(&self, node: usize) -> Option<IpAddr> {
        self.plan.host(node).map(|host| host.address)
    }

    /// Socket buffers, as set in both namespaces.
    pub fn buffers(&self) -> Buffers {
        self.plan.buffers
    }

    /// Runs `work` in a thread that is in the namespace of `end`. Sockets made there stay there.
    pub fn in_namespace<T: Send>(&self, end: End, work: impl FnOnce() -> T + Send) -> Result<T> {
        in_namespace(&self.namespaces, end, work)
    }

    /// [`Self::in_namespace`] at the sender's end.
    pub fn in_sender<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        self.in_namespace(End::Sender, work)
    }

    /// A program that will run in the namespace of `end`, and be killed when the thread that started it ends.
    pub fn command(&self, end: End, program: &str) -> Result<Command> {
        command(&self.namespaces, end, program)
    }

    /// Servers answer connections from `node` with this congestion control: the route to its address names it.
    pub fn steer(&self, node: usize, congestion_control: &str) -> Result {
        let client = self.plan.host(node).ok_or(EmulatorError::Host { node })?;
        let servers = &self.namespaces[client.end.other() as usize];
        servers.steer(client.address, congestion_control, &self.tcp).map_err(|cause| {
            EmulatorError::io(
                format!(
                    "making a route with the congestion control `{congestion_control}` (this kernel's are in \
                     /proc/sys/net/ipv4/tcp_available_congestion_control)"
                ),
                cause,
            )
        })
    }

    /// The namespace of `end`, for `setns`.
    pub fn namespace(&self, end: End) -> BorrowedFd<'_> {
        self.namespaces[end as usize].handle()
    }

    /// A path of that namespace while this process lives, e.g. for `nsenter --net=`.
    pub fn namespace_path(&self, end: End) -> PathBuf {
        self.namespaces[end as usize].path()
    }

    /// Ends the run and tells how good it was.
    pub fn stop(mut self) -> Result<ErrorReport> {
        let played = self.join().unwrap_or_else(|| Err(io::Error::other("it was stopped before")));
        let mut played = played.map_err(|cause| EmulatorError::io("emulating the path", cause))?;
        let mut ports = played.ports;
        for (port, namespace) in ports.iter_mut().zip(&self.namespaces) {
            let drops = namespace.device_drops();
            [port.dropped_out, port.dropped_in] =
                drops.map_err(|cause| EmulatorError::io("reading the device's counters", cause))?;
        }
        let lateness = Lateness::new(&played.lateness);
        let tolerated = tolerated(self.plan.base_rtt);
        let link = |(index, totals): (usize, _)| LinkReport {
            index,
            name: self.scenario.topology.links[index].name.clone(),
            totals,
        };
        let (queue, queue_samples_lost) = played.network.take_samples();
        let (drops, drops_lost) = played.network.take_drops();
        let (packets, packets_lost) = played.network.take_packets();
        Ok(ErrorReport {
            verdict: Verdict::new(&lateness, tolerated, &ports),
            lateness,
            tolerated,
            back_dating_capped: played.back_dating_capped,
            ports,
            links: played.network.totals().into_iter().map(link).collect(),
            queue,
            queue_samples_lost,
            drops,
            drops_lost,
            packets,
            packets_lost,
            greetings: played.network.take_greetings(),
            played: played.span,
            cpu_share: played.busy.secs_f64() / played.span.secs_f64().max(1e-9),
            realtime: played.realtime,
        })
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    fn join(&mut self) -> Option<io::Result<Played>> {
        let thread = self.thread.take()?;
        self.stop.ask();
        Some(thread.join().unwrap_or_else(|_| Err(io::Error::other("the emulator's thread panicked"))))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A caller who needs the result calls `stop`.
        let _ = self.join();
    }
}
