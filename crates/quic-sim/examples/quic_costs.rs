//! What QUIC costs: a controller per ACK against noq's own CUBIC, virtual time against the stack by itself, and memory per connection.
//!
//! `cargo run --profile dist -p rampcc-quic-sim --example quic_costs`; with `--json`, one object per line. Machines differ and are busy, so
//! what is compared runs in turns in one process, and the fastest turn of each counts.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]
#![expect(clippy::disallowed_methods, reason = "it measures the machine")]

use std::any::Any;
use std::hint::black_box;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerFactory, ControllerMetrics, CubicConfig};
use rampcc::Time;
use rampcc_backend::{Backend, Play};
use rampcc_quic::Rules;
use rampcc_quic::noq::Factory;
use rampcc_quic_sim::{Bringing, Brought, Stack, VirtualQuic, bare};
use rampcc_scenario::{Arm, Scenario};

/// A start-up of thousands of ACKs, and what follows it.
const PATH: &str =
    "[path]\nrate = \"400 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"40 bdp\"\n[[flow]]\nsize = \"20 MB\"\n";
const FAST: &str =
    "[path]\nrate = \"400 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"60 bdp\"\n[[flow]]\nsize = \"100 MB\"\n";
const MANY: &str =
    "[path]\nrate = \"10 Gbit/s\"\nrtt = \"100 ms\"\nbuffer = \"4 bdp\"\n[[flow]]\nsize = \"20 kB\"\n";
const ROWS: [&str; 6] = ["slow_start", "hystart", "hystartpp", "search", "best", "reach"];
const REPLAYS: usize = 60;
const TURNS: usize = 3;
const CONNECTIONS: usize = 10_000;
const MTU: u16 = 1472;

fn main() {
    if let Some(row) = std::env::args().find_map(|arg| arg.strip_prefix("connections=").map(str::to_owned)) {
        return println!("{}", connections(&row));
    }
    let json = std::env::args().any(|arg| arg == "--json");
    for part in [per_ack, speed, memory] {
        for Found { name, value, unit, baseline } in part() {
            if json {
                println!(
                    "{{\"name\":\"quic: {name}\",\"value\":{value:.3},\"unit\":\"{unit}\",\"baseline\":{baseline:.3}}}"
                );
            } else {
                let times = value / baseline;
                println!("{name:<60} {value:>8.2} {unit:<13} beside {baseline:>7.2}: {times:.2} times");
            }
        }
    }
}

struct Found {
    name: String,
    value: f64,
    unit: &'static str,
    /// The same of what it is held against.
    baseline: f64,
}

/// What a stack tells its controller.
#[derive(Clone, Copy, Debug)]
enum Told {
    Sent(Instant, u16, u64),
    Limited,
    Acked(Instant, Instant, u64, u64, bool, RttEstimator),
    Ended(Instant, u64, bool, Option<u64>),
}

/// Tells each call on to noq's CUBIC, and keeps it.
#[derive(Clone, Debug)]
struct Recorder(Kept);

type Kept = Arc<Mutex<Vec<Told>>>;

impl ControllerFactory for Recorder {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        Box::new(Recording { inner: cubic().build(now, mtu), kept: self.0.clone() })
    }
}

#[derive(Debug)]
struct Recording {
    inner: Box<dyn Controller>,
    kept: Kept,
}

impl Recording {
    fn keep(&self, told: Told) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
}

impl Controller for Recording {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, number: u64) {
        self.keep(Told::Sent(now, bytes, number));
        self.inner.on_packet_sent(now, bytes, number);
    }

    fn on_cwnd_limited(&mut self) {
        self.keep(Told::Limited);
        self.inner.on_cwnd_limited();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        number: u64,
        idle: bool,
        rtt: &RttEstimator,
    ) {
        self.keep(Told::Acked(now, sent, bytes, number, idle, *rtt));
        self.inner.on_ack(now, sent, bytes, number, idle, rtt);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, idle: bool, largest: Option<u64>) {
        self.keep(Told::Ended(now, in_flight, idle, largest));
        self.inner.on_end_acks(now, in_flight, idle, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        last: bool,
        ecn: bool,
        lost: u64,
        newest: u64,
    ) {
        self.inner.on_congestion_event(now, sent, last, ecn, lost, newest);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), kept: self.kept.clone() })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn cubic() -> Arc<CubicConfig> {
    Arc::new(CubicConfig::default())
}

/// `epoch`: no instant that it will get is earlier.
fn ramp(row: &str, epoch: Instant) -> Arc<Factory> {
    let factory = Factory::new(Rules::new(row).expect("a row")).expect("noq meets its needs");
    Arc::new(factory.since(epoch))
}

/// ns for an ACK with the packets that it releases, of a whole download's calls.
fn per_ack() -> Vec<Found> {
    let kept = Kept::default();
    let mine = Brought::Noq(Arc::new(Recorder(kept.clone())));
    let backend = Bringing::new(Stack::Noq, vec![("mine", mine)]);
    let scenario = scenario(PATH);
    let play = Play { scenario: &scenario, control: backend.controls().first(), seed: 1 };
    backend.run(&play, &mut (), &AtomicBool::new(false)).expect("it runs");
    let told = std::mem::take(&mut *kept.lock().unwrap_or_else(PoisonError::into_inner));
    let began = told.iter().find_map(|told| if let Told::Sent(now, ..) = told { Some(*now) } else { None });
    let began = began.expect("something was sent");
    let mut least = [f64::INFINITY; ROWS.len() + 1];
    for _ in 0..REPLAYS {
        let (cubics, rows) = least.split_at_mut(1);
        cubics[0] = cubics[0].min(replay(cubic().build(began, MTU), &told));
        for (row, least) in ROWS.iter().zip(rows) {
            *least = least.min(replay(ramp(row, began).build(began, MTU), &told));
        }
    }
    let found = |(row, value): (&&str, &f64)| Found {
        name: format!("an ACK under {row}, beside noq's CUBIC"),
        value: *value,
        unit: "ns",
        baseline: least[0],
    };
    ROWS.iter().zip(&least[1..]).map(found).collect()
}

fn replay(mut controller: Box<dyn Controller>, told: &[Told]) -> f64 {
    let began = Instant::now();
    let mut acks = 0_u64;
    for one in told {
        match *one {
            Told::Sent(now, bytes, number) => {
                // As the stack asks before each packet.
                black_box((controller.window(), controller.metrics()));
                controller.on_packet_sent(now, bytes, number);
            }
            Told::Limited => controller.on_cwnd_limited(),
            Told::Acked(now, sent, bytes, number, idle, rtt) => {
                controller.on_ack(now, sent, bytes, number, idle, &rtt);
            }
            Told::Ended(now, in_flight, idle, largest) => {
                controller.on_end_acks(now, in_flight, idle, largest);
                acks += 1;
            }
        }
    }
    began.elapsed().as_nanos() as f64 / acks as f64
}

/// Million datagrams a second, both ways and both ends, on one processor.
fn speed() -> Vec<Found> {
    let scenario = scenario(FAST);
    let noq = VirtualQuic(Stack::Noq);
    let play = Play { scenario: &scenario, control: noq.controls().first(), seed: 1 };
    let (mut simulated, mut by_itself) = (0.0_f64, 0.0_f64);
    for _ in 0..TURNS {
        let began = processor_s();
        let played = noq.run(&play, &mut (), &AtomicBool::new(false)).expect("it runs");
        let datagrams: u64 = played.outcome.links.iter().map(|link| link.delivered.packets).sum();
        simulated = simulated.max(datagrams as f64 / (processor_s() - began) / 1e6);
        let began = processor_s();
        let datagrams = bare(100_000_000, Time::from_ms(20));
        by_itself = by_itself.max(datagrams as f64 / (processor_s() - began) / 1e6);
    }
    let name = "100 MB at 400 Mbit/s, beside the stack by itself".to_owned();
    vec![Found { name, value: simulated, unit: "M datagrams/s", baseline: by_itself }]
}

/// kB a connection, both ends, of ten thousand at once: each row in a process of its own.
fn memory() -> Vec<Found> {
    let of = |row: &str| -> f64 {
        let program = std::env::current_exe().expect("it runs");
        let output = Command::new(program).arg(format!("connections={row}")).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        text.trim().parse().unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
    };
    let baseline = of("noq_cubic");
    let found = |row: &str| Found {
        name: format!("one of 10 000 connections under {row}, beside noq_cubic"),
        value: of(row),
        unit: "kB",
        baseline,
    };
    ["hystartpp", "reach"].map(found).into()
}

fn connections(row: &str) -> f64 {
    let mut scenario = scenario(MANY);
    let backend = VirtualQuic(Stack::Noq);
    let control = backend.controls().iter().find(|control| control.name == row);
    if control.is_none() {
        scenario = scenario.with_arm(&Arm::parse(row).expect("a row"));
    }
    let mut flow = scenario.flows[0].clone();
    flow.start_jitter = Time::from_secs(1);
    scenario.flows = vec![flow; CONNECTIONS];
    let before = peak_memory_kb();
    let play = Play { scenario: &scenario, control, seed: 1 };
    let played = backend.run(&play, &mut (), &AtomicBool::new(false)).expect("it runs");
    let received: u64 = played.outcome.flows.iter().map(|flow| flow.received_bytes).sum();
    assert!(received >= 20_000 * CONNECTIONS as u64, "{received} bytes arrived");
    (peak_memory_kb() - before) / CONNECTIONS as f64
}

fn scenario(text: &str) -> Scenario {
    Scenario::parse("costs", text, None).expect("a scenario")
}

/// Seconds that this thread has had a processor, which other work on the machine does not lengthen.
fn processor_s() -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = status.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    ns.expect("Linux tells it") / 1e9
}

/// Largest resident set so far; 0 where the system does not tell.
fn peak_memory_kb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0.0)
}
