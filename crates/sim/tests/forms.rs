//! What a decision can say of spacing and of recovery, each form by itself: when packets leave.

mod common;
#[path = "../../ramp/tests/scratch/mod.rs"]
mod scratch;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use common::{Log, empty, flow, link, mbit, ms, plain};
use rampcc::{ExitReason, Phase, Rate, Time, UNSET};
use rampcc_path::LinkConfig;
use rampcc_scenario::Source;
use rampcc_sim::{Connecting, Endpoint, Run, Sending, Tcp, Transport, simulate_over};
use rampcc_tcp::{Pacing, Profile, Receiver, ReceiverConfig, Segment, Sender, SenderConfig};
use rampcc_trace::{FlowEventKind, FlowSample, SenderState};
use scratch::forms;

const MSS: u64 = 1000;
/// 1000 bytes per millisecond.
const RATE: u64 = 1_000_000;

type Departures = Rc<RefCell<Vec<Time>>>;

/// TCP, with a note of when each packet of data leaves.
#[derive(Default)]
struct Noted(Departures);

struct NotedSender {
    tcp: Sender,
    departures: Departures,
}

impl Transport for Noted {
    type Packet = Segment;
    type Sender = NotedSender;
    type Receiver = Receiver;

    fn connect(&mut self, flow: &Connecting<'_>) -> (NotedSender, Receiver) {
        let (tcp, receiver) = Tcp.connect(flow);
        (NotedSender { tcp, departures: self.0.clone() }, receiver)
    }
}

impl Endpoint for NotedSender {
    type Packet = Segment;
    fn handle_packet(&mut self, now: Time, packet: &Segment) {
        self.tcp.handle_packet(now, packet);
    }
    fn handle_timeout(&mut self, now: Time) {
        self.tcp.handle_timeout(now);
    }
    fn poll_transmit(&mut self, now: Time, wire: impl FnOnce(&Segment)) -> bool {
        self.tcp.transmit(now, |segment| {
            if segment.payload_bytes() > 0 {
                self.departures.borrow_mut().push(now);
            }
            wire(segment);
        })
    }
    fn poll_timeout(&self) -> Time {
        self.tcp.poll_timeout()
    }
}

impl Sending for NotedSender {
    fn open(&mut self, now: Time) {
        self.tcp.open(now);
    }
    fn write(&mut self, now: Time, bytes: u64) {
        self.tcp.write(now, bytes);
    }
    fn finish(&mut self, now: Time) {
        self.tcp.finish(now);
    }
    fn is_idle(&self) -> bool {
        self.tcp.is_idle()
    }
    fn poll_event(&mut self) -> Option<FlowEventKind> {
        self.tcp.poll_event()
    }
    fn sample(&self, now: Time) -> FlowSample {
        self.tcp.sample(now)
    }
}

/// Whose host it is that obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    /// Each packet by itself, from the first on.
    Exact,
    /// Linux: never the first ten.
    Linux,
    /// And one that paces by itself.
    LinuxPacing,
}

fn sender(host: Host, said: &[(&str, u64)]) -> SenderConfig {
    let profile = if host == Host::Exact { Profile::Era } else { Profile::Modern };
    let (algorithm, parameters) = forms(said);
    let mut sender = SenderConfig::new(profile, algorithm);
    sender.parameters = parameters;
    sender.mss_bytes = 1000;
    sender.header_bytes = 40;
    sender.initial_window_packets = 20;
    sender.abc_limit_packets = 0;
    sender.sampled = true;
    if host == Host::LinuxPacing {
        sender.pacing = Pacing::Always;
    }
    sender
}

/// This much over 100 ms: when packets leave, and what an observer sees.
fn send(sender: SenderConfig, bytes: u64, narrow: LinkConfig) -> (Vec<Time>, Log) {
    let mut scenario = empty(2, 60.0);
    link(&mut scenario, 0, 1, narrow);
    link(&mut scenario, 1, 0, plain(mbit(10_000), ms(50.0), 10_000));
    let mut flow = flow(0, 1, Source::Sized(bytes), "slow_start");
    flow.sender = sender;
    flow.receiver = ReceiverConfig::new(Profile::Era);
    scenario.flows.push(flow);
    scenario.stop.when_complete = true;
    let (mut transport, mut log) = (Noted::default(), Log::default());
    let run = Run { scenario: &scenario, seed: 1, interrupted: &AtomicBool::new(false) };
    simulate_over(&mut transport, run, &mut log).expect("it runs");
    (transport.0.take(), log)
}

/// A path that is never in the way.
fn wide() -> LinkConfig {
    plain(mbit(10_000), ms(50.0), 10_000)
}

fn gaps(departures: &[Time]) -> Vec<Time> {
    departures.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn a_share_of_the_window_spaces_packets_from_the_first_on_and_after_start_up() {
    const PERCENT: u64 = 80;
    let said = [("percent", PERCENT), ("leave", 400)];
    let (departures, log) = send(sender(Host::Exact, &said), 2_000_000, wide());
    let (exit, reason) = log
        .first(|kind| match kind {
            FlowEventKind::StartupExit { reason, .. } => Some(*reason),
            _ => None,
        })
        .expect("it leaves");
    assert_eq!(reason, ExitReason::Known);
    let (mut before, mut after) = (0, 0);
    for pair in departures.windows(2) {
        // Before the first ACK: 20 packets, and the handshake's 100 ms.
        let known = log.flows.iter().rev().find(|sample| sample.now <= pair[0]);
        let known = known.filter(|sample| sample.smoothed_rtt > Time::ZERO);
        let (cwnd, rtt) = known.map_or((20 * MSS, ms(100.0)), |s| (s.cwnd_bytes, s.smoothed_rtt));
        let expected = MSS * 100 * rtt.ns() / (cwnd * PERCENT);
        let gap = (pair[1] - pair[0]).ns();
        assert!(gap.abs_diff(expected) <= expected / 1000, "{pair:?}: {gap} ns, not {expected} ns");
        *(if pair[0] > exit { &mut after } else { &mut before }) += 1;
    }
    assert!(before > 400 && after > 400, "{before}, {after}");
}

#[test]
fn a_host_that_sends_a_millisecond_at_once_keeps_the_share_on_average() {
    for host in [Host::Linux, Host::LinuxPacing] {
        let said = [("percent", 50), ("leave", 400)];
        let (departures, log) = send(sender(host, &said), 3_000_000, wide());
        let done = log.flows.iter().find(|sample| sample.phase == Phase::Done).expect("it leaves").now;
        // A second of congestion avoidance, whose window grows little since half of it is never used.
        let (from, to) = (done + ms(200.0), done + ms(500.0));
        let (mut wanted, mut time) = (0.0, 0.0);
        for pair in log.flows.windows(2).filter(|pair| pair[0].now >= from && pair[1].now < to) {
            let span = (pair[1].now - pair[0].now).secs_f64();
            wanted += span * pair[0].cwnd_bytes as f64 * 0.5 / pair[0].smoothed_rtt.secs_f64();
            time += span;
        }
        let left = departures.iter().filter(|&&at| at >= from && at < to).count() as f64 * MSS as f64;
        assert!(
            time > 0.25 && (0.95..1.05).contains(&(left / wanted)),
            "{host:?}: {left} of {wanted}, {time}"
        );
    }
}

#[test]
fn a_burst_is_followed_by_a_paced_rest_in_the_same_round() {
    for host in [Host::Exact, Host::Linux, Host::LinuxPacing] {
        let said = [("window", 200), ("rate", RATE), ("burst", 40)];
        let (departures, _) = send(sender(host, &said), 500_000, wide());
        let gaps = gaps(&departures);
        assert!(gaps[..39].iter().all(|&gap| gap == Time::ZERO), "{host:?}: {:?}", &gaps[..39]);
        // No ACK comes for another 100 ms.
        assert!(gaps[39..139].iter().all(|&gap| gap == ms(1.0)), "{host:?}: {:?}", &gaps[39..139]);
    }
}

#[test]
fn a_burst_begins_where_it_is_asked_for() {
    for host in [Host::Exact, Host::Linux] {
        let said = [("window", 300), ("rate", RATE), ("burst", 30), ("after", 20)];
        let (departures, log) = send(sender(host, &said), 500_000, wide());
        let asked = log.flows.iter().find(|sample| sample.pacing_bytes_per_s == RATE).expect("it is").now;
        let first = departures.iter().position(|&at| at >= asked).expect("packets");
        // Slow start's own two for each ACK before; the last ACK's leave with the burst or are part of it.
        let gaps = gaps(&departures[first..]);
        let together = gaps.iter().take_while(|&&gap| gap == Time::ZERO).count() + 1;
        assert_eq!(together, 30, "{host:?}");
        assert!(gaps[30..100].iter().all(|&gap| gap == ms(1.0)), "{host:?}: {:?}", &gaps[30..100]);
    }
}

#[test]
fn several_leave_at_once_and_the_rate_stays() {
    for (host, unspaced) in [(Host::Exact, 0), (Host::Linux, 9)] {
        let said = [("window", 200), ("rate", RATE), ("together", 4)];
        let (departures, _) = send(sender(host, &said), 500_000, wide());
        let rest = &departures[unspaced..];
        for (number, &at) in rest.iter().enumerate() {
            let due = rest[0] + Time::from_ms(number as u64 / 4 * 4);
            assert_eq!(at, due, "{host:?}: packet {number} of {}", rest.len());
        }
    }
}

/// The last chirp that begins within the window leaves whole; what Linux cannot space it would chirp, too.
#[test]
fn chirps_follow_one_another_and_the_window_is_looked_at_between_them() {
    for host in [Host::Exact, Host::Linux, Host::LinuxPacing] {
        let said = [("window", 34), ("rate", RATE), ("chirp", 6)];
        let (departures, _) = send(sender(host, &said), 200_000, wide());
        let gaps = gaps(&departures);
        for chirp in gaps[..36].chunks(6).take(5) {
            let us: Vec<u64> = chirp.iter().map(|gap| gap.us()).collect();
            assert_eq!(us, [2000, 1500, 1000, 500, 0, 1000], "{host:?}");
        }
        assert_eq!(gaps[30..35].iter().map(|gap| gap.us()).collect::<Vec<_>>(), [2000, 1500, 1000, 500, 0]);
        // Two packets more than the window; the next chirp waits for the third ACK, 100 ms after its packet.
        assert!(departures[36] >= departures[2] + ms(100.0), "{host:?}: {:?}", &departures[30..38]);
        assert!(departures[36] <= departures[2] + ms(101.0), "{host:?}: {:?}", &departures[30..38]);
    }
}

#[test]
fn back_to_back_holds_on_a_host_that_paces_by_itself() {
    let spread = |said: &[(&str, u64)]| {
        let (departures, _) = send(sender(Host::LinuxPacing, said), 500_000, wide());
        departures[99] - departures[0]
    };
    assert_eq!(spread(&[("window", 100), ("rate", 1)]), Time::ZERO);
    // As the host likes: twice the window in each round trip, from the eleventh packet on.
    let own = Rate::from_bytes_per_s(2 * 100 * MSS * 10).time_of(89 * MSS);
    let spread = spread(&[("window", 100)]);
    assert!((own.ns() * 9 / 10..=own.ns() * 11 / 10).contains(&spread.ns()), "{spread}, not {own}");
}

#[test]
fn start_up_goes_on_after_a_loss_from_the_window_it_asked_for() {
    const KEEP: u64 = 30;
    let narrow = plain(mbit(40), ms(50.0), 60);
    let said = [("keep", KEEP), ("leave", 4000)];
    let (departures, log) = send(sender(Host::Linux, &said), 6_000_000, narrow);
    let first = log.flows.iter().position(|s| s.state == SenderState::Recovery).expect("a loss");
    let length = log.flows[first..].iter().position(|s| s.state != SenderState::Recovery).expect("it ends");
    let (found, repair) = (&log.flows[first], &log.flows[first + 1..first + length]);
    assert!(repair.len() > 50, "{}", repair.len());
    let goal = repair[0].ssthresh_bytes;
    let flight = goal * 100 / KEEP;
    assert!(repair.iter().all(|s| s.ssthresh_bytes == goal && s.phase == Phase::Startup));
    assert!(
        (found.cwnd_bytes / 2..=found.cwnd_bytes * 2).contains(&flight),
        "{KEEP} % of what was in flight: {goal}, {found:?}"
    );
    // It asked for a terabyte on each of these ACKs. PRR sends its share of what is delivered, and once the target is
    // reached no more than keeps it there.
    for s in repair {
        let sent = s.sent_bytes - repair[0].sent_bytes;
        let delivered = s.delivered_bytes - repair[0].delivered_bytes;
        let share = delivered * KEEP / 100 + 3 * MSS;
        assert!(
            s.in_flight_bytes <= goal + MSS || sent <= share,
            "{sent} sent, {delivered} delivered: {s:?}"
        );
    }
    let after = &log.flows[first + length];
    assert!(after.cwnd_bytes <= goal + 2 * MSS && after.cwnd_bytes + 2 * MSS >= goal, "{after:?}");
    assert_eq!((after.ssthresh_bytes, after.phase), (UNSET, Phase::Startup));
    // And doubles in the next round.
    let round = log.flows.iter().rev().find(|s| s.now <= after.now + ms(100.0)).expect("samples");
    assert!(round.cwnd_bytes >= goal * 17 / 10 && round.cwnd_bytes <= goal * 21 / 10, "{goal}, {round:?}");
    let between =
        departures.iter().filter(|&&at| at > after.now && at <= after.now + ms(100.0)).count() as u64;
    assert!(between * MSS <= 2 * goal + 4 * MSS, "two for each ACK at most: {between}");
    let reason = log.first(|kind| match kind {
        FlowEventKind::StartupExit { reason, .. } => Some(*reason),
        _ => None,
    });
    assert_eq!(reason.expect("it leaves").1, ExitReason::Known);
}
