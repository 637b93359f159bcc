//! Single-flow runs of ns-3.37, as far as our rules are its rules.

use rampcc::{Rate, Time};
use rampcc_scenario::Source;
use rampcc_tcp::{Avoidance, Profile, ReceiverConfig, Recovery, SenderConfig};

use crate::bulk::{Allowed, Bulk, NS3, Oracle, OracleRow};
use crate::ns2::mbit;
use crate::topology::Bottleneck;

/// IPv4, TCP and PPP.
const HEADER_BYTES: u32 = 20 + 20 + 2;
const TIMESTAMPS_BYTES: u32 = 12;

const CLOSE: Allowed = Allowed {
    throughput: 0.05,
    drops: 0.05,
    first_drop: 0.002,
    exit_cwnd: 0.02,
    curve: f64::INFINITY,
    startup: f64::INFINITY,
    timeouts: false,
    reason: "",
};

const RECOVERY: &str = "ns-3's recovery";

/// Every run.
pub(crate) fn cases() -> Vec<Bulk> {
    let mut cases = Vec::new();
    for control in ["TcpLinuxReno", "TcpNewReno"] {
        for (label, ssthresh) in [("32", Some(32)), ("800", Some(800)), ("inf", None)] {
            for prr in [true, false] {
                cases.push(enhanced_start(control, label, ssthresh, prr));
            }
        }
    }
    for (label, packets) in [("0.25", 208), ("0.5", 416), ("1.0", 833), ("2.0", 1666)] {
        cases.push(cubic_100_ms(label, packets));
    }
    for (label, packets) in [("0.25", 1875), ("0.5", 3750), ("1.0", 7500)] {
        cases.push(cubic_geo(label, packets));
    }
    cases
}

fn enhanced_start(control: &str, label: &str, ssthresh: Option<u32>, prr: bool) -> Bulk {
    let variant = if prr { "iw2 delack1 ts0" } else { "iw2 delack1 ts0 ClassicRecovery" };
    let recovery = if prr { "PRR" } else { "classic" };
    let startup = rampcc::algorithm("slow_start").expect("a registered algorithm");
    let mut sender = SenderConfig::new(Profile::Era, startup);
    sender.mss_bytes = 1000;
    sender.header_bytes = HEADER_BYTES;
    sender.initial_ssthresh_packets = ssthresh;
    sender.recovery = Recovery::Sack;
    sender.prr = prr;
    Bulk {
        name: format!("{control}, {recovery}, ssthresh {label}"),
        path: Bottleneck {
            rate: mbit(40),
            delay: Time::from_ms(50),
            side_rate: mbit(500),
            side_delay: Time::from_us(100),
            queue_packets: 250,
        },
        sender,
        receiver: receiver(HEADER_BYTES),
        start: Time::ZERO,
        end: Time::from_secs(20),
        cbr: Rate::default(),
        source: Source::Bulk,
        oracle: Oracle::Row(OracleRow {
            file: "ns3/reno.csv",
            row: vec![
                ("cc", control.to_owned()),
                ("ssthresh", label.to_owned()),
                ("sack", "1".to_owned()),
                ("variant", variant.to_owned()),
            ],
            series: None,
            columns: NS3,
        }),
        allowed: if prr && ssthresh.is_none() {
            Allowed { throughput: f64::INFINITY, reason: RECOVERY, ..CLOSE }
        } else {
            CLOSE
        },
    }
}

/// 100 Mbit/s, 100 ms, 60 s.
fn cubic_100_ms(label: &str, queue_packets: u64) -> Bulk {
    cubic("100 ms", label, mbit(100), Time::from_us(49_800), queue_packets)
}

/// 150 Mbit/s, 600 ms, 80 MB.
fn cubic_geo(label: &str, queue_packets: u64) -> Bulk {
    let endless = cubic("600 ms", label, mbit(150), Time::from_us(299_800), queue_packets);
    Bulk { end: Time::from_secs(200), source: Source::Sized(80_000_000), ..endless }
}

fn cubic(rtt: &str, label: &str, rate: Rate, delay: Time, queue_packets: u64) -> Bulk {
    let mut sender =
        SenderConfig::new(Profile::Era, rampcc::algorithm("slow_start").expect("a registered algorithm"));
    sender.mss_bytes = 1448;
    sender.header_bytes = HEADER_BYTES + TIMESTAMPS_BYTES;
    sender.initial_window_packets = 10;
    sender.avoidance = Avoidance::Cubic;
    // ns-3 takes a sample from every time stamp.
    sender.rto.min_of_variance = true;
    sender.recovery = Recovery::Sack;
    sender.prr = true;
    // Where no retransmission is lost, recovery has no say.
    let exact = matches!((rtt, label), (_, "0.25") | ("600 ms", "1.0"));
    let (file, rtt_ms) =
        if rtt == "100 ms" { ("ns3/cubic_100ms.csv", "100") } else { ("ns3/cubic_600ms.csv", "600") };
    Bulk {
        name: format!("TcpCubic, {rtt}, {label} BDP"),
        path: Bottleneck {
            rate,
            delay,
            side_rate: mbit(1000),
            side_delay: Time::from_us(100),
            queue_packets,
        },
        sender,
        receiver: receiver(HEADER_BYTES + TIMESTAMPS_BYTES),
        start: Time::ZERO,
        end: Time::from_secs(60),
        cbr: Rate::default(),
        source: Source::Bulk,
        oracle: Oracle::Row(OracleRow {
            file,
            row: vec![
                ("cc", "TcpCubic".to_owned()),
                ("hystart", "0".to_owned()),
                ("delack", "1".to_owned()),
                ("rtt_ms", rtt_ms.to_owned()),
                ("buf_bdp", label.to_owned()),
            ],
            series: None,
            columns: NS3,
        }),
        allowed: Allowed {
            throughput: if exact { 0.05 } else { 0.06 },
            drops: if exact { 0.05 } else { f64::INFINITY },
            reason: if exact { "" } else { RECOVERY },
            ..CLOSE
        },
    }
}

fn receiver(ack_bytes: u32) -> ReceiverConfig {
    ReceiverConfig { ack_bytes, ..ReceiverConfig::new(Profile::Era) }
}
