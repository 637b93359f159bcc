//! What a process that plays and its child say to each other: blocks of messages.
//!
//! A child runs a stranger's code, so whatever comes from it is data: a block that cannot be read is an error, never a crash.

use std::io::{self, Read, Write};

use rampcc::{Ack, Algorithm, Config, Decision, Description, Event, Time};
use rampcc_trace::{
    Call, CpuSample, FlowDecision, FlowEvent, FlowSample, LinkSample, Opening, Outcome, Told,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A child says what it has once it is so many bytes.
pub(super) const BLOCK: usize = 1 << 16;
/// The longest block: the outcome of a run with very many flows.
const LONGEST: usize = 1 << 28;

#[derive(Serialize, Deserialize)]
pub(super) enum Ask {
    /// First: to load this shared object.
    Load {
        object: Vec<u8>,
        /// Of the algorithm's source.
        digest: String,
    },
    /// Then any number of runs, one after the other.
    Play {
        /// A [`Parcel`](rampcc_experiment::Parcel) as JSON.
        path: String,
        /// A [`Task`](rampcc_experiment::Task) as JSON.
        task: String,
        /// Whether every call of an algorithm is wanted.
        decisions: bool,
    },
}

/// What a child says.
#[derive(Serialize, Deserialize)]
pub(super) enum Said {
    Loaded(Description),
    Flow(FlowSample),
    Link(LinkSample),
    Cpu(CpuSample),
    Event(FlowEvent),
    Decision(Box<Decided>),
    /// The run is over.
    Ended(Outcome),
    /// It could not be loaded or played.
    Failed(String),
}

/// A [`FlowDecision`], its algorithm by name.
#[derive(Serialize, Deserialize)]
pub(super) struct Decided {
    now: Time,
    flow: u32,
    index: u32,
    told: Heard,
    before: Decision,
    after: Decision,
}

#[derive(Serialize, Deserialize)]
enum Heard {
    Open(String, Box<Config>),
    Ack(Ack),
    Event(Event),
}

impl Decided {
    pub(super) fn new(decision: &FlowDecision) -> Self {
        let FlowDecision { now, flow, index, call: Call { told, before, after } } = decision;
        let told = match told {
            Told::Open(opening) => Heard::Open(opening.algorithm.id.to_owned(), Box::new(opening.config)),
            Told::Ack(ack) => Heard::Ack(*ack),
            Told::Event(event) => Heard::Event(*event),
        };
        Self { now: *now, flow: *flow, index: *index, told, before: *before, after: *after }
    }

    /// `candidate` is the algorithm that the child has loaded. `None`: nothing is called as it says.
    pub(super) fn open(self, candidate: &'static Algorithm) -> Option<FlowDecision> {
        let Self { now, flow, index, told, before, after } = self;
        let told = match told {
            Heard::Open(id, config) => {
                let known = Some(candidate).filter(|candidate| candidate.id == id);
                Opening::told(known.or_else(|| rampcc::algorithm(&id))?, *config)
            }
            Heard::Ack(ack) => Told::Ack(ack),
            Heard::Event(event) => Told::Event(event),
        };
        Some(FlowDecision { now, flow, index, call: Call { told, before, after } })
    }
}

pub(super) fn add(block: &mut Vec<u8>, message: &impl Serialize) -> io::Result<()> {
    let taken = std::mem::take(block);
    *block = postcard::to_extend(message, taken).map_err(io::Error::other)?;
    Ok(())
}

pub(super) fn send(out: &mut impl Write, block: &mut Vec<u8>) -> io::Result<()> {
    let length = u32::try_from(block.len()).map_err(io::Error::other)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(block)?;
    block.clear();
    Ok(())
}

/// Takes the next block; `None`: the other side is gone.
pub(super) fn receive(from: &mut impl Read, block: &mut Vec<u8>) -> io::Result<Option<()>> {
    let mut length = [0; 4];
    if let Err(error) = from.read_exact(&mut length) {
        return if error.kind() == io::ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a block of {length} bytes")));
    }
    block.clear();
    // Grows as bytes come: nothing is set aside for what is only announced.
    let read = from.take(length as u64).read_to_end(block)?;
    Ok((read == length).then_some(()))
}

pub(super) fn messages<T: DeserializeOwned>(mut block: &[u8]) -> impl Iterator<Item = io::Result<T>> {
    std::iter::from_fn(move || {
        if block.is_empty() {
            return None;
        }
        let read = postcard::take_from_bytes(block);
        let (message, rest) = match read {
            Ok((message, rest)) => (Ok(message), rest),
            Err(error) => (Err(io::Error::new(io::ErrorKind::InvalidData, error)), &[][..]),
        };
        block = rest;
        Some(message)
    })
}

/// Reads what comes from a child, or what one is asked, and writes the same again: for fuzzing.
#[doc(hidden)]
pub fn said_again(mut line: &[u8], asked: bool) -> io::Result<Vec<u8>> {
    let (mut block, mut again, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    while receive(&mut line, &mut block)?.is_some() {
        if asked {
            messages::<Ask>(&block).try_for_each(|ask| add(&mut again, &ask?))?;
        } else {
            for said in messages::<Said>(&block) {
                let said = match said? {
                    Said::Decision(decided) => {
                        let Some(decision) = decided.open(rampcc::standard()) else { continue };
                        Said::Decision(Box::new(Decided::new(&decision)))
                    }
                    Said::Loaded(description) if !description.is_sound() => continue,
                    said => said,
                };
                add(&mut again, &said)?;
            }
        }
        send(&mut sent, &mut again)?;
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received_and_anything_else_is_an_error() {
        let (mut block, mut line) = (Vec::new(), Vec::new());
        let sample = FlowSample { flow: 7, cwnd_bytes: u64::MAX, ..FlowSample::default() };
        let config = Config::new(rampcc::standard(), 1448, 10);
        let mut after = Decision::new();
        after.cwnd_bytes = u64::MAX;
        let decision = FlowDecision {
            now: Time::from_ms(3),
            flow: 7,
            index: 9,
            call: Call { told: Opening::told(rampcc::standard(), config), before: Decision::new(), after },
        };
        add(&mut block, &Said::Flow(sample)).unwrap();
        add(&mut block, &Said::Decision(Box::new(Decided::new(&decision)))).unwrap();
        send(&mut line, &mut block).unwrap();
        let mut from = line.as_slice();
        assert_eq!(receive(&mut from, &mut block).unwrap(), Some(()));
        let mut said = messages::<Said>(&block).map(Result::unwrap);
        assert!(matches!(said.next(), Some(Said::Flow(same)) if same == sample));
        let Some(Said::Decision(same)) = said.next() else { panic!("no decision") };
        assert_eq!(same.open(rampcc::of_cubic()), Some(decision));
        assert!(said.next().is_none());
        drop(said);
        assert_eq!(receive(&mut from, &mut block).unwrap(), None, "nobody is there");
        assert!(messages::<Said>(&[200, 1]).next().unwrap().is_err());
        assert_eq!(receive(&mut &[9, 0, 0, 0, 1][..], &mut block).unwrap(), None, "cut off");
        assert!(receive(&mut &[255; 8][..], &mut block).is_err(), "too long");
    }

    #[test]
    fn what_no_algorithm_can_be_is_not_believed() {
        let description = rampcc::standard().description();
        assert!(description.is_sound());
        let whole = serde_json::to_value(&description).unwrap();
        let too_many = vec![serde_json::json!([["a", "us", "", ""], [1, 0, 2]]); 25];
        for (field, value) in [
            ("state_words", serde_json::json!(usize::MAX)),
            ("text", serde_json::json!(["", "", "", ""])),
            ("parameters", serde_json::json!([[["a", "us", "", ""], [1, 2, 0]]])),
            ("parameters", too_many.into()),
        ] {
            let mut other = whole.clone();
            other[field] = value;
            let other: Description = serde_json::from_value(other).unwrap();
            assert!(!other.is_sound(), "{other:?}");
        }
    }
}
