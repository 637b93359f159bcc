//! What a watcher at the path knows of a download.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use rampcc::{ExitReason, Phase, Time, UNSET};
use rampcc_emulator::{ErrorReport, Seen};
use rampcc_scenario::Scenario;
use rampcc_trace::{FlowSample, SenderState, Wire as Facts};

/// Most packets of a server's handshake flight: it may send three times the 1200 bytes of a client it does not know (RFC
/// 9000, section 8.1), and TLS over TCP takes no more. A first flight of data is longer (RFC 6928: 10 packets).
const HANDSHAKE_PACKETS: usize = 4;
/// Packets closer than this are back to back, however slow the bottleneck is.
const GAP_MAX: Time = Time::from_us(200);
/// A round that does not bring this much more than the one before ends start-up: growth by a quarter, as BBR asks for.
const GROWTH: (u64, u64) = (5, 4);

/// The packets of a run, and what is known of the path.
pub(super) struct Wire<'a> {
    /// With payload, from the server, in order of time.
    sent: Vec<&'a Seen>,
    /// From the client, in order of time.
    answers: Vec<&'a Seen>,
    base_rtt: Time,
    /// Packets closer than this are back to back.
    gap: Time,
}

/// The end of start-up as the path shows it of a run whose packets were recorded, for one flow.
///
/// It is the rule by which programs are judged; of a kernel's flow the true end is known, so its error can be measured.
pub fn exit_on_wire(report: &ErrorReport, scenario: &Scenario) -> Option<(Time, ExitReason)> {
    let wire = Wire::of(report, scenario)?;
    wire.exit().map(|exit| (exit.at, exit.reason))
}

/// Rounds as packets make them: a round ends when the news of its first packet is back at the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Round {
    start: Time,
    packets: u64,
    bytes: u64,
}

/// A run of packets back to back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Burst {
    /// Its length.
    pub(super) packets: u64,
    /// Of these, dropped by links.
    pub(super) lost: u64,
}

/// The end of start-up as the path shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WireExit {
    pub(super) at: Time,
    pub(super) reason: ExitReason,
    pub(super) in_flight_bytes: u64,
}

impl<'a> Wire<'a> {
    /// The packets of the first flow; the server is the end that sent the most. `None`: neither sent anything.
    fn of(report: &'a ErrorReport, scenario: &Scenario) -> Option<Self> {
        let mut bytes: BTreeMap<IpAddr, u64> = BTreeMap::new();
        for seen in &report.packets {
            *bytes.entry(seen.from.ip()).or_default() += u64::from(seen.payload_bytes);
        }
        let server = bytes.into_iter().max_by_key(|(_, bytes)| *bytes)?.0;
        Some(Self::between(report, scenario, server))
    }

    /// The packets of the first flow, from this server.
    pub(super) fn between(report: &'a ErrorReport, scenario: &Scenario, server: IpAddr) -> Self {
        let facts = scenario.facts(0);
        let rate = facts.capacity.iter().map(|(_, rate)| rate.bits_per_s()).max().unwrap_or(0);
        let bytes = scenario.flows.first().map_or(0, |flow| flow.sender.mss_bytes + flow.sender.header_bytes);
        let packet_time = Time::from_ns(u64::from(bytes) * 8_000_000_000 / rate.max(1));
        Self::new(&report.packets, server, facts.base_rtt, packet_time)
    }

    /// `packet_time`: of a full packet at the bottleneck.
    fn new(packets: &'a [Seen], server: IpAddr, base_rtt: Time, packet_time: Time) -> Self {
        let of = |own: bool| packets.iter().filter(move |seen| (seen.from.ip() == server) == own);
        let gap = Time::from_ns(packet_time.ns() / 2).min(GAP_MAX);
        let mut sent: Vec<&Seen> = of(true).filter(|seen| seen.payload_bytes > 0).collect();
        let mut answers: Vec<&Seen> = of(false).collect();
        sent.sort_by_key(|seen| seen.taken);
        answers.sort_by_key(|seen| seen.taken);
        Self { sent, answers, base_rtt, gap }
    }

    /// When the client's first packet left.
    pub(super) fn opened(&self) -> Option<Time> {
        self.answers.first().map(|seen| seen.taken)
    }

    /// When the last packet with payload reached the client, at most at `by`.
    pub(super) fn last_delivery(&self, by: Time) -> Option<Time> {
        self.sent.iter().map(|seen| seen.due).filter(|due| *due <= by).max()
    }

    /// Payload that reached the client by then.
    pub(super) fn delivered_bytes(&self, by: Time) -> u64 {
        self.sent.iter().filter(|seen| seen.due <= by).map(|seen| u64::from(seen.payload_bytes)).sum()
    }

    /// Packets with payload that left by then, and their bytes.
    pub(super) fn sent(&self, by: Time) -> (u64, u64) {
        let sent = self.sent.iter().filter(|seen| seen.taken <= by);
        sent.fold((0, 0), |(packets, bytes), seen| (packets + 1, bytes + u64::from(seen.payload_bytes)))
    }

    /// Connections that the client has opened.
    pub(super) fn connections(&self) -> usize {
        let with_ports = self.answers.iter().filter(|seen| seen.from.port() != 0);
        with_ports.map(|seen| (seen.from, seen.to, seen.tcp)).collect::<BTreeSet<_>>().len()
    }

    /// Position of the first packet of the answer's first flight: of those that follow half a round trip of silence,
    /// the first with more than a handshake's packets behind it within a round trip.
    fn first(&self) -> Option<usize> {
        let quiet = Time::from_ns(self.base_rtt.ns() / 2);
        let after_silence = |&at: &usize| at == 0 || self.sent[at].taken - self.sent[at - 1].taken >= quiet;
        let candidates = || (0..self.sent.len()).filter(after_silence);
        let long = |&at: &usize| {
            let until = self.sent[at].taken + self.base_rtt;
            self.sent[at..].iter().take_while(|seen| seen.taken < until).count() > HANDSHAKE_PACKETS
        };
        candidates().find(long).or_else(|| candidates().next_back())
    }

    /// When the request left: the client's last packet that had arrived when the answer's first flight began.
    pub(super) fn requested(&self) -> Option<Time> {
        let first = self.sent.get(self.first()?)?.taken;
        self.answers.iter().filter(|seen| seen.due <= first).map(|seen| seen.taken).max()
    }

    /// When the server can know of what reached the client at `due`: with the client's next packet that arrives.
    fn news(&self, due: Time) -> Option<Time> {
        let from = self.answers.partition_point(|seen| seen.taken < due);
        self.answers[from..].iter().map(|seen| seen.due).find(|due| *due != Time::NEVER)
    }

    /// Everything that has a number, until start-up was `left`.
    pub(super) fn facts(&self, packets: &[Seen], left: Time) -> Facts {
        let first = self.first().unwrap_or(0);
        let flight = self.first_flight();
        let gap = || {
            let last = self.sent.get(first + flight.checked_sub(1)? as usize)?.taken;
            (flight > 1).then(|| (last - self.sent[first].taken).secs_f64() / (flight - 1) as f64)
        };
        let burst = self.longest_burst(left);
        let turns = self.turn_arounds(packets, left);
        let at = |share: f64| turns.get((turns.len() as f64 * share) as usize).map(|time| time.secs_f64());
        Facts {
            request_s: self.opened().zip(self.requested()).map(|(opened, asked)| (asked - opened).secs_f64()),
            first_flight_packets: flight,
            first_flight_gap_s: gap(),
            burst_packets: burst.packets,
            burst_lost: burst.lost,
            turn_around_median_s: at(0.5),
            turn_around_p90_s: at(0.9),
            connections: self.connections() as u64,
            ecn_packets: self.sent.iter().filter(|seen| seen.ecn != 0).count() as u64,
            marked_packets: self.sent.iter().filter(|seen| seen.marked).count() as u64,
            ..Facts::default()
        }
    }

    fn rounds(&self) -> Vec<Round> {
        let Some(mut at) = self.first() else { return Vec::new() };
        let mut rounds = Vec::new();
        while at < self.sent.len() {
            let start = self.sent[at].taken;
            let arrived = self.sent[at..].iter().map(|seen| seen.due).find(|due| *due != Time::NEVER);
            let end =
                arrived.and_then(|due| self.news(due)).unwrap_or(Time::NEVER).max(start + Time::from_ns(1));
            let next = at + self.sent[at..].partition_point(|seen| seen.taken < end);
            let bytes = self.sent[at..next].iter().map(|seen| u64::from(seen.payload_bytes)).sum();
            rounds.push(Round { start, packets: (next - at) as u64, bytes });
            at = next;
        }
        rounds
    }

    /// Packets that left before any news of the first could be back.
    pub(super) fn first_flight(&self) -> u64 {
        self.rounds().first().map_or(0, |round| round.packets)
    }

    /// The longest run of packets back to back within the answer, at most until `by`; the first of equal ones.
    pub(super) fn longest_burst(&self, by: Time) -> Burst {
        let mut longest = Burst::default();
        let mut burst = Burst::default();
        let mut before = None;
        for seen in self.sent.iter().skip(self.first().unwrap_or(0)).take_while(|seen| seen.taken <= by) {
            if before.is_none_or(|before| seen.taken - before > self.gap) {
                burst = Burst::default();
            }
            before = Some(seen.taken);
            burst.packets += 1;
            burst.lost += u64::from(seen.dropped != Time::NEVER);
            if burst.packets > longest.packets {
                longest = burst;
            }
        }
        longest
    }

    /// The end of start-up: the beginning of the first round that brings less than a quarter more than the one before, or
    /// when the news of the first loss reaches the server, if that is no later than this round's end: then the loss is why
    /// it did not grow. The last round proves nothing: the object ends in it.
    pub(super) fn exit(&self) -> Option<WireExit> {
        let rounds = self.rounds();
        let stops = |pair: &[Round]| pair[1].bytes * GROWTH.1 < pair[0].bytes * GROWTH.0;
        let whole = &rounds[..rounds.len().saturating_sub(1)];
        let flat = whole.windows(2).position(stops).map(|before| before + 1);
        let first = self.first()?;
        let lost = self.sent[first..].iter().position(|seen| seen.dropped != Time::NEVER);
        let lost = lost.and_then(|lost| {
            let later =
                self.sent[first + lost..].iter().map(|seen| seen.due).filter(|due| *due != Time::NEVER);
            Some((self.news(later.min()?)?, ExitReason::Loss))
        });
        let flat = flat.map(|at| (rounds[at].start, rounds[at + 1].start));
        let (at, reason) = match (flat, lost) {
            (Some((start, end)), lost) if lost.is_none_or(|(news, _)| news > end) => {
                (start, ExitReason::Plateau)
            }
            (_, lost) => lost?,
        };
        let in_flight_bytes = self.in_flight(at);
        Some(WireExit { at, reason, in_flight_bytes })
    }

    fn in_flight(&self, at: Time) -> u64 {
        self.samples(at, 0).last().map_or(0, |sample| sample.in_flight_bytes)
    }

    /// Times from the arrival of a packet of the client at the idle server to the server's next packet, until `by`, in
    /// order of size.
    pub(super) fn turn_arounds(&self, packets: &[Seen], by: Time) -> Vec<Time> {
        let server = self.sent.first().map(|seen| seen.from.ip());
        let mut told: Vec<(Time, bool)> = Vec::new();
        for seen in packets {
            match Some(seen.from.ip()) == server {
                true => told.push((seen.taken, true)),
                false if seen.written != Time::NEVER => told.push((seen.written, false)),
                false => {}
            }
        }
        told.sort_unstable();
        let mut waiting = None;
        let mut found = Vec::new();
        for (at, departure) in told.into_iter().take_while(|(at, _)| *at <= by) {
            match (departure, waiting) {
                (false, None) => waiting = Some(at),
                (true, Some(since)) => {
                    found.push(at - since);
                    waiting = None;
                }
                _ => {}
            }
        }
        found.sort_unstable();
        found
    }

    /// What the server can know whenever a packet of the client arrives, until `by`. The window is what is in flight: it
    /// is not on the wire.
    pub(super) fn samples(&self, by: Time, flow: u32) -> Vec<FlowSample> {
        let mut arrivals: Vec<&&Seen> = self.answers.iter().filter(|seen| seen.due <= by).collect();
        arrivals.sort_by_key(|seen| seen.due);
        let mut order: Vec<usize> =
            (0..self.sent.len()).filter(|at| self.sent[*at].due != Time::NEVER).collect();
        order.sort_by_key(|at| self.sent[*at].due);
        let bytes = |at: usize| u64::from(self.sent[at].payload_bytes);
        let (mut departed, mut arrived, mut passed) = (0, 0, 0);
        let mut sample = FlowSample {
            flow,
            ssthresh_bytes: UNSET,
            receive_window_bytes: u64::MAX,
            ..FlowSample::default()
        };
        let mut samples = Vec::new();
        let mut last = None;
        for answer in arrivals {
            while departed < self.sent.len() && self.sent[departed].taken <= answer.due {
                sample.sent_bytes += bytes(departed);
                departed += 1;
            }
            while arrived < order.len() && self.sent[order[arrived]].due <= answer.taken {
                let at = order[arrived];
                sample.delivered_bytes += bytes(at);
                last = Some(at);
                // What left before it and was dropped is known by now.
                while passed < at {
                    if self.sent[passed].dropped != Time::NEVER {
                        sample.lost_bytes += bytes(passed);
                    }
                    passed += 1;
                }
                arrived += 1;
            }
            // At least this much must go again; the path cannot tell what else does.
            sample.retransmitted_bytes = sample.lost_bytes;
            sample.in_flight_bytes =
                sample.sent_bytes.saturating_sub(sample.delivered_bytes + sample.lost_bytes);
            sample.cwnd_bytes = sample.in_flight_bytes;
            sample.now = answer.due;
            if let Some(at) = last {
                sample.rtt = answer.due - self.sent[at].taken;
                let least = sample.min_rtt;
                sample.min_rtt = if least == Time::ZERO { sample.rtt } else { least.min(sample.rtt) };
            }
            sample.state = SenderState::Open;
            sample.phase = Phase::Startup;
            samples.push(sample);
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;

    const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
    const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 128, 1));

    /// From the server or the client; it takes 10 ms, or is dropped.
    fn packet(own: bool, us: u64, payload_bytes: u32, dropped: bool) -> Seen {
        let (server, client) = (SocketAddr::new(SERVER, 8443), SocketAddr::new(CLIENT, 4000));
        let (from, to) = if own { (server, client) } else { (client, server) };
        let taken = Time::from_us(us);
        let due = if dropped { Time::NEVER } else { taken + Time::from_ms(10) };
        let written = if dropped { Time::NEVER } else { due + Time::from_us(3) };
        let dropped = if dropped { taken } else { Time::NEVER };
        Seen { taken, from, to, tcp: false, payload_bytes, ecn: 0, marked: false, due, written, dropped }
    }

    /// A client's packet at 0; an answer in flights of these sizes, every 20 ms, each in one burst whose packets are 1 us
    /// apart; the client answers each packet. `lost`: the packet of that number is dropped.
    fn flights(sizes: &[u64], lost: Option<u64>) -> Vec<Seen> {
        let mut all = vec![packet(false, 0, 100, false)];
        let mut number = 0;
        for (flight, size) in (0..).zip(sizes) {
            for n in 0..*size {
                let at = 10_000 + flight * 20_000 + n;
                let dropped = lost == Some(number);
                all.push(packet(true, at, 1000, dropped));
                if !dropped {
                    all.push(packet(false, at + 10_000, 0, false));
                }
                number += 1;
            }
        }
        all
    }

    fn wire(packets: &[Seen]) -> Wire<'_> {
        Wire::new(packets, SERVER, Time::from_ms(20), Time::from_us(240))
    }

    #[test]
    fn rounds_and_flights_are_what_left_between_news() {
        let packets = flights(&[10, 20, 40], None);
        let wire = wire(&packets);
        let sizes: Vec<u64> = wire.rounds().iter().map(|round| round.packets).collect();
        assert_eq!(sizes, [10, 20, 40]);
        assert_eq!(wire.first_flight(), 10);
        assert_eq!(wire.longest_burst(Time::NEVER), Burst { packets: 40, lost: 0 });
        assert_eq!(wire.longest_burst(Time::from_ms(40)), Burst { packets: 20, lost: 0 });
        assert_eq!((wire.opened(), wire.requested()), (Some(Time::ZERO), Some(Time::ZERO)));
        assert_eq!((wire.sent(Time::NEVER), wire.connections()), ((70, 70_000), 1));
        assert_eq!(wire.delivered_bytes(Time::from_us(20_004)), 5_000);
        let facts = wire.facts(&packets, Time::NEVER);
        assert_eq!(facts.request_s, Some(0.0));
        assert!(facts.first_flight_gap_s.is_some_and(|gap| (gap - 1e-6).abs() < 1e-9));
        assert_eq!((facts.connections, facts.ecn_packets, facts.burst_packets), (1, 0, 40));
        assert_eq!(wire.exit(), None, "it grew to its end");
    }

    #[test]
    fn a_round_that_does_not_grow_is_the_end_unless_the_object_ends_in_it() {
        let packets = flights(&[10, 20, 24, 24], None);
        let exit = wire(&packets).exit().unwrap();
        assert_eq!((exit.at, exit.reason), (Time::from_us(50_000), ExitReason::Plateau));
        assert_eq!(wire(&flights(&[10, 20, 24], None)).exit(), None);
        assert_eq!(wire(&flights(&[10, 20, 25, 40], None)).exit(), None, "a quarter is growth");
    }

    #[test]
    fn a_loss_is_known_with_the_next_news() {
        let packets = flights(&[10, 20, 40], Some(12));
        let wire = wire(&packets);
        let exit = wire.exit().unwrap();
        let stopped = flights(&[10, 20, 20, 20], Some(12));
        assert_eq!(self::wire(&stopped).exit().map(|exit| exit.reason), Some(ExitReason::Loss), "it is why");
        // The packet after the lost one left at 30.003 ms, and its answer is back 20 ms later.
        assert_eq!((exit.at, exit.reason), (Time::from_us(50_003), ExitReason::Loss));
        assert_eq!(wire.longest_burst(Time::from_ms(40)), Burst { packets: 20, lost: 1 });
        let last = *wire.samples(Time::NEVER, 3).last().unwrap();
        assert_eq!((last.flow, last.sent_bytes, last.delivered_bytes), (3, 70_000, 69_000));
        assert_eq!((last.lost_bytes, last.in_flight_bytes, last.retransmitted_bytes), (1000, 0, 1000));
        assert_eq!((last.rtt, last.min_rtt), (Time::from_ms(20), Time::from_ms(20)));
    }

    #[test]
    fn a_handshake_is_no_first_flight() {
        let mut packets = vec![packet(false, 0, 1200, false)];
        packets.extend((0..3).map(|n| packet(true, 10_000 + n, 1200, false)));
        packets.push(packet(false, 20_000, 300, false));
        packets.extend((0..12).map(|n| packet(true, 30_000 + n, 1200, false)));
        let wire = wire(&packets);
        assert_eq!(wire.first_flight(), 12);
        assert_eq!((wire.opened(), wire.requested()), (Some(Time::ZERO), Some(Time::from_ms(20))));
    }

    #[test]
    fn turn_around_is_from_the_first_news_to_the_next_packet() {
        // The request is with the server 3 us after it was due.
        let mut late = flights(&[5], None);
        late.iter_mut()
            .filter(|seen| seen.from.ip() == SERVER)
            .for_each(|seen| seen.taken += Time::from_us(50));
        assert_eq!(wire(&late).turn_arounds(&late, Time::NEVER), [Time::from_us(47)]);
    }
}
