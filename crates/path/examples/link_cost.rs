//! Prints what a packet costs a constant-rate drop-tail link, in nanoseconds: for profiling.
//!
//! An argument is the number of packets; 50 million otherwise.

use std::hint::black_box;
use std::time::Instant;

use rampcc::{Rate, Time};
use rampcc_path::{Limit, Link, LinkConfig, Packet};

/// As large as a simulated segment.
#[derive(Clone, Copy)]
struct Segment {
    bytes: u32,
    flow: u32,
    _rest: [u64; 7],
}

impl Packet for Segment {
    fn wire_bytes(&self) -> u32 {
        self.bytes
    }
    fn flow(&self) -> u32 {
        self.flow
    }
    fn pure_ack(&self) -> bool {
        self.bytes < 100
    }
}

#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "measures real time and says so")]
fn main() {
    let packets = std::env::args().nth(1).and_then(|packets| packets.parse().ok()).unwrap_or(50_000_000);
    for (name, gap_ns) in [("idle link", 40_000), ("standing queue", 30_000), ("overload", 15_000)] {
        // 1500 bytes take 30 us; 50 ms are 1,667 packets.
        let config = LinkConfig::constant(
            Rate::from_bits_per_s(400_000_000),
            Time::from_ms(50),
            Limit::Packets(3_000),
        );
        let mut link = Link::new(&config, 1);
        let mut drops = 0u64;
        let mut on_drop = |_: Time, _: Segment, _| drops += 1;
        for _ in 0..if name == "standing queue" { 1_000 } else { 0 } {
            link.handle_packet(Time::ZERO, Segment { bytes: 1500, flow: 0, _rest: [0; 7] }, &mut on_drop);
        }
        let begin = Instant::now();
        let mut now = Time::ZERO;
        for i in 0..packets {
            now += Time::from_ns(gap_ns);
            while link.poll_timeout() <= now {
                let due = link.poll_timeout();
                while let Some(packet) = link.poll_packet(due, &mut on_drop) {
                    black_box(packet.flow);
                }
            }
            link.handle_packet(
                now,
                black_box(Segment { bytes: 1500, flow: i as u32, _rest: [i; 7] }),
                &mut on_drop,
            );
        }
        let ns = begin.elapsed().as_nanos() as f64 / packets as f64;
        println!(
            "{name}: {ns:.1} ns per packet ({drops} dropped, queue peak {})",
            link.totals().peak_queue.packets
        );
    }
}
