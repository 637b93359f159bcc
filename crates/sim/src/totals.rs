//! Totals of every link at the end of a run.
//!
//! A link that settles counts a packet as delivered when it enters, and a chain is settled ahead of the clock. At the end
//! of a run some of what was counted still lies in the future, and is taken back.

use rampcc::Time;
use rampcc_path::{Count, Packet};
use rampcc_trace::LinkTotals;

use crate::network::Network;
use crate::packet::Place;
use crate::stage::{Passages, Stage, add};
use crate::transport::Datagram;

/// A packet's stay in a link of its chain.
struct Stay {
    link: u32,
    entered: Time,
    left: Time,
}

impl<P: Datagram> Network<P> {
    pub(crate) fn totals(&self, end: Time) -> Vec<LinkTotals> {
        let mut totals: Vec<LinkTotals> = self.stages.iter().map(Stage::totals).collect();
        for under_way in self.stages.iter().flat_map(|stage| stage.under_way.iter()) {
            for stay in self.stays(under_way.place, under_way.passages, under_way.arrival) {
                self.take_back(&mut totals, end, &stay, under_way.packet.wire_bytes());
            }
        }
        for to_come in self.drops.to_come() {
            let parcel = &to_come.drop.parcel;
            let wire_bytes = parcel.wire_bytes();
            if to_come.time > end {
                let totals = &mut totals[to_come.drop.link as usize];
                take(&mut totals.dropped, wire_bytes);
                take(&mut totals.arrived, wire_bytes);
            }
            // So far it fared like a packet whose chain ends one link earlier.
            for stay in self.stays(parcel.place.before(), to_come.passages, to_come.time) {
                self.take_back(&mut totals, end, &stay, wire_bytes);
            }
        }
        totals
    }

    /// Where a packet has been, or will have been, since it entered its chain, until its `arrival` at the end.
    fn stays(&self, place: Place, passages: Passages, arrival: Time) -> impl Iterator<Item = Stay> {
        let steps = self.routes.steps_before(place.next());
        let fused = steps.iter().rev().take_while(|step| step.fused).count();
        let passages = passages.into_iter().take(fused);
        // It entered the first link when it was handed to it, which has happened.
        let entered = std::iter::once(Time::ZERO).chain(passages.clone());
        let left = passages.chain(std::iter::once(arrival));
        let chain = &steps[steps.len() - fused - 1..];
        chain.iter().zip(entered.zip(left)).map(|(step, (entered, left))| Stay {
            link: step.link,
            entered,
            left,
        })
    }

    /// Takes back what of a stay was counted and lies after `end`.
    fn take_back(&self, totals: &mut [LinkTotals], end: Time, stay: &Stay, wire_bytes: u32) {
        let stage = &self.stages[stay.link as usize];
        let totals = &mut totals[stay.link as usize];
        let stranded = stay.left == Time::NEVER && stage.counts_stranded();
        if stay.left > end && !stranded {
            take(&mut totals.delivered, wire_bytes);
            add(&mut totals.inside, wire_bytes);
        }
        if stay.entered > end {
            take(&mut totals.arrived, wire_bytes);
            take(&mut totals.inside, wire_bytes);
        }
    }
}

fn take(count: &mut Count, wire_bytes: u32) {
    count.packets -= 1;
    count.bytes -= u64::from(wire_bytes);
}
