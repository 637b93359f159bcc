//! What only the path can see of a sender, where it was watched.

use rampcc_trace::{Emulation, Wire};

use super::{Better, Definition};

pub(crate) const FIRST_FLIGHT: Definition = Definition {
    id: "first_flight",
    name: "first flight",
    unit: "packets",
    meaning: "packets of the answer that left before news of the first could be back: the initial window",
    better: Better::Neither,
};

pub(crate) const BURST: Definition = Definition {
    id: "longest_burst",
    name: "longest burst",
    unit: "packets",
    meaning: "most packets that left back to back in start-up, closer than half of the bottleneck's time for one and \
              than 200 us",
    better: Better::Lower,
};

pub(crate) const BURST_LOST: Definition = Definition {
    id: "longest_burst_lost",
    name: "lost of the longest burst",
    unit: "packets",
    meaning: "packets of the longest burst in start-up that links dropped",
    better: Better::Lower,
};

/// A value, and how it is read.
type Seen = (Definition, fn(&Wire) -> Option<f64>);

/// In the order of reports.
const SEEN: [Seen; 7] = [
    (
        Definition {
            id: "request_time",
            name: "time to the request",
            unit: "s",
            meaning: "from the client's first packet to its last before the answer's first flight: the handshakes",
            better: Better::Lower,
        },
        |wire| wire.request_s,
    ),
    (
        Definition {
            id: "response_time",
            name: "time from the request",
            unit: "s",
            meaning: "from the request to the last byte at the receiver: the download without the handshakes",
            better: Better::Lower,
        },
        |wire| wire.response_s,
    ),
    (FIRST_FLIGHT, |wire| Some(wire.first_flight_packets as f64)),
    (
        Definition {
            id: "first_flight_gap",
            name: "gap in the first flight",
            unit: "s",
            meaning: "mean time between packets of the first flight: near 0 it left in one burst",
            better: Better::Neither,
        },
        |wire| wire.first_flight_gap_s,
    ),
    (BURST, |wire| Some(wire.burst_packets as f64)),
    (BURST_LOST, |wire| Some(wire.burst_lost as f64)),
    (
        Definition {
            id: "turn_around",
            name: "turn-around",
            unit: "s",
            meaning: "median time from the arrival of a packet at the sender to the next that leaves, in start-up: what waking a \
                      program costs, and its pacing",
            better: Better::Lower,
        },
        |wire| wire.turn_around_median_s,
    ),
];

/// Descriptions of the values.
pub(crate) fn definitions() -> impl Iterator<Item = Definition> {
    SEEN.iter().map(|(definition, _)| *definition)
}

/// Values of a run, with their ids; none where it was not watched.
pub fn wire_metrics(emulation: Option<&Emulation>) -> impl Iterator<Item = (String, f64)> {
    let wire = emulation.and_then(|emulation| emulation.wire);
    let value = move |(definition, read): &Seen| Some((definition.id.to_owned(), read(&wire?)?));
    SEEN.iter().filter_map(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_where_somebody_looked() {
        assert_eq!(wire_metrics(None).count(), 0);
        assert_eq!(wire_metrics(Some(&Emulation::default())).count(), 0);
        let wire = Wire { first_flight_packets: 10, burst_packets: 40, burst_lost: 3, ..Wire::default() };
        let seen: Vec<_> =
            wire_metrics(Some(&Emulation { wire: Some(wire), ..Emulation::default() })).collect();
        let expected = [(FIRST_FLIGHT, 10.0), (BURST, 40.0), (BURST_LOST, 3.0)];
        assert_eq!(
            seen,
            expected.map(|(metric, value)| (metric.id.to_owned(), value)),
            "what was not seen has none"
        );
    }
}
