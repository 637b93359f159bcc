//! One greedy sender, one drop-tail bottleneck, a fixed delay: the path of the closed forms.
//!
//! Runs end at the first drop, at the end of start-up, or at a time limit; there is no recovery on purpose.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rampcc::{Ack, AckFlags, Algorithm, Config, Decision, Phase, Startup};

pub(crate) const START: u32 = 4_000_000_000;

/// A path and its receiver. Packets are all payload.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    pub(crate) bits_per_s: u64,
    pub(crate) packet_bytes: u64,
    pub(crate) rtt_ns: u64,
    pub(crate) buffer_packets: usize,
    pub(crate) access_bits_per_s: u64,
    /// Packets per ACK once `quick_acks` are used up.
    pub(crate) ack_every: u64,
    pub(crate) quick_acks: u64,
    pub(crate) delayed_ack_ns: u64,
    /// ACKs arrive only at multiples of this; 0: when they do.
    pub(crate) ack_quantum_ns: u64,
    /// And no closer together than this.
    pub(crate) ack_spacing_ns: u64,
    /// Of the receiver's clock; 0: it shows none.
    pub(crate) tick_ns: u64,
    /// How long ago its clock had ticked when it sent the handshake's segment.
    pub(crate) ticked_ns: u64,
    pub(crate) limit_ns: u64,
    /// What the ACKs say about the host's own pacing.
    pub(crate) host_pacing_bytes_per_s: u64,
}

impl Pipe {
    pub(crate) fn new(bits_per_s: u64, rtt_us: u64, packet_bytes: u64, buffer_packets: usize) -> Self {
        Self {
            bits_per_s,
            packet_bytes,
            rtt_ns: rtt_us * 1000,
            buffer_packets,
            access_bits_per_s: 1_000_000_000,
            ack_every: 1,
            quick_acks: 0,
            delayed_ack_ns: 100_000_000,
            ack_quantum_ns: 0,
            ack_spacing_ns: 0,
            tick_ns: 0,
            ticked_ns: 0,
            limit_ns: 30_000_000_000,
            host_pacing_bytes_per_s: 0,
        }
    }

    /// What the receiver's clock says; `START` when it sent the handshake's segment, which comes at time zero.
    pub(crate) fn stamp(&self, now_ns: u64) -> u32 {
        (now_ns + self.rtt_ns / 2 + self.ticked_ns)
            .checked_div(self.tick_ns)
            .map_or(0, |ticks| START.wrapping_add(ticks as u32))
    }

    pub(crate) fn bdp_packets(&self) -> f64 {
        self.bits_per_s as f64 * self.rtt_ns as f64 / 8e9 / self.packet_bytes as f64
    }
}

/// What a run showed. Windows in packets, times in seconds.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) acks: Vec<Ack>,
    /// When start-up was over.
    pub(crate) exit_s: Option<f64>,
    pub(crate) loss_s: Option<f64>,
    /// When the run ended.
    pub(crate) cwnd: f64,
    pub(crate) queue_peak: usize,
    pub(crate) decision: Decision,
    /// (seconds, window) whenever the phase changed.
    pub(crate) phases: Vec<(f64, Phase, f64)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrive(u64),
    Receive(u64),
    AckTimer(u64),
    /// Up to this packet, with this `TSval`.
    Ack(u64, u32),
    Pace,
}

/// What rate samples need of a packet (draft-cheng-iccrg-delivery-rate-estimation).
#[derive(Clone, Copy)]
struct Sent {
    at: u64,
    /// Packets delivered when it left, and when the last of them was.
    delivered: u64,
    delivered_at: u64,
    /// When the newest packet delivered by then had left.
    first_at: u64,
}

struct Run<'a> {
    pipe: &'a Pipe,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    order: u64,
    sent: VecDeque<Sent>,
    acked: u64,
    acked_at: u64,
    first_at: u64,
    next: u64,
    access_free: u64,
    pace_free: u64,
    burst_left: u64,
    departures: VecDeque<u64>,
    last_departure: u64,
    pending: u64,
    quick: u64,
    timer: u64,
    last_ack: u64,
}

/// Play start-up until it is over.
pub(crate) fn play(pipe: &Pipe, algorithm: &'static Algorithm, config: &Config) -> Outcome {
    let mut startup = Startup::new(algorithm, config);
    let mut outcome = Outcome::default();
    let mut run = Run {
        pipe,
        events: BinaryHeap::new(),
        order: 0,
        sent: VecDeque::new(),
        acked: 0,
        acked_at: 0,
        first_at: 0,
        next: 0,
        access_free: 0,
        pace_free: 0,
        burst_left: 0,
        departures: VecDeque::new(),
        last_departure: 0,
        pending: 0,
        quick: pipe.quick_acks,
        timer: 0,
        last_ack: 0,
    };
    run.transmit(0, startup.decision());
    let mut phase = startup.decision().phase();
    while let Some(Reverse((now, _, event))) = run.events.pop() {
        if now > pipe.limit_ns {
            break;
        }
        if run.handle(now, event, &mut startup, &mut outcome) {
            break;
        }
        let decision = *startup.decision();
        if decision.phase() != phase {
            phase = decision.phase();
            outcome.phases.push((seconds(now), phase, decision.cwnd_bytes as f64 / pipe.packet_bytes as f64));
        }
        if phase == Phase::Done {
            outcome.exit_s = Some(seconds(now));
            break;
        }
    }
    outcome.decision = *startup.decision();
    outcome.cwnd = outcome.decision.cwnd_bytes as f64 / pipe.packet_bytes as f64;
    outcome
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Run<'_> {
    /// True when the run is over.
    fn handle(&mut self, now: u64, event: Event, startup: &mut Startup, outcome: &mut Outcome) -> bool {
        match event {
            Event::Arrive(packet) => {
                while self.departures.front().is_some_and(|&t| t <= now) {
                    self.departures.pop_front();
                }
                if self.departures.len() > self.pipe.buffer_packets {
                    outcome.loss_s = Some(seconds(now));
                    return true;
                }
                outcome.queue_peak = outcome.queue_peak.max(self.departures.len());
                let time = self.pipe.packet_bytes * 8_000_000_000 / self.pipe.bits_per_s;
                self.last_departure = self.last_departure.max(now) + time;
                self.departures.push_back(self.last_departure);
                self.push(self.last_departure + self.pipe.rtt_ns / 2, Event::Receive(packet));
            }
            Event::Receive(packet) => self.receive(now, packet),
            Event::AckTimer(id) if id == self.timer && self.pending > 0 => {
                self.answer(now, id + self.pending - 1);
            }
            Event::AckTimer(_) => {}
            Event::Ack(up_to, tsval) => {
                let ack = Ack { tsval, ..self.acknowledge(now, up_to) };
                startup.on_ack(&ack);
                outcome.acks.push(ack);
                self.transmit(now, startup.decision());
            }
            Event::Pace => self.transmit(now, startup.decision()),
        }
        false
    }

    fn receive(&mut self, now: u64, packet: u64) {
        self.pending += 1;
        if self.quick > 0 {
            self.quick -= 1;
            self.answer(now, packet + 1);
        } else if self.pending >= self.pipe.ack_every {
            self.answer(now, packet + 1);
        } else if self.pending == 1 {
            self.timer = packet + 1;
            self.push(now + self.pipe.delayed_ack_ns, Event::AckTimer(packet + 1));
        }
    }

    fn answer(&mut self, now: u64, up_to: u64) {
        self.pending = 0;
        self.timer = 0;
        let at = now + self.pipe.rtt_ns / 2;
        let at = at.div_ceil(self.pipe.ack_quantum_ns.max(1)) * self.pipe.ack_quantum_ns.max(1);
        self.last_ack = at.max(self.last_ack + self.pipe.ack_spacing_ns);
        self.push(self.last_ack, Event::Ack(up_to, self.pipe.stamp(now)));
    }

    fn acknowledge(&mut self, now: u64, up_to: u64) -> Ack {
        let size = self.pipe.packet_bytes;
        let count = up_to - self.acked;
        let in_flight = (self.next - self.acked) * size;
        let newest =
            self.sent.drain(..count as usize).next_back().expect("only sent packets are acknowledged");
        let newest_sent_ns = newest.at;
        (self.acked, self.acked_at, self.first_at) = (up_to, now, newest.at);
        let interval = (newest.at - newest.first_at).max(now - newest.delivered_at);
        Ack {
            now_ns: now,
            // The core takes 0 for unknown; the first packets leave at time zero.
            newest_sent_ns: newest_sent_ns.max(1),
            sent_bytes: self.next * size,
            newest_acked_bytes: up_to * size,
            delivered_bytes: up_to * size,
            acked_bytes: count * size,
            in_flight_bytes: in_flight,
            delivery_bytes_per_s: ((up_to - newest.delivered) * size * 1_000_000_000)
                .checked_div(interval)
                .unwrap_or(0),
            pacing_bytes_per_s: self.pipe.host_pacing_bytes_per_s,
            rtt_us: u32::try_from((now - newest_sent_ns) / 1000).expect("an RTT below an hour"),
            mss_bytes: u32::try_from(size).expect("a packet"),
            flags: AckFlags::CWND_LIMITED,
            ..Ack::default()
        }
    }

    fn transmit(&mut self, now: u64, decision: &Decision) {
        let size = self.pipe.packet_bytes;
        while (self.next - self.acked + 1) * size <= decision.cwnd_bytes {
            let spaced = self.next * size >= decision.burst_until_bytes;
            if let Some(gap) = (size * 1_000_000_000).checked_div(decision.pacing_bytes_per_s)
                && spaced
            {
                if self.burst_left == 0 {
                    if self.pace_free > now {
                        self.push(self.pace_free, Event::Pace);
                        return;
                    }
                    self.burst_left = (u64::from(decision.pacing_burst_bytes) / size).max(1);
                    self.pace_free = self.pace_free.max(now) + gap * self.burst_left;
                }
                self.burst_left -= 1;
            }
            self.access_free = self.access_free.max(now) + size * 8_000_000_000 / self.pipe.access_bits_per_s;
            if self.next == self.acked {
                (self.acked_at, self.first_at) = (now, now);
            }
            self.sent.push_back(Sent {
                at: now,
                delivered: self.acked,
                delivered_at: self.acked_at,
                first_at: self.first_at,
            });
            self.push(self.access_free, Event::Arrive(self.next));
            self.next += 1;
        }
    }

    fn push(&mut self, at: u64, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at, self.order, event)));
    }
}
