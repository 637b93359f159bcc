//! One connection's start-up, and the list of algorithms.

use std::sync::OnceLock;

use crate::abi::{self, Functions, State};
use crate::{
    Ack, Config, Decision, Event, ExitReason, Hint, HintSource, Lacking, PARAMETERS_MAX, Time, Traits,
};

include!(concat!(env!("OUT_DIR"), "/documents.rs"));

/// One tunable constant of an algorithm, from the table in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As written in a scenario: `[algorithm.<id>] <name> = …`.
    pub name: &'static str,
    /// `us`, `bytes`, `packets`, `bytes/s`, `hz`, `percent`, `1/1000`, `count`, or `choice:a|b|c` (the value is the index).
    pub unit: &'static str,
    /// Source of the constant.
    pub source: &'static str,
    /// Meaning.
    pub meaning: &'static str,
    /// The value unless set.
    pub default: u64,
    /// Smallest value allowed.
    pub minimum: u64,
    /// Largest value allowed.
    pub maximum: u64,
}

/// One start-up algorithm: a row of `registry.h`.
#[derive(Debug)]
pub struct Algorithm {
    /// Identifier in code and on the command line: at most ten letters.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// Specification.
    pub source: &'static str,
    /// One sentence.
    pub idea: &'static str,
    /// Properties that a host must know before it runs.
    pub traits: Traits,
    /// Its constants.
    pub parameters: Vec<Parameter>,
    functions: Functions,
}

/// All of an algorithm but its functions, for a process that does not run it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Description {
    /// Identifier, name, specification, idea.
    text: [String; 4],
    traits: u32,
    state_words: usize,
    /// Name, unit, specification and meaning of each parameter; its default, minimum and maximum.
    parameters: Vec<([String; 4], [u64; 3])>,
}

impl Description {
    /// Whether an algorithm can be so: what another process says need not be true.
    pub fn is_sound(&self) -> bool {
        /// A MiB, thousands of times what any row of the registry keeps.
        const STATE_WORDS: usize = 1 << 17;
        let ranges = self.parameters.iter().map(|(_, numbers)| numbers);
        let named = !self.text[0].is_empty();
        named
            && self.state_words <= STATE_WORDS
            && self.parameters.len() <= PARAMETERS_MAX
            && ranges.into_iter().all(|[default, minimum, maximum]| (minimum..=maximum).contains(&default))
    }
}

impl Algorithm {
    /// For another process.
    pub fn description(&self) -> Description {
        let parameters = self.parameters.iter().map(|p| {
            let text = [p.name, p.unit, p.source, p.meaning].map(str::to_owned);
            (text, [p.default, p.minimum, p.maximum])
        });
        Description {
            text: [self.id, self.name, self.source, self.idea].map(str::to_owned),
            traits: self.traits.bits(),
            state_words: self.functions.state_bytes() / 8,
            parameters: parameters.collect(),
        }
    }

    /// An algorithm that another process runs. Here it can be asked for everything, and must not steer a connection.
    pub fn of_another_process(description: Description) -> Self {
        let keep = |text: [String; 4]| text.map(|text| -> &'static str { text.leak() });
        let parameters = description.parameters.into_iter();
        Self::from_row(abi::Row {
            text: keep(description.text),
            traits: Traits::of_bits(description.traits),
            functions: abi::Functions::of_another_process(description.state_words),
            parameters: parameters.map(|(text, numbers)| (keep(text), numbers)).collect(),
        })
    }

    pub(crate) fn from_row(row: abi::Row) -> Self {
        let [id, name, source, idea] = row.text;
        let parameters = row
            .parameters
            .into_iter()
            .map(|([name, unit, source, meaning], [default, minimum, maximum])| Parameter {
                name,
                unit,
                source,
                meaning,
                default,
                minimum,
                maximum,
            })
            .collect();
        Self { id, name, source, idea, traits: row.traits, parameters, functions: row.functions }
    }

    /// When what decided an exit had left, of which the deciding ACK's newest packet left at `sent`. A row that judges
    /// rounds that are over saw a round trip's packets before that one.
    pub fn decided_by(&self, reason: ExitReason, evidence: u64, sent: Time) -> Time {
        if reason != ExitReason::Delay || !self.traits.has(Traits::JUDGES_ROUNDS) || sent == Time::ZERO {
            return sent;
        }
        Time::from_ns(sent.ns().saturating_sub(evidence.saturating_mul(1000)).max(1))
    }

    /// Bytes of state a connection needs.
    pub fn state_bytes(&self) -> usize {
        self.functions.state_bytes()
    }

    /// The algorithm explained, in Markdown: idea, how it decides, parameters, deviations, caveats.
    pub fn document(&self) -> &'static str {
        DOCUMENTS.iter().find(|(id, _)| *id == self.id).map_or("", |(_, text)| text)
    }

    /// Part of a hint that it may get: all of it if it needs what that source knows, otherwise nothing.
    pub fn admitted(&self, hint: Hint) -> Hint {
        let of = match hint.source() {
            HintSource::None => return Hint::NONE,
            HintSource::History => Traits::NEEDS_HISTORY,
            HintSource::Router => Traits::NEEDS_ROUTER,
            HintSource::Interface => Traits::NEEDS_INTERFACE,
            HintSource::Path => Traits::KNOWS_PATH,
        };
        if self.traits.has(of) { hint } else { Hint::NONE }
    }

    /// Needs of its own that a host does not meet.
    pub fn unmet(&self, lacking: &'static [Lacking]) -> impl Iterator<Item = &'static Lacking> {
        let traits = self.traits;
        lacking.iter().filter(move |lacking| traits.has(lacking.need))
    }

    /// True if a host that lacks this meets all its needs.
    pub fn runs_without(&self, lacking: &'static [Lacking]) -> bool {
        self.unmet(lacking).next().is_none()
    }

    /// The defaults of all parameters, in table order, for [`Config::parameter`]; a host may have its own:
    /// [`parameters_in`](Self::parameters_in).
    pub fn default_parameters(&self) -> [u64; PARAMETERS_MAX] {
        let mut values = [0; PARAMETERS_MAX];
        for (value, parameter) in values.iter_mut().zip(&self.parameters) {
            *value = parameter.default;
        }
        values
    }
}

/// All algorithms, in registry order.
pub fn algorithms() -> &'static [Algorithm] {
    static TABLE: OnceLock<Vec<Algorithm>> = OnceLock::new();
    TABLE.get_or_init(|| abi::rows().into_iter().map(Algorithm::from_row).collect())
}

/// The algorithm with this id, or with this name.
pub fn algorithm(id: &str) -> Option<&'static Algorithm> {
    algorithms().iter().find(|a| a.id == id || a.name == id)
}

/// Algorithms with all of these traits, in registry order.
pub fn having(traits: Traits) -> impl Iterator<Item = &'static Algorithm> {
    algorithms().iter().filter(move |algorithm| algorithm.traits.has(traits))
}

/// Start-up of a sender without a ramp algorithm.
pub fn standard() -> &'static Algorithm {
    having(Traits::STANDARD).next().expect("a test finds one in the registry")
}

/// Start-up of Linux's CUBIC.
pub fn of_cubic() -> &'static Algorithm {
    having(Traits::OF_CUBIC).next().expect("a test finds one in the registry")
}

/// A start-up algorithm steering one connection.
#[derive(Clone, Debug)]
pub struct Startup {
    algorithm: &'static Algorithm,
    functions: Functions,
    state: State,
    decision: Decision,
}

impl Startup {
    /// For a connection that is not established yet: nothing is decided before [`begin`](Self::begin).
    pub fn waiting(algorithm: &'static Algorithm) -> Self {
        Self {
            algorithm,
            functions: algorithm.functions,
            state: algorithm.functions.state(),
            decision: Decision::new(),
        }
    }

    /// For a connection that has just been established.
    pub fn new(algorithm: &'static Algorithm, config: &Config) -> Self {
        let mut startup = Self::waiting(algorithm);
        startup.begin(config);
        startup
    }

    /// The connection is established. To be called once.
    pub fn begin(&mut self, config: &Config) {
        let config = Config { hint: self.algorithm.admitted(config.hint), ..*config };
        self.functions.init(&mut self.state, &config, &mut self.decision);
    }

    /// Which algorithm it is.
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// Instructions to the host.
    #[inline]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// For a host to say, before it calls, what its window is: recovery, timeouts and congestion avoidance change it too.
    #[inline]
    pub fn decision_mut(&mut self) -> &mut Decision {
        &mut self.decision
    }

    /// An ACK advanced `SND.UNA` or selectively acknowledged new data.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack) -> &Decision {
        self.functions.on_ack(&mut self.state, ack, &mut self.decision);
        &self.decision
    }

    /// The algorithm's state as the C core laid it out, padded to whole words; for comparing builds and runs.
    pub fn state(&self) -> &[u64] {
        self.state.words()
    }

    /// Something happened besides ACKs: one of [`EventKind`](crate::EventKind).
    pub fn on_event(&mut self, event: &Event) -> &Decision {
        self.functions.on_event(&mut self.state, event, &mut self.decision);
        &self.decision
    }
}
