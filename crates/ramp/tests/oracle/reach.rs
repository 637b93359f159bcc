//! Reach from its page alone (docs/drafts/reach-specification.md): `model` has never seen the header. Every decision must be the
//! same to the byte, over sequences of anything and over paths on which its steps follow each other.

mod model;

use std::cell::RefCell;

use model::{Clock, Reach, Step};
use proptest::collection::vec;
use proptest::prelude::*;
use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, PARAMETERS_MAX, Phase, Startup, UNSET};

use super::support::events::{Host, Input, configs, runner, steps};
use super::support::pipe::{Pipe, START, play};
use super::support::{MSS, row};

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    search: u32,
    trial: u32,
    fill: u32,
    refill: u32,
    /// Exits by two proofs that agree, a slowed trial, a fill and a later one.
    agreed: u32,
    refused: u32,
    filled: u32,
    refilled: u32,
    undone: u32,
    congestion: u32,
    /// Of these, with something proved.
    proved: u32,
    /// ACKs while the receiver's clock is sure, and clocks that turn out not to tick as said.
    sure: u32,
    liars: u32,
}

/// Both, side by side.
struct Pair {
    core: Startup,
    page: Reach,
}

impl Pair {
    fn new(config: &Config) -> Result<Self, TestCaseError> {
        let core = Startup::new(row("reach"), config);
        let page = Reach::begin(row("reach"), config);
        prop_assert_eq!(page.decision(), core.decision());
        Ok(Self { core, page })
    }

    fn tell(&mut self, input: &Input, seen: &RefCell<Seen>) -> Result<(), TestCaseError> {
        let (before, step, clock) = (*self.core.decision(), self.page.step(), self.page.clock());
        match input {
            Input::Ack(ack) => {
                self.core.on_ack(ack);
                self.page.on_ack(ack);
            }
            Input::Event(event) => {
                self.core.on_event(event);
                self.page.on_event(event);
            }
        }
        let after = *self.core.decision();
        prop_assert_eq!(
            *self.page.decision(),
            after,
            "page, core; {:?}; page's state {:?}",
            input,
            self.page
        );
        let mut seen = seen.borrow_mut();
        if before.phase() == Phase::Done {
            seen.undone += u32::from(after.phase() != Phase::Done);
            return Ok(());
        }
        *match step {
            Step::Search => &mut seen.search,
            Step::Trial => &mut seen.trial,
            Step::Fill => &mut seen.fill,
            Step::Refill => &mut seen.refill,
        } += 1;
        seen.sure += u32::from(self.page.clock() == Clock::Sure);
        seen.liars += u32::from(clock != Clock::None && self.page.clock() == Clock::None);
        if after.phase() == Phase::Done {
            let Seen { agreed, refused, filled, refilled, congestion, proved, .. } = &mut *seen;
            match after.exit_reason() {
                ExitReason::Agreement => *agreed += 1,
                ExitReason::Share => *refused += 1,
                ExitReason::Proof if step == Step::Refill => *refilled += 1,
                ExitReason::Proof => *filled += 1,
                reason => {
                    *congestion += 1;
                    *proved += u32::from(reason.is_congestion() && after.limit > 0);
                }
            }
        }
        Ok(())
    }

    /// The host's windows.
    fn host_writes(&mut self, cwnd_bytes: u64, ssthresh_bytes: u64) {
        let own = self.core.decision_mut();
        (own.cwnd_bytes, own.ssthresh_bytes) = (cwnd_bytes, ssthresh_bytes);
        self.page.set_decision(*own);
    }
}

#[test]
fn the_core_does_what_the_page_says_whatever_happens() {
    let seen = RefCell::new(Seen::default());
    runner(600)
        .run(&(configs(row("reach")), steps()), |(config, steps)| {
            let mut pair = Pair::new(&config)?;
            let mut host = Host::of(&config);
            for step in &steps {
                let before = *pair.core.decision();
                let input = host.event(step, &before);
                pair.tell(&input, &seen)?;
                if let Input::Event(Event { kind: EventKind::Loss, in_flight_bytes, .. }) = input
                    && pair.core.decision().ssthresh_bytes == before.ssthresh_bytes
                {
                    pair.host_writes(in_flight_bytes.max(u64::from(MSS)), in_flight_bytes);
                }
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    assert!(seen.sure > 10_000 && seen.liars > 10, "too few cases: {seen:?}");
    assert!(seen.search > 50_000 && seen.congestion > 100 && seen.undone > 10, "too few cases: {seen:?}");
}

/// A path, its initial window, and what is known before the first packet.
fn paths() -> impl Strategy<Value = (Pipe, Config)> {
    let path = (10_u32..29, 500_u64..400_000, 5_usize..2_000, prop_oneof![Just(1_u64), Just(2)]);
    // Quanta and spacings of ACKs, in hundredths of the round trip and of a packet's service.
    let return_path =
        (prop_oneof![2 => Just(0_u64), 1 => 1..60_u64], prop_oneof![2 => Just(0_u64), 1 => 1..400_u64]);
    let tick = prop_oneof![
        2 => Just(0_u64),
        4 => Just(1_000_000),
        1 => prop::sample::select(vec![100_000_u64, 2_000_000, 4_000_000, 10_000_000, 1_000_000_000]),
    ];
    // Of the initial window, in hundredths.
    let ssthresh = prop_oneof![3 => Just(None), 1 => (0..5_000_u64).prop_map(Some)];
    let begin = (1_u64..40, prop_oneof![1 => Just(0), 3 => 80..130_u64], ssthresh);
    (path, return_path, begin, tick).prop_map(
        |((size, rtt_us, buffer, ack_every), (quantum, spacing), (window, handshake, ssthresh), tick_ns)| {
            let bits_per_s = 1 << size;
            let mut pipe = Pipe::new(bits_per_s, rtt_us, u64::from(MSS), buffer);
            pipe.ack_every = ack_every;
            pipe.ack_quantum_ns = pipe.rtt_ns / 100 * quantum;
            pipe.ack_spacing_ns = pipe.packet_bytes * 80_000_000 / bits_per_s * spacing;
            pipe.tick_ns = tick_ns;
            pipe.limit_ns = 30 * pipe.rtt_ns + 5_000_000_000;
            let mut config = Config::new(row("reach"), MSS, window);
            config.handshake_rtt_us = u32::try_from(rtt_us * handshake / 100).expect("below an hour");
            config.tsval = if tick_ns > 0 { START } else { 0 };
            config.initial_ssthresh_bytes =
                ssthresh.map_or(UNSET, |part| config.initial_window_bytes * part / 100);
            (pipe, config)
        },
    )
}

/// In a third of the cases not the defaults.
fn any_parameters() -> impl Strategy<Value = Option<[u64; PARAMETERS_MAX]>> {
    prop_oneof![2 => Just(None), 1 => configs(row("reach")).prop_map(|config| Some(config.parameter))]
}

/// What happens to an ACK of such a path on its way to both.
#[derive(Clone, Copy, Debug)]
enum Change {
    Flags(u32),
    NoRtt,
    /// Nobody knows when its newest packet left.
    NoSent,
    /// From here on ACKs come this many percent as far apart, and leave so where the clock runs with it, ns.
    Slower {
        percent: u64,
        tick_ns: u64,
    },
    Before(EventKind),
}

fn changes() -> impl Strategy<Value = Vec<(usize, Change)>> {
    let change = prop_oneof![
        2 => (0..64_u32).prop_map(Change::Flags),
        2 => Just(Change::NoRtt),
        1 => Just(Change::NoSent),
        4 => (100..400_u64, prop_oneof![1 => Just(0), 2 => Just(1_000_000)])
            .prop_map(|(percent, tick_ns)| Change::Slower { percent, tick_ns }),
        1 => prop::sample::select(EventKind::ALL.to_vec()).prop_map(Change::Before),
    ];
    vec((prop_oneof![2 => 4..40_usize, 1 => 0..400_usize], change), 0..6)
}

fn told(acks: &[Ack], changes: &[(usize, Change)]) -> Vec<Input> {
    let mut inputs = Vec::new();
    let (mut before_ns, mut late_ns, mut percent) = (0, 0, 100);
    let (mut tick, mut left_late_ns) = (0, 0);
    for (index, ack) in acks.iter().enumerate() {
        let mut ack = *ack;
        let later_ns = (ack.now_ns - before_ns) * (percent - 100) / 100;
        late_ns += later_ns;
        left_late_ns += if tick > 0 { later_ns } else { 0 };
        before_ns = ack.now_ns;
        ack.now_ns += late_ns;
        ack.rtt_us += u32::try_from(late_ns / 1000).expect("below an hour");
        later(&mut ack, left_late_ns.cast_signed(), tick);
        for (_, change) in changes.iter().filter(|(at, _)| *at == index) {
            match *change {
                Change::Flags(flags) => ack.flags = flags,
                Change::NoRtt => ack.rtt_us = 0,
                Change::NoSent => ack.newest_sent_ns = 0,
                Change::Slower { percent: by, tick_ns } => (percent, tick) = (by, tick_ns),
                Change::Before(kind) => inputs.push(Input::Event(Event {
                    now_ns: ack.now_ns,
                    lost_bytes: u64::from(MSS),
                    in_flight_bytes: ack.in_flight_bytes,
                    kind,
                    mss_bytes: MSS,
                })),
            }
        }
        inputs.push(Input::Ack(ack));
    }
    inputs
}

/// The receiver sends it so much later by its clock.
fn later(ack: &mut Ack, by_ns: i64, tick_ns: u64) {
    if ack.tsval != 0 && tick_ns > 0 {
        ack.tsval = ack.tsval.wrapping_add((by_ns / tick_ns.cast_signed()) as u32);
    }
}

/// As if somebody else took two thirds of the path as soon as a trial begins, or as if the path gave a tenth more once it
/// is filled.
fn compare_changing(
    acks: &[Ack],
    tick_ns: u64,
    config: &Config,
    seen: &RefCell<Seen>,
) -> Result<(), TestCaseError> {
    for (at, percent) in [(Step::Trial, 300), (Step::Fill, 90)] {
        let mut pair = Pair::new(config)?;
        let (mut before_ns, mut now_ns) = (0, 0);
        for ack in acks {
            let mut ack = *ack;
            let percent = if pair.page.step() == at { percent } else { 100 };
            now_ns += (ack.now_ns - before_ns) * percent / 100;
            before_ns = ack.now_ns;
            ack.rtt_us += u32::try_from(now_ns.saturating_sub(ack.now_ns) / 1000).expect("below an hour");
            let later_ns = now_ns.cast_signed() - ack.now_ns.cast_signed();
            later(&mut ack, later_ns, tick_ns);
            ack.now_ns = now_ns;
            pair.tell(&Input::Ack(ack), seen)?;
        }
    }
    Ok(())
}

#[test]
fn the_core_does_what_the_page_says_on_paths() {
    assert_eq!(AckFlags::RECOVERING & !63, 0, "`changes` reach every flag");
    let seen = RefCell::new(Seen::default());
    runner(500)
        .run(&(paths(), any_parameters(), changes()), |((pipe, mut config), parameters, changes)| {
            config.parameter = parameters.unwrap_or(config.parameter);
            let outcome = play(&pipe, row("reach"), &config);
            let acks = &outcome.acks[..outcome.acks.len().min(600)];
            for changes in [&[][..], &changes] {
                let mut pair = Pair::new(&config)?;
                for input in told(acks, changes) {
                    pair.tell(&input, &seen)?;
                }
            }
            compare_changing(acks, pipe.tick_ns, &config, &seen)?;
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let seen = seen.into_inner();
    let acks = [seen.search, seen.trial, seen.fill, seen.refill];
    let exits = [seen.agreed, seen.refused, seen.filled, seen.refilled, seen.proved];
    assert!(acks.iter().all(|&acks| acks > 1_000), "too few cases: {seen:?}");
    assert!(exits.iter().all(|&exits| exits > 15), "too few cases: {seen:?}");
    assert!(seen.sure > 10_000 && seen.liars > 15, "too few cases: {seen:?}");
}
