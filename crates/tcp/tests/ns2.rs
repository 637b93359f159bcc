//! One bulk flow against figures of ns-2.35: 40 Mbit/s, 100.4 ms, 250 packets of buffer, 1000-byte packets, 20 s.
//!
//! ns-2's `Agent/TCP/Sack1` and `Agent/TCP/Newreno` with `window_` out of the way and `windowInit_` 2.

mod support;

use rampcc::Time;
use rampcc_tcp::{Profile, ReceiverConfig, Recovery};
use support::{Adversary, MSS, config, transfer};

/// Recovery and `maxburst_`; what ns-2 counted: packets acknowledged, dropped and retransmitted, timeouts.
///
/// Without `maxburst_` Newreno ends its recovery in a burst, and how much of it is lost depends on the side links.
const ROWS: [(Recovery, u32, u64, u64, u64, u64); 4] = [
    (Recovery::SackNs2, 0, 91_286, 279, 279, 0),
    (Recovery::NewRenoImpatient, 5, 60_276, 279, 812, 1),
    (Recovery::NewRenoSteady, 0, 1_837, 279, 188, 0),
    (Recovery::NewRenoSteady, 5, 1_837, 279, 188, 0),
];

#[test]
fn a_bulk_flow_does_what_it_does_in_ns2() {
    for (recovery, max_burst, acked, drops, retransmitted, timeouts) in ROWS {
        let mut rules = config(Profile::Ns2);
        rules.recovery = recovery;
        rules.max_burst_packets = max_burst;
        rules.handshake = true;
        // 1040 bytes at 40 Mbit/s; twice 50 ms, side links of 0.1 ms and their serialisation.
        let path = Adversary {
            buffer: 250,
            service: Time::from_us(208),
            one_way: Time::from_us(50_200),
            ..Adversary::default()
        };
        let end = Time::from_secs(20);
        let run = transfer(&rules, &ReceiverConfig::new(Profile::Ns2), 1 << 40, &path, end);
        let again = run.sender.sample(end).retransmitted_bytes / MSS;
        let within = |ours: u64, theirs: u64| ours.abs_diff(theirs) * 50 <= theirs;
        let case = format!("{recovery:?}, maxburst {max_burst}");
        assert!(
            within(run.received / MSS, acked),
            "{case}: {} packets acknowledged, {acked} in ns-2",
            run.received / MSS
        );
        assert!(within(run.dropped, drops), "{case}: {} drops, {drops} in ns-2", run.dropped);
        assert!(within(again, retransmitted), "{case}: {again} retransmissions, {retransmitted} in ns-2");
        assert_eq!(run.timeouts, timeouts, "{case}");
    }
}
