//! The modules 4.0 for Linux and FreeBSD, and the inputs of neqo's tests.

use rampcc::{Ack, AckFlags, Config, Event, EventKind, ExitReason, Phase, Startup};

use super::near;
use super::search::at_bin;
use super::support::pipe::{Pipe, play};
use super::support::{ack, config, row, set};

const RTT_US: u32 = 100_000;

/// neqo's rules are this row with these parameters.
const NEQO: [(&str, u64); 3] = [("drain", 0), ("extra_bins", 15), ("missed_bins", 10)];

fn start(change: &[(&str, u64)]) -> Startup {
    let algorithm = row("search4");
    let mut config: Config = config(algorithm, 50);
    for (name, value) in change {
        set(&mut config, algorithm, name, *value);
    }
    Startup::new(algorithm, &config)
}

/// neqo's `search_exits_when_delivery_rate_slows_down`: one ACK a round trip for all that it sent; doubling, and from
/// some round on only a quarter of what is sent arrives.
#[test]
fn neqo_exits_with_the_second_round_that_delivers_a_quarter() {
    let mut startup = start(&NEQO);
    let (mut now_ns, mut sent, mut acked, mut round) = (0, 1200, 1200, 12_000_u64);
    let mut step = |round: u64, arrives: u64| {
        now_ns += 100_000_000;
        sent += round;
        acked += arrives;
        let ack =
            Ack { now_ns, rtt_us: RTT_US, sent_bytes: sent, delivered_bytes: acked, flags: 0, ..ack(0) };
        startup.on_ack(&ack).phase()
    };
    step(0, 0);
    for _ in 0..15 {
        assert_eq!(step(round, round), Phase::Startup, "a steady delivery rate");
        round *= 2;
    }
    assert_eq!(step(round, round / 4), Phase::Startup, "not at once");
    round += round / 4;
    assert_eq!(step(round, round / 4), Phase::Done);
    let decision = startup.decision();
    assert_eq!(decision.exit_reason(), ExitReason::Delivery);
    assert_eq!((decision.cwnd_bytes, decision.ssthresh_bytes), (50_000, 50_000));
}

/// neqo's `sent_and_acked_byte_computation`: a thousand bytes each bin, sent and acknowledged, are ten thousand each
/// window, at a look back of 2.857 bins too.
#[test]
fn neqo_sums_of_equal_bins_are_equal() {
    let mut startup = start(&[("thresh", 1), ("drain", 0)]);
    startup.on_ack(&at_bin(0, RTT_US, 1000, 1000));
    for bin in 1..=20 {
        let decision = startup.on_ack(&at_bin(bin, RTT_US, 1000 * (bin + 1), 1000 * (bin + 1)));
        assert_eq!(decision.phase(), Phase::Startup, "bin {bin}");
    }
    // 1 % of ten thousand is a hundred bytes.
    let exit = startup.on_ack(&at_bin(21, RTT_US, 22_000 - 100, 22_000));
    assert_eq!((exit.phase(), exit.evidence, exit.limit), (Phase::Done, 9900, 9900));
}

/// neqo's `inflated_rtt_is_guarded`: 600 ms are 17 bins of 35 ms, 525 ms are 15.
#[test]
fn neqo_decides_nothing_at_an_inflated_rtt() {
    // Its 15 extra bins are one less in the modules, which spare one for the interpolation.
    for (extra, rtt_us, decides) in [
        (16, 600_000, false),
        (16, 525_000, false),
        (16, 524_000, true),
        (40, 600_000, true),
        (40, 1_364_000, true),
        (40, 1_365_000, false),
    ] {
        let mut startup = start(&[("extra_bins", extra)]);
        startup.on_ack(&at_bin(0, RTT_US, 0, 0));
        for bin in 1..60 {
            startup.on_ack(&at_bin(bin, 4_000_000, 100 * bin, 1000 * bin));
        }
        startup.on_ack(&at_bin(60, rtt_us, 6000, 60_000));
        assert_eq!(startup.decision().phase() == Phase::Leaving, decides, "{extra} bins, {rtt_us} us");
    }
}

/// neqo's `reset_and_reinitialize_on_too_many_skipped_bins`.
#[test]
fn neqo_measures_anew_after_more_than_a_window_without_an_ack() {
    for (missed, bins, again) in [(10, 11, true), (10, 10, false), (0, 11, false)] {
        let mut startup = start(&[("missed_bins", missed), ("drain", 0)]);
        startup.on_ack(&at_bin(0, RTT_US, 0, 0));
        startup.on_ack(&at_bin(bins, RTT_US, 1000, 1000));
        // The RTT of the next ACK is the first of the new measurement: its bins are twice as long.
        startup.on_ack(&at_bin(bins + 1, 2 * RTT_US, 1000, 1000));
        let left = (bins + 2..200)
            .find(|bin| startup.on_ack(&at_bin(*bin, 2 * RTT_US, 1000, 1000 * bin)).phase() == Phase::Done);
        let first_test = left.expect("nothing arrives") - bins;
        assert_eq!(first_test > 20, again, "limit {missed}, {bins} skipped: {first_test}");
    }
}

#[test]
fn a_bin_ends_with_its_end() {
    let mut startup = start(&[]);
    startup.on_ack(&at_bin(0, RTT_US, 0, 0));
    let before = startup.state().to_vec();
    let end = at_bin(1, RTT_US, 1000, 1000);
    startup.on_ack(&Ack { now_ns: end.now_ns - 1, ..end });
    assert_eq!(startup.state(), before);
    startup.on_ack(&end);
    assert_ne!(startup.state(), before);
}

#[test]
fn more_delivered_than_sent_before_is_no_reason_to_leave() {
    // The first module for Linux computes without sign here: 0 - 50 % became a huge positive number.
    let mut startup = start(&[]);
    startup.on_ack(&at_bin(0, RTT_US, 0, 100));
    for bin in 1..40 {
        let decision = startup.on_ack(&at_bin(bin, RTT_US, 1500 * bin, 100 + 1000 * bin));
        assert_eq!(decision.phase(), Phase::Startup, "bin {bin}");
    }
}

/// The module asks the rate sample (`rate_app_limited`). That the newest packet was the last of a write, or that there is
/// nothing to send now, is no reason: the window that it judges may have been full.
#[test]
fn a_pause_of_the_application_measures_anew() {
    for (flags, bin) in [(AckFlags::RATE_APP_LIMITED, 24), (AckFlags::APP_LIMITED, 14)] {
        let mut startup = start(&[]);
        startup.on_ack(&at_bin(0, RTT_US, 0, 0));
        for bin in 1..12 {
            startup.on_ack(&at_bin(bin, RTT_US, 1000 * bin, 1000 * bin));
        }
        startup.on_ack(&Ack { flags, ..at_bin(12, RTT_US, 11_000, 11_000) });
        let left = (13..40)
            .find(|bin| startup.on_ack(&at_bin(*bin, RTT_US, 11_000, 1000 * bin)).phase() == Phase::Leaving);
        assert_eq!(left, Some(bin));
    }
}

/// Leads it into the drain: 9 kB in the last three bins, so the target is ten packets or `last`.
fn draining(last: u64) -> Startup {
    let mut startup = start(&[]);
    startup.on_ack(&at_bin(0, RTT_US, 0, 0));
    for bin in 1..=12_u64 {
        let delivered = 1000 * bin.min(9) + last / 3 * bin.saturating_sub(9);
        startup.on_ack(&at_bin(bin, RTT_US, delivered, 40_000 * bin));
    }
    assert_eq!(startup.decision().phase(), Phase::Leaving);
    startup
}

#[test]
fn the_drain_sends_a_packet_for_three_acknowledged() {
    let mut startup = draining(12_000);
    assert_eq!(startup.decision().cwnd_bytes, 50_000, "the deciding ACK changes nothing");
    let mut in_flight = 50_000;
    let mut windows = Vec::new();
    while startup.decision().phase() == Phase::Leaving {
        let ack = Ack { in_flight_bytes: in_flight, ..ack(1) };
        let decision = startup.on_ack(&ack);
        in_flight = (in_flight - 1000).max(decision.cwnd_bytes.min(in_flight));
        windows.push(decision.cwnd_bytes / 1000);
        assert_eq!(decision.exit_reason(), ExitReason::Delivery);
    }
    // Two go for each that comes.
    assert_eq!(&windows[..7], [49, 48, 48, 47, 46, 46, 45]);
    assert_eq!(windows.last(), Some(&12), "what the last three bins brought");
    // 19 times three ACKs for two packets less, and the last of them would only keep it.
    assert_eq!(windows.len(), 19 * 3 - 1);
    assert_eq!(startup.decision().ssthresh_bytes, 12_000);
}

#[test]
fn the_target_is_at_least_ten_packets() {
    let mut startup = draining(3_000);
    let decision = startup.on_ack(&Ack { in_flight_bytes: 9_000, ..ack(1) });
    assert_eq!((decision.phase(), decision.cwnd_bytes), (Phase::Done, 10_000));
}

#[test]
fn a_loss_in_the_drain_ends_it_and_a_timeout_begins_again() {
    let event = |kind| Event { now_ns: 0, lost_bytes: 1000, in_flight_bytes: 50_000, kind, mss_bytes: 1000 };
    let mut startup = draining(12_000);
    let decision = startup.on_event(&event(EventKind::Loss));
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Done, ExitReason::Delivery));
    let mut startup = draining(12_000);
    let decision = startup.on_event(&event(EventKind::Timeout));
    assert_eq!((decision.phase(), decision.exit_reason()), (Phase::Startup, ExitReason::None));
}

#[test]
fn on_a_path_it_leaves_with_a_bdp() {
    // 50 Mbit/s, 40 ms, a buffer without end. The closed form, of a fluid, has a queue of 3.33 BDP when it
    // fires; a round trip's burst and a bin come on top.
    let pipe = Pipe::new(50_000_000, 40_000, 1448, 10_000);
    let outcome = play(&pipe, row("search4"), &super::config_for(&pipe, row("search4"), 10));
    assert_eq!(outcome.decision.exit_reason(), ExitReason::Delivery);
    near(outcome.queue_peak as f64 / pipe.bdp_packets(), 3.33 + 0.75, 0.75);
    near(outcome.cwnd / pipe.bdp_packets(), 1.05, 0.02);
    let phases: Vec<Phase> = outcome.phases.iter().map(|(_, phase, _)| *phase).collect();
    assert_eq!(phases, [Phase::Leaving, Phase::Done]);
}
