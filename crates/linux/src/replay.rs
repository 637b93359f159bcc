//! The native core fed with what the kernel's was told: the decisions must agree, byte for byte.

use std::collections::BTreeMap;

use rampcc::{Algorithm, Decision, Startup};
use thiserror::Error;

use crate::event::{Event, Header};

/// Connections of one algorithm, replayed.
#[derive(Debug)]
pub struct Replay {
    algorithm: &'static Algorithm,
    flows: BTreeMap<u64, Flow>,
    compared: u64,
}

#[derive(Debug)]
struct Flow {
    startup: Startup,
    next: u32,
}

/// Difference between kernel and native core.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Difference {
    /// An event is missing, so nothing can be said of the rest of this connection.
    #[error("flow {flow}: events {expected} to {found} were lost")]
    Lost {
        /// The connection.
        flow: u64,
        /// The event that should have come.
        expected: u32,
        /// The event that came.
        found: u32,
    },
    /// The two decided differently.
    #[error("flow {flow}, event {index}: the kernel decided {kernel:?}, the native core {native:?}")]
    Decision {
        /// The connection.
        flow: u64,
        /// The event.
        index: u32,
        /// In the kernel.
        kernel: Box<Decision>,
        /// Here.
        native: Box<Decision>,
    },
    /// An event of a kind that the core does not know.
    #[error("flow {flow}, event {index}: an event of an unknown kind")]
    Unknown {
        /// The connection.
        flow: u64,
        /// The event.
        index: u32,
    },
}

impl Replay {
    /// For events of this algorithm, recorded with [`crate::Record::All`].
    pub fn new(algorithm: &'static Algorithm) -> Self {
        Self { algorithm, flows: BTreeMap::new(), compared: 0 }
    }

    /// Decisions compared so far.
    pub fn compared(&self) -> u64 {
        self.compared
    }

    /// Takes the next event. Connections whose opening was not recorded are passed over.
    pub fn handle_event(&mut self, event: &Event) -> Result<(), Difference> {
        let header = *event.header();
        if let Event::Open(open) = event {
            let startup = Startup::new(self.algorithm, &open.config);
            let native = *startup.decision();
            self.flows.insert(header.flow, Flow { startup, next: header.index + 1 });
            return self.compare(&header, open.decision, native);
        }
        let Some(flow) = self.flows.get_mut(&header.flow) else { return Ok(()) };
        if header.index != flow.next {
            let expected = flow.next;
            self.flows.remove(&header.flow);
            return Err(Difference::Lost { flow: header.flow, expected, found: header.index });
        }
        flow.next += 1;
        match event {
            Event::Ack(e) => {
                host_writes(&mut flow.startup, &e.before);
                let before = *flow.startup.decision();
                let native = *flow.startup.on_ack(&e.ack);
                self.compare(&header, e.before, before)?;
                self.compare(&header, e.after, native)
            }
            Event::Told(e) => {
                let Some(event) = e.event() else {
                    return Err(Difference::Unknown { flow: header.flow, index: header.index });
                };
                host_writes(&mut flow.startup, &e.before);
                let before = *flow.startup.decision();
                let native = *flow.startup.on_event(&event);
                self.compare(&header, e.before, before)?;
                self.compare(&header, e.after, native)
            }
            Event::Close(_) => {
                self.flows.remove(&header.flow);
                Ok(())
            }
            Event::Exit(_) | Event::Open(_) => Ok(()),
        }
    }

    fn compare(&mut self, header: &Header, kernel: Decision, native: Decision) -> Result<(), Difference> {
        self.compared += 1;
        if kernel == native {
            return Ok(());
        }
        Err(Difference::Decision {
            flow: header.flow,
            index: header.index,
            kernel: Box::new(kernel),
            native: Box::new(native),
        })
    }
}

/// Window and threshold are the host's to change between events, and nothing else is.
fn host_writes(startup: &mut Startup, kernel: &Decision) {
    let own = startup.decision_mut();
    own.cwnd_bytes = kernel.cwnd_bytes;
    own.ssthresh_bytes = kernel.ssthresh_bytes;
}
