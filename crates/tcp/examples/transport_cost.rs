//! What the transport costs per data packet, both ends together, without a path: a sender and a receiver joined by two
//! queues. `cargo run --release -p rampcc-tcp --example transport_cost`
#![expect(clippy::print_stdout, reason = "a program for people")]
#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::collections::VecDeque;
use std::time::Instant;

use rampcc::Time;
use rampcc_tcp::{
    AckPolicy, Avoidance, Profile, Receiver, ReceiverConfig, Recovery, Segment, Sender, SenderConfig,
};

/// One data packet per this long, and the window that keeps it busy.
const SERVICE: Time = Time::from_ns(28_960);
const WINDOW: u64 = 3_500;
const PACKETS: u64 = 5_000_000;

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, profile, recovery, avoidance, policy) in [
        ("era, ACK every packet", Profile::Era, Recovery::Sack, Avoidance::Reno, AckPolicy::Quick),
        ("ns-2 Sack1", Profile::Era, Recovery::SackNs2, Avoidance::Reno, AckPolicy::Quick),
        (
            "modern, CUBIC",
            Profile::Modern,
            Recovery::Sack,
            Avoidance::Cubic,
            ReceiverConfig::new(Profile::Modern).ack_policy,
        ),
        (
            "modern, Reno",
            Profile::Modern,
            Recovery::Sack,
            Avoidance::Reno,
            ReceiverConfig::new(Profile::Modern).ack_policy,
        ),
    ] {
        for loss_every in [0, 1000, 20] {
            if !format!("{name} {loss_every}").contains(&only) {
                continue;
            }
            let Some(slow_start) = rampcc::algorithm("slow_start") else { return };
            let mut config = SenderConfig::new(profile, slow_start);
            config.recovery = recovery;
            config.avoidance = avoidance;
            config.initial_ssthresh_packets = Some(WINDOW as u32);
            let mut receiver = ReceiverConfig::new(profile);
            receiver.ack_policy = policy;
            let (nanoseconds, rounds) = run(&config, &receiver, loss_every);
            println!(
                "{name:24} loss 1/{loss_every:<5} {nanoseconds:6.1} ns per data packet, {rounds} timers"
            );
        }
    }
    println!("sender {} bytes, receiver {} bytes", size_of::<Sender>(), size_of::<Receiver>());
}

fn run(config: &SenderConfig, receiver: &ReceiverConfig, loss_every: u64) -> (f64, u64) {
    let mut config = config.clone();
    config.send_buffer_bytes = WINDOW * u64::from(config.mss_bytes);
    let mut sender = Sender::new(0, &config);
    let mut receiver = Receiver::new(0, receiver, &config);
    let mut forward: VecDeque<(Time, Segment)> = VecDeque::new();
    let mut backward: VecDeque<(Time, Segment)> = VecDeque::new();
    let (mut now, mut free, mut packets, mut timers) = (Time::ZERO, Time::ZERO, 0, 0);
    let one_way = Time::from_ms(50);
    sender.open(now);
    sender.write(now, u64::MAX);
    let begun = Instant::now();
    while packets < PACKETS {
        while let Some(segment) = sender.poll_transmit(now) {
            packets += 1;
            if loss_every != 0 && packets % loss_every == 0 {
                continue;
            }
            free = free.max(now) + SERVICE;
            forward.push_back((free + one_way, segment));
        }
        while sender.poll_event().is_some() {}
        let data = forward.front().map_or(Time::NEVER, |f| f.0);
        let ack = backward.front().map_or(Time::NEVER, |f| f.0);
        let timer = sender.poll_timeout().min(receiver.poll_timeout());
        now = data.min(ack).min(timer);
        if data == now {
            if let Some((_, segment)) = forward.pop_front() {
                receiver.handle_segment(now, &segment);
            }
        } else if ack == now {
            if let Some((_, segment)) = backward.pop_front() {
                sender.handle_segment(now, &segment);
            }
        } else {
            timers += 1;
            sender.handle_timeout(now);
            receiver.handle_timeout(now);
        }
        while let Some(segment) = receiver.poll_transmit(now) {
            backward.push_back((now + one_way, segment));
        }
    }
    (begun.elapsed().as_nanos() as f64 / packets as f64, timers)
}
