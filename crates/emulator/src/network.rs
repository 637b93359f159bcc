//! The links of a scenario with real packets inside, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use rampcc::Time;
use rampcc_path::{Link, Packet, Totals};
use rampcc_scenario::Scenario;
use rampcc_scenario::random::link_seed;
use rampcc_trace::LinkSample;

use crate::packet::IpPacket;
use crate::plan::Plan;
use crate::report::{Dropped, Seen};

/// Most samples of a queue that are kept.
const SAMPLES_MAX: usize = 1 << 20;

/// First words that are kept, and bytes of each.
const GREETINGS_MAX: usize = 16;
const GREETING_BYTES: usize = 32;

/// Links, and routes over them.
#[derive(Debug)]
pub(crate) struct Network {
    stages: Vec<Stage>,
    /// Indices of stages, by addresses.
    routes: BTreeMap<(IpAddr, IpAddr), u32>,
    hops: Vec<Vec<u32>>,
    overhead: u32,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    sampled: Option<u32>,
    samples: Vec<LinkSample>,
    samples_lost: u64,
    drops: Drops,
    packets: Packets,
}

/// What links dropped, as far as there is room.
#[derive(Debug, Default)]
struct Drops {
    wanted: bool,
    kept: Vec<Dropped>,
    lost: u64,
}

impl Drops {
    fn push(&mut self, now: Time, link: usize, packet: &IpPacket) {
        if !self.wanted {
            return;
        }
        if self.kept.len() == SAMPLES_MAX {
            self.lost += 1;
            return;
        }
        let [from, to] = packet.ends();
        let (link, wire_bytes) = (link as u32, packet.wire_bytes());
        self.kept.push(Dropped { now, link, from, to, wire_bytes, data: packet.data() });
    }
}

/// What hosts sent, as far as there is room.
#[derive(Debug, Default)]
struct Packets {
    wanted: bool,
    kept: Vec<Seen>,
    lost: u64,
    /// How the first TCP payload from each address begins.
    greetings: BTreeMap<SocketAddr, Vec<u8>>,
    /// Position of the one that was delivered last.
    latest: Option<usize>,
}

impl Packets {
    /// The position of a new one; `None`: it is not kept.
    fn push(&mut self, now: Time, packet: &IpPacket) -> Option<usize> {
        if !self.wanted {
            return None;
        }
        self.greet(packet);
        if self.kept.len() == SAMPLES_MAX {
            self.lost += 1;
            return None;
        }
        self.kept.push(packet.seen(now));
        Some(self.kept.len() - 1)
    }

    fn greet(&mut self, packet: &IpPacket) {
        let (payload, [from, _]) = (packet.segment(), packet.ends());
        if !payload.is_empty() && self.greetings.len() < GREETINGS_MAX {
            let said = || payload[..payload.len().min(GREETING_BYTES)].to_vec();
            self.greetings.entry(from).or_insert_with(said);
        }
    }

    fn dropped(&mut self, parcel: &Parcel, now: Time) {
        if let Some(seen) = parcel.number.and_then(|number| self.kept.get_mut(number)) {
            seen.dropped = now;
        }
    }

    fn delivered(&mut self, parcel: &Parcel, due: Time) {
        self.latest = parcel.number;
        if let Some(seen) = parcel.number.and_then(|number| self.kept.get_mut(number)) {
            seen.due = due;
            seen.marked = parcel.packet.marked();
        }
    }
}

/// What is kept besides totals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recorded {
    /// The bottleneck's queue after each arrival.
    pub(crate) queue: bool,
    pub(crate) drops: bool,
    pub(crate) packets: bool,
}

#[derive(Debug)]
struct Stage {
    /// Index into the scenario's links.
    index: usize,
    link: Link<Parcel>,
    /// When the last packet entered: none may enter earlier.
    entered: Time,
    /// When it has something to do.
    next: Time,
}

#[derive(Debug)]
struct Parcel {
    packet: IpPacket,
    route: u32,
    hop: u32,
    /// Position among the packets that are kept.
    number: Option<usize>,
}

impl Packet for Parcel {
    fn wire_bytes(&self) -> u32 {
        self.packet.wire_bytes()
    }
    fn flow(&self) -> u32 {
        self.packet.flow()
    }
    fn pure_ack(&self) -> bool {
        self.packet.pure_ack()
    }
    fn markable(&self) -> bool {
        self.packet.markable()
    }
    fn mark(&mut self) {
        self.packet.mark();
    }
}

impl Network {
    /// The links that the plan's routes cross, seeded as the simulator seeds them.
    pub(crate) fn new(scenario: &Scenario, plan: &Plan, seed: u64, recorded: Recorded) -> Self {
        let used: BTreeSet<usize> = plan.routes.values().flatten().copied().collect();
        let stages = used.iter().map(|&index| Stage {
            index,
            link: Link::new(&scenario.topology.links[index].config, link_seed(seed, index)),
            entered: Time::ZERO,
            next: Time::NEVER,
        });
        let stages: Vec<Stage> = stages.collect();
        let stage = |link: usize| stages.iter().position(|s| s.index == link).map(|i| i as u32);
        let hops = plan.routes.values().map(|route| route.iter().filter_map(|&link| stage(link)).collect());
        Self {
            routes: plan.routes.keys().copied().zip(0..).collect(),
            hops: hops.collect(),
            overhead: plan.overhead,
            spare: Vec::new(),
            sampled: stage(scenario.bottleneck).filter(|_| recorded.queue),
            samples: Vec::new(),
            samples_lost: 0,
            drops: Drops { wanted: recorded.drops, ..Drops::default() },
            packets: Packets { wanted: recorded.packets, ..Packets::default() },
            stages,
        }
    }

    /// A buffer for a packet; [`Self::recycle`] takes it back.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn recycle(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }

    /// Takes a packet in at `now`, or when the first link took its last one, if that is later. `false`: no one
    /// knows where it should go.
    pub(crate) fn handle_packet(&mut self, now: Time, bytes: Vec<u8>) -> bool {
        let packet = match IpPacket::parse(bytes, self.overhead) {
            Ok(packet) => packet,
            Err(bytes) => {
                self.recycle(bytes);
                return false;
            }
        };
        let Some(&route) = self.routes.get(&(packet.from, packet.to)) else {
            self.recycle(packet.bytes);
            return false;
        };
        let first = self.hops[route as usize][0] as usize;
        let number = self.packets.push(now.max(self.stages[first].entered), &packet);
        self.enter(now, Parcel { packet, route, hop: 0, number });
        true
    }

    /// When [`Self::poll_packet`] has something to do.
    pub(crate) fn poll_timeout(&self) -> Time {
        self.stages.iter().map(|stage| stage.next).min().unwrap_or(Time::NEVER)
    }

    /// What reaches its host by `now`, earliest first, with the time at which it does; to be called until `None`.
    pub(crate) fn poll_packet(&mut self, now: Time) -> Option<(Time, Vec<u8>)> {
        loop {
            let (index, stage) = self.stages.iter_mut().enumerate().min_by_key(|(_, stage)| stage.next)?;
            let due = stage.next;
            if due > now || due == Time::NEVER {
                return None;
            }
            let (spare, drops, number) = (&mut self.spare, &mut self.drops, stage.index);
            let packets = &mut self.packets;
            let packet = stage.link.poll_packet(due, &mut |at, parcel: Parcel, _| {
                drops.push(at, number, &parcel.packet);
                packets.dropped(&parcel, at);
                spare.push(parcel.packet.bytes);
            });
            stage.next = stage.link.poll_timeout();
            debug_assert!(packet.is_some() || stage.next > due, "link {index} makes no progress");
            let Some(mut parcel) = packet else { continue };
            parcel.hop += 1;
            if parcel.hop as usize == self.hops[parcel.route as usize].len() {
                self.packets.delivered(&parcel, due);
                return Some((due, parcel.packet.bytes));
            }
            self.enter(due, parcel);
        }
    }

    /// The packet that [`Self::poll_packet`] gave last is with its host.
    pub(crate) fn written(&mut self, now: Time) {
        if let Some(seen) = self.packets.latest.take().and_then(|number| self.packets.kept.get_mut(number)) {
            seen.written = now;
        }
    }

    /// Every link's index in the scenario and its totals.
    pub(crate) fn totals(&self) -> Vec<(usize, Totals)> {
        self.stages.iter().map(|stage| (stage.index, stage.link.totals())).collect()
    }

    /// The bottleneck's queue after each arrival, and how many samples found no room.
    pub(crate) fn take_samples(&mut self) -> (Vec<LinkSample>, u64) {
        (std::mem::take(&mut self.samples), self.samples_lost)
    }

    /// What links dropped, and how many found no room.
    pub(crate) fn take_drops(&mut self) -> (Vec<Dropped>, u64) {
        (std::mem::take(&mut self.drops.kept), self.drops.lost)
    }

    /// What hosts sent, and how many found no room.
    pub(crate) fn take_packets(&mut self) -> (Vec<Seen>, u64) {
        (std::mem::take(&mut self.packets.kept), self.packets.lost)
    }

    /// How the first TCP payload from each address begins.
    pub(crate) fn take_greetings(&mut self) -> Vec<(SocketAddr, Vec<u8>)> {
        std::mem::take(&mut self.packets.greetings).into_iter().collect()
    }

    fn enter(&mut self, now: Time, parcel: Parcel) {
        let index = self.hops[parcel.route as usize][parcel.hop as usize];
        let stage = &mut self.stages[index as usize];
        let now = now.max(stage.entered);
        stage.entered = now;
        let (spare, drops, number) = (&mut self.spare, &mut self.drops, stage.index);
        let packets = &mut self.packets;
        stage.link.handle_packet(now, parcel, &mut |at, parcel, _| {
            drops.push(at, number, &parcel.packet);
            packets.dropped(&parcel, at);
            spare.push(parcel.packet.bytes);
        });
        stage.next = stage.link.poll_timeout();
        if self.sampled == Some(index) {
            if self.samples.len() == SAMPLES_MAX {
                self.samples_lost += 1;
                return;
            }
            self.samples.push(LinkSample {
                now,
                link: stage.index as u32,
                queue_bytes: stage.link.queue_bytes(now),
                queue_packets: stage.link.queue_packets(now),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::tcp;

    fn network(text: &str) -> Network {
        let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
        let plan = Plan::new(&scenario, &crate::Options::default()).expect("the emulator plays it");
        Network::new(&scenario, &plan, 1, Recorded { queue: true, drops: true, packets: true })
    }

    const DOWN: ([u8; 4], [u8; 4]) = ([10, 77, 0, 1], [10, 77, 128, 1]);

    fn data(payload: usize) -> Vec<u8> {
        tcp(DOWN.0, DOWN.1, [1, 2], 0x10, payload)
    }

    fn all(network: &mut Network, now: Time) -> Vec<u64> {
        std::iter::from_fn(|| network.poll_packet(now)).map(|(due, _)| due.us()).collect()
    }

    #[test]
    fn packets_cross_a_chain_at_exactly_their_times_however_late_it_is_polled() {
        // 12 Mbit/s: 1 ms for 1500 bytes; side links of 24 Mbit/s: 0.5 ms.
        let text = "size = '1 MB'\n[path]\nrate = '12 Mbit/s'\nrtt = '20 ms'\naccess = '24 Mbit/s'\n";
        let mut network = network(text);
        for _ in 0..3 {
            assert!(network.handle_packet(Time::ZERO, data(1460)));
        }
        assert_eq!(network.poll_timeout(), Time::from_us(500));
        assert_eq!(all(&mut network, Time::from_secs(1)), [12_000, 13_000, 14_000]);
        assert_eq!(network.poll_timeout(), Time::NEVER);
        assert_eq!(network.take_samples().0.len(), 3);
    }

    #[test]
    fn time_does_not_go_back_at_a_link() {
        let mut network = network("size = '1 MB'\n[path]\nrate = '12 Mbit/s'\nrtt = '20 ms'\n");
        assert!(network.handle_packet(Time::from_ms(5), data(1460)));
        assert!(network.handle_packet(Time::from_ms(4), data(1460)));
        assert_eq!(all(&mut network, Time::from_secs(1)), [16_000, 17_000]);
    }

    #[test]
    fn strangers_are_turned_away_and_their_buffers_used_again() {
        let mut network = network("size = '1 MB'\n[path]\nrate = '12 Mbit/s'\nrtt = '20 ms'\n");
        assert!(!network.handle_packet(Time::ZERO, tcp(DOWN.0, [10, 77, 128, 2], [1, 2], 0x10, 0)));
        assert!(!network.handle_packet(Time::ZERO, vec![0x60; 40]));
        assert_eq!(network.spare.len(), 2);
        assert_eq!(network.poll_timeout(), Time::NEVER);
    }

    #[test]
    fn what_enters_leaves_is_dropped_or_is_inside() {
        let text = "size = '1 MB'\n[path]\nrate = '12 Mbit/s'\nrtt = '20 ms'\nbuffer = '10 packets'\nloss = '10 %'\n";
        let mut network = network(text);
        let mut delivered = 0;
        for i in 0..1_000u64 {
            let now = Time::from_us(i * 700);
            assert!(network.handle_packet(now, data(1460)));
            delivered += all(&mut network, now).len() as u64;
        }
        let (_, totals) = network.totals()[0];
        assert_eq!(totals.arrived.packets, 1_000);
        assert_eq!(totals.delivered.packets, delivered);
        assert_eq!(
            totals.arrived.packets,
            totals.delivered.packets + totals.dropped().packets + totals.inside.packets
        );
        assert!(totals.dropped().packets > 100 && totals.inside.packets > 5);
        assert_eq!(totals.peak_queue.packets, 10);
        let (drops, lost) = network.take_drops();
        assert_eq!((drops.len() as u64, lost), (totals.dropped().packets, 0));
        assert!(drops.iter().all(|drop| drop.data && drop.wire_bytes == 1500 && drop.from.port() == 1));
        let (packets, lost) = network.take_packets();
        assert_eq!((packets.len(), lost), (1_000, 0));
        let count = |which: fn(&Seen) -> bool| packets.iter().filter(|seen| which(seen)).count() as u64;
        assert_eq!(count(|seen| seen.dropped != Time::NEVER), totals.dropped().packets);
        assert_eq!(count(|seen| seen.due != Time::NEVER), totals.delivered.packets);
        assert!(packets.iter().all(|seen| seen.dropped == Time::NEVER || seen.due == Time::NEVER));
        let [(from, said)] = &network.take_greetings()[..] else { panic!("one host spoke") };
        assert_eq!((from.to_string().as_str(), said.as_slice()), ("10.77.0.1:1", &[0; GREETING_BYTES][..]));
    }
}
