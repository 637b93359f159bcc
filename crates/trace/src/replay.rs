//! Recorded calls, put to an algorithm once more: to the one that answered them, or to another.

use std::collections::BTreeMap;

use rampcc::{Algorithm, Decision, ExitReason, PARAMETERS_MAX, Phase, Startup, Time, UNSET};

use crate::{Call, FlowDecision, Opening, Told};

/// Where a flow left start-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// When, on the clock of the run.
    pub at: Time,
    /// Why.
    pub reason: ExitReason,
    /// Left side of the deciding comparison.
    pub evidence: u64,
    /// Right side of the deciding comparison.
    pub limit: u64,
    /// Window after the decision.
    pub cwnd_bytes: u64,
    /// Slow-start threshold after the decision; [`UNSET`]: none.
    pub ssthresh_bytes: u64,
}

/// What one algorithm did with one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    /// Its identifier.
    pub algorithm: &'static str,
    /// Its parameters, in the order of its table.
    pub parameters: [u64; PARAMETERS_MAX],
    /// Payload bytes of a full segment.
    pub mss_bytes: u32,
    /// When the connection was established.
    pub opened: Time,
    /// The first time it left start-up; `None`: it had not at [`until`](Self::until).
    pub exit: Option<Exit>,
    /// How often it left: an exit may be taken back, and a timeout may begin another start-up.
    pub exits: u32,
    /// Its last call.
    pub until: Time,
    /// Its calls.
    pub calls: u64,
    /// Window after the last call.
    pub cwnd_bytes: u64,
}

impl Course {
    fn new(algorithm: &Algorithm, config: &rampcc::Config, now: Time) -> Self {
        Self {
            algorithm: algorithm.id,
            parameters: config.parameter,
            mss_bytes: config.mss_bytes,
            opened: now,
            exit: None,
            exits: 0,
            until: now,
            calls: 0,
            cwnd_bytes: 0,
        }
    }

    /// `was`: the phase before the call.
    fn note(&mut self, now: Time, was: Phase, decision: &Decision) {
        self.until = now;
        self.calls += 1;
        self.cwnd_bytes = decision.cwnd_bytes;
        if was == Phase::Done || decision.phase() != Phase::Done {
            return;
        }
        self.exits += 1;
        self.exit = self.exit.or(Some(Exit {
            at: now,
            reason: decision.exit_reason(),
            evidence: decision.evidence,
            limit: decision.limit,
            cwnd_bytes: decision.cwnd_bytes,
            ssthresh_bytes: decision.ssthresh_bytes,
        }));
    }
}

/// Why a flow cannot be followed any further.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Difference {
    /// Calls are missing, so nothing can be said of the rest of this connection.
    #[error("flow {flow}: call {expected} is missing; the next one is {found}")]
    Lost {
        /// The connection.
        flow: u32,
        /// The call that should have come.
        expected: u32,
        /// The call that came.
        found: u32,
    },
    /// The core decides differently here.
    #[error("flow {flow}, call {index}: recorded was {recorded:?}, the core decides {native:?}")]
    Decision {
        /// The connection.
        flow: u32,
        /// The call.
        index: u32,
        /// As recorded.
        recorded: Box<Decision>,
        /// Here.
        native: Box<Decision>,
    },
}

/// What the recording itself says of each flow: nothing is computed again.
#[derive(Debug, Default)]
pub struct Recorded {
    flows: BTreeMap<u32, Course>,
}

impl Recorded {
    /// Takes the next call. Connections whose opening was not recorded are passed over.
    pub fn handle_decision(&mut self, decision: &FlowDecision) {
        let &FlowDecision { now, flow, call: Call { ref told, before, after }, .. } = decision;
        if let Told::Open(opening) = told {
            self.flows.insert(flow, Course::new(opening.algorithm, &opening.config, now));
        }
        if let Some(course) = self.flows.get_mut(&flow) {
            course.note(now, before.phase(), &after);
        }
    }

    /// Every flow, by number.
    pub fn courses(&self) -> &BTreeMap<u32, Course> {
        &self.flows
    }
}

/// Recorded calls put to the native core.
///
/// [`Replay::recorded`] asks the algorithm that answered them: it must decide as it did, byte for byte. [`Replay::other`] asks
/// another one what it would have done. That is open loop: the calls stay what the recorded algorithm's window has made
/// them, whatever the other one decides, and they end where the recorded one left start-up.
#[derive(Debug)]
pub struct Replay {
    other: Option<(&'static Algorithm, [u64; PARAMETERS_MAX])>,
    flows: BTreeMap<u32, Flow>,
    compared: u64,
}

#[derive(Debug)]
struct Flow {
    startup: Startup,
    course: Course,
    next: u32,
    /// As the last call left it in the recording.
    recorded: Decision,
    /// Whether the last call set the threshold, which the host then leaves alone.
    threshold_set: bool,
    /// Nothing that follows can be used.
    over: bool,
}

impl Replay {
    /// Of the algorithm that was recorded.
    pub fn recorded() -> Self {
        Self { other: None, flows: BTreeMap::new(), compared: 0 }
    }

    /// Of this algorithm, with these parameters in the order of its table.
    pub fn other(algorithm: &'static Algorithm, parameters: [u64; PARAMETERS_MAX]) -> Self {
        Self { other: Some((algorithm, parameters)), ..Self::recorded() }
    }

    /// Calls whose decisions were compared with the recorded ones so far.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// What the algorithm did with every flow that was opened, by number.
    pub fn courses(&self) -> impl Iterator<Item = (u32, &Course)> {
        self.flows.iter().map(|(number, flow)| (*number, &flow.course))
    }

    /// Takes the next call. Connections whose opening was not recorded are passed over.
    ///
    /// # Errors
    /// The connection cannot be followed from here on; others can.
    pub fn handle_decision(&mut self, decision: &FlowDecision) -> Result<(), Difference> {
        let number = decision.flow;
        if let Told::Open(opening) = &decision.call.told {
            return self.open(decision, opening);
        }
        let Some(flow) = self.flows.get_mut(&number).filter(|flow| !flow.over) else { return Ok(()) };
        if decision.index != flow.next {
            flow.over = true;
            return Err(Difference::Lost { flow: number, expected: flow.next, found: decision.index });
        }
        flow.next += 1;
        if self.other.is_some() {
            flow.ask_other(decision);
            return Ok(());
        }
        self.compared += 1;
        let asked = flow.ask_recorded(decision);
        flow.over = asked.is_err();
        asked
    }

    fn open(&mut self, decision: &FlowDecision, opening: &Opening) -> Result<(), Difference> {
        let number = decision.flow;
        let (algorithm, config) = match self.other {
            Some((other, parameter)) => (other, rampcc::Config { parameter, ..opening.config }),
            None => (opening.algorithm, opening.config),
        };
        let startup = Startup::new(algorithm, &config);
        let native = *startup.decision();
        let mut course = Course::new(algorithm, &config, decision.now);
        course.note(decision.now, Phase::Startup, &native);
        let recorded = decision.call.after;
        let mut flow = Flow {
            startup,
            course,
            next: decision.index.saturating_add(1),
            recorded,
            threshold_set: native.ssthresh_bytes != UNSET,
            over: self.other.is_some() && recorded.phase() == Phase::Done,
        };
        let mut compared = Ok(());
        if self.other.is_none() {
            self.compared += 1;
            compared = compare(decision, recorded, native);
            flow.over = compared.is_err();
        }
        self.flows.insert(number, flow);
        compared
    }
}

impl Flow {
    fn ask_recorded(&mut self, decision: &FlowDecision) -> Result<(), Difference> {
        let Call { told, before, after } = &decision.call;
        // Window and threshold are the host's to change between calls, and nothing else is.
        let own = self.startup.decision_mut();
        own.cwnd_bytes = before.cwnd_bytes;
        own.ssthresh_bytes = before.ssthresh_bytes;
        compare(decision, *before, *own)?;
        self.tell(decision.now, told);
        compare(decision, *after, *self.startup.decision())
    }

    /// The host's own changes of window and threshold, as recorded, are made here, too.
    fn ask_other(&mut self, decision: &FlowDecision) {
        let Call { told, before, after } = &decision.call;
        let own = self.startup.decision_mut();
        if before.cwnd_bytes != self.recorded.cwnd_bytes {
            own.cwnd_bytes = before.cwnd_bytes;
        }
        if before.ssthresh_bytes != self.recorded.ssthresh_bytes && !self.threshold_set {
            own.ssthresh_bytes = before.ssthresh_bytes;
        }
        let threshold = own.ssthresh_bytes;
        self.tell(decision.now, told);
        self.threshold_set = self.startup.decision().ssthresh_bytes != threshold;
        self.recorded = *after;
        self.over = after.phase() == Phase::Done;
    }

    fn tell(&mut self, now: Time, told: &Told) {
        let was = self.startup.decision().phase();
        match told {
            // ACKs after start-up are not reported.
            Told::Ack(_) if was == Phase::Done => {}
            Told::Ack(ack) => {
                self.startup.on_ack(ack);
            }
            Told::Event(event) => {
                self.startup.on_event(event);
            }
            Told::Open(_) => {}
        }
        self.course.note(now, was, self.startup.decision());
    }
}

fn compare(decision: &FlowDecision, recorded: Decision, native: Decision) -> Result<(), Difference> {
    if recorded == native {
        return Ok(());
    }
    Err(Difference::Decision {
        flow: decision.flow,
        index: decision.index,
        recorded: Box::new(recorded),
        native: Box::new(native),
    })
}
