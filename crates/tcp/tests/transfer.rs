//! Whole transfers over a channel that loses, doubles, delays and swaps packets.

mod support;

use proptest::prelude::*;
use rampcc::Time;
use rampcc_tcp::{
    AckPolicy, Avoidance, Pacing, Profile, ReceiveWindow, ReceiverConfig, Recovery, SenderConfig,
};
use support::{Adversary, config, ms, transfer};

fn sender() -> impl Strategy<Value = SenderConfig> {
    let recovery = prop_oneof![
        Just(Recovery::Sack),
        Just(Recovery::Fack),
        Just(Recovery::FackHints),
        Just(Recovery::SackNs2),
        Just(Recovery::NewRenoImpatient),
        Just(Recovery::NewRenoSteady)
    ];
    let avoidance = prop_oneof![
        Just(Avoidance::Reno),
        Just(Avoidance::Cubic),
        Just(Avoidance::Vegas),
        Just(Avoidance::Westwood),
        Just(Avoidance::Bbr),
        Just(Avoidance::Bbr3)
    ];
    (
        (any::<bool>(), recovery, avoidance, 1u32..12),
        (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<[bool; 2]>()),
        (0u32..6, 0u32..3, prop_oneof![Just(u64::MAX), 500u64..50_000], 0u32..3),
    )
        .prop_map(|((era, recovery, avoidance, iw), flags, (burst, rounds, buffer, abc))| {
            let mut config = config(if era { Profile::Era } else { Profile::Modern });
            config.recovery = recovery;
            config.avoidance = avoidance;
            config.initial_window_packets = iw;
            (config.prr, config.rack_tlp, config.limited_transmit, config.undo, config.handshake, _) = flags;
            config.frto = flags.5[0];
            config.pacing = if flags.5[1] { Pacing::Always } else { Pacing::Algorithm };
            config.max_burst_packets = burst;
            config.extra_startup_rounds = rounds;
            config.send_buffer_bytes = buffer;
            config.abc_limit_packets = abc;
            config
        })
}

fn receiver() -> impl Strategy<Value = ReceiverConfig> {
    let policy = prop_oneof![
        Just(AckPolicy::Quick),
        Just(AckPolicy::Delayed { every: 2, timer: ms(100) }),
        Just(AckPolicy::Linux { quick: 16, timer: ms(40) })
    ];
    let window = prop_oneof![
        Just(ReceiveWindow::Unlimited),
        (300u64..40_000).prop_map(ReceiveWindow::Fixed),
        Just(ReceiveWindow::Autotuned { initial: 10_000, max: 200_000 })
    ];
    (policy, window, 0u8..5, prop_oneof![Just(0u32), 3u32..40]).prop_map(
        |(ack_policy, window, blocks, suppression)| {
            let mut config = ReceiverConfig::new(Profile::Modern);
            config.ack_policy = ack_policy;
            config.window = window;
            config.sack_blocks = blocks;
            config.sack_suppression_segments = suppression;
            config
        },
    )
}

fn adversary() -> impl Strategy<Value = Adversary> {
    (any::<u64>(), 0u64..150, 0u64..150, 0u64..60, 0u64..200, 2u64..60).prop_map(
        |(seed, loss, ack_loss, duplication, reordering, buffer)| Adversary {
            seed,
            loss,
            ack_loss,
            duplication,
            reordering,
            buffer,
            ..Adversary::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        sender in sender(),
        receiver in receiver(),
        adversary in adversary(),
        bytes in 0u64..300_000,
    ) {
        let run = transfer(&sender, &receiver, bytes, &adversary, Time::from_secs(50_000));
        prop_assert_eq!(run.received, bytes);
        prop_assert!(run.finished.is_some(), "not finished: {:?}", run.events.last());
        prop_assert!(run.sender.completed());
        let sample = run.sender.sample(Time::from_secs(50_000));
        prop_assert_eq!(sample.in_flight_bytes, 0);
        prop_assert_eq!(sample.delivered_bytes, bytes);
        prop_assert_eq!(sample.sent_bytes, bytes + sample.retransmitted_bytes);
        prop_assert_eq!(run.sender.poll_timeout(), Time::NEVER, "a finished sender wants nothing more");
    }
}

#[test]
fn a_clean_path_sees_no_retransmission() {
    for profile in [Profile::Era, Profile::Modern] {
        let adversary = Adversary { buffer: u64::MAX, ..Adversary::default() };
        let run = transfer(
            &config(profile),
            &ReceiverConfig::new(profile),
            3_000_000,
            &adversary,
            Time::from_secs(60),
        );
        assert_eq!((run.received, run.data_packets, run.timeouts), (3_000_000, 3_000, 0), "{profile:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let adversary =
        Adversary { loss: 50, reordering: 100, duplication: 20, seed: 42, ..Adversary::default() };
    let run = |()| {
        let run = transfer(
            &config(Profile::Modern),
            &ReceiverConfig::new(Profile::Modern),
            500_000,
            &adversary,
            Time::from_secs(600),
        );
        (run.finished, run.data_packets, format!("{:?}", run.events))
    };
    assert_eq!(run(()), run(()));
}
