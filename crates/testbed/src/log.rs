//! Samples and events of a run, gathered from several threads and reported in time order afterwards.

use rampcc::Time;
use rampcc_trace::{FlowDecision, FlowEvent, FlowSample, LinkSample, Observer};

/// Samples and events of a run, in any order.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: Vec<(Time, Entry)>,
}

#[derive(Debug)]
enum Entry {
    Event(FlowEvent),
    Flow(Box<FlowSample>),
    Link(LinkSample),
    Decision(Box<FlowDecision>),
}

impl Log {
    pub(crate) fn event(&mut self, event: FlowEvent) {
        self.entries.push((event.now, Entry::Event(event)));
    }

    pub(crate) fn flow(&mut self, sample: FlowSample) {
        self.entries.push((sample.now, Entry::Flow(Box::new(sample))));
    }

    pub(crate) fn link(&mut self, sample: LinkSample) {
        self.entries.push((sample.now, Entry::Link(sample)));
    }

    pub(crate) fn decision(&mut self, decision: FlowDecision) {
        self.entries.push((decision.now, Entry::Decision(Box::new(decision))));
    }

    /// Takes in what another one has.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.entries.append(&mut other.entries);
    }

    /// Tells everything until `end`, in order of time; what is of the same instant as it was entered.
    pub(crate) fn tell(mut self, end: Time, observer: &mut impl Observer) {
        self.entries.sort_by_key(|(at, _)| *at);
        for (_, entry) in self.entries.iter().take_while(|(at, _)| *at <= end) {
            match entry {
                Entry::Event(event) => observer.on_event(event),
                Entry::Flow(sample) => observer.on_flow(sample),
                Entry::Link(sample) => observer.on_link(sample),
                Entry::Decision(decision) => observer.on_decision(decision),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rampcc_trace::FlowEventKind;

    use super::*;

    #[derive(Default)]
    struct Seen(Vec<u64>);

    impl Observer for Seen {
        fn on_flow(&mut self, sample: &FlowSample) {
            self.0.push(sample.now.us());
        }
        fn on_event(&mut self, event: &FlowEvent) {
            self.0.push(1_000 + event.now.us());
        }
    }

    #[test]
    fn tells_in_order_of_time_until_the_end() {
        let mut log = Log::default();
        for us in [3, 1, 9] {
            log.flow(FlowSample { now: Time::from_us(us), ..FlowSample::default() });
        }
        log.event(FlowEvent { now: Time::from_us(3), flow: 0, kind: FlowEventKind::Established });
        let mut seen = Seen::default();
        log.tell(Time::from_us(5), &mut seen);
        assert_eq!(seen.0, [1, 3, 1_003]);
    }
}
