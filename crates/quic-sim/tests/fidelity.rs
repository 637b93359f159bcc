//! The real stack in virtual time does what the simulator's TCP does where their rules are alike.

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;
mod common;

use std::fmt::Write as _;

use common::{Log, play};
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_sim::Simulator;

const NOQ: VirtualQuic = VirtualQuic(Stack::Noq);

/// Rate, round-trip time and buffer of a path, and the size of the download.
const PATHS: [(&str, &str); 9] = [
    ("2 Mbit/s, 60 ms, 2 BDP", "1 MB"),
    ("10 Mbit/s, 20 ms, 4 BDP", "4 MB"),
    ("20 Mbit/s, 60 ms, 2 BDP", "4 MB"),
    ("50 Mbit/s, 100 ms, 0.5 BDP", "10 MB"),
    ("50 Mbit/s, 200 ms, 1 BDP", "20 MB"),
    ("100 Mbit/s, 10 ms, 2 BDP", "10 MB"),
    ("100 Mbit/s, 40 ms, 1 BDP", "10 MB"),
    ("300 Mbit/s, 30 ms, 1 BDP", "20 MB"),
    ("150 Mbit/s, 600 ms, 0.2 BDP", "60 MB"),
];

/// Rows that set a window alone, and rows that space packets.
const ROWS: [&str; 7] = ["slow_start", "hystart", "hystartpp", "best", "search4", "reach", "paced"];
const WINDOW_ALONE: usize = 5;

/// Rows that set a window alone are within so much of TCP's, in exit time, exit window and download time.
const TOLERANCE: f64 = 0.05;
/// Windows that differ by more, in both ways to acknowledge or in one: their reason is a heading of the document.
const EXPLAINED: [(&str, &str, &str); 1] =
    [("100 Mbit/s, 10 ms, 2 BDP", "search4", "### A bin more or less")];

/// Every packet is acknowledged, so that no ACK waits in either.
const ALIKE: &str = "acks = \"quick\"";
/// As QUIC's receivers do of themselves (RFC 9000 §13.2).
const DELAYED: &str = "acks = \"delayed\"\nack-every = 2\nack-timer = \"25 ms\"";

/// A packet is 1472 bytes where a segment has 1448 bytes of payload.
const UNITS: f64 = 1472.0 / 1448.0;

struct Row {
    tcp: Log,
    quic: Log,
}

impl Row {
    fn play(path: &str, size: &str, acks: &str, id: &'static str) -> Self {
        let [rate, rtt, buffer] = path.split(", ").collect::<Vec<_>>()[..] else { panic!("{path}") };
        let scenario = format!(
            "[path]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nbuffer = \"{}\"\n[receiver]\ntimestamps = \"off\"\n{acks}\n\
             [[flow]]\nsize = \"{size}\"\n",
            buffer.to_lowercase()
        );
        Self { tcp: play(&Simulator, &scenario, id), quic: play(&NOQ, &scenario, id) }
    }

    /// By how much QUIC differs in exit time, window in packets, and download time; `None`: for another reason, or it
    /// does not leave.
    fn apart(&self) -> Option<[f64; 3]> {
        let ((tcp_at, tcp_reason, tcp_window), (at, reason, window)) = (self.tcp.exit?, self.quic.exit?);
        let since = |log: &Log, at: rampcc::Time| (at - log.established).secs_f64();
        (reason == tcp_reason).then(|| {
            [
                since(&self.quic, at) / since(&self.tcp, tcp_at) - 1.0,
                window as f64 / tcp_window as f64 / UNITS - 1.0,
                since(&self.quic, self.quic.completed) / since(&self.tcp, self.tcp.completed) - 1.0,
            ]
        })
    }

    fn cells(&self) -> String {
        let exit = |log: &Log| match log.exit {
            Some((at, reason, window)) => {
                let at = (at - log.established).secs_f64();
                format!("{at:.3} | {} | {:.0} ", reason.word(), window as f64 / 1000.0)
            }
            None => "- | - | - ".to_owned(),
        };
        let took = |log: &Log| {
            if log.lost {
                "lost".to_owned()
            } else {
                format!("{:.3}", (log.completed - log.established).secs_f64())
            }
        };
        let apart = match self.apart() {
            Some([exit, window, _]) if self.quic.lost => {
                format!("{:+.1} / {:+.1} / -", 100.0 * exit, 100.0 * window)
            }
            Some(apart) => apart.map(|part| format!("{:+.1}", 100.0 * part)).join(" / "),
            None => "other reason".to_owned(),
        };
        format!(
            "{}| {}| {} | {} | {apart}",
            exit(&self.tcp),
            exit(&self.quic),
            took(&self.tcp),
            took(&self.quic)
        )
    }
}

/// Whether a row that sets a window alone does as over TCP.
fn check(path: &str, id: &str, row: &Row) {
    let apart = row.apart();
    let what = format!("{id} on {path}: {:?}, {:?}, {apart:?}", row.tcp.exit, row.quic.exit);
    let [exit, window, done] = apart.expect(&what);
    if !EXPLAINED.iter().any(|&(words, row, _)| (words, row) == (path, id)) {
        assert!(exit.abs() < TOLERANCE && window.abs() < TOLERANCE, "{what}");
    }
    assert!(row.quic.lost || done.abs() < TOLERANCE, "{what}");
}

#[test]
fn quic_in_virtual_time_does_as_tcp_does() {
    let mut text = String::new();
    for (words, acks) in [("Every packet is acknowledged", ALIKE), ("Every second packet is", DELAYED)] {
        write!(
            text,
            "\n{words}:\n\n| path | row | TCP exit, s | reason | kB | QUIC exit, s | reason | kB | TCP done, s | QUIC done, s | exit / window / done, % |\n\
             |---|---|---:|---|---:|---:|---|---:|---:|---:|---:|\n"
        )
        .expect("a text takes all");
        for (path, size) in PATHS {
            for (number, id) in ROWS.into_iter().enumerate() {
                let row = Row::play(path, size, acks, id);
                if number < WINDOW_ALONE {
                    check(path, id, &row);
                }
                writeln!(text, "| {path} | `{id}` | {} |", row.cells()).expect("a text takes all");
            }
        }
    }
    blessed::between(&blessed::page("fidelity.md"), BEGIN, END, &format!("{text}\n"));
}

/// Paced Start tries twice the gap between the first two ACKs, then 4/3 and 8/7 of it ([HS03] Figure 5).
#[test]
fn gaps_are_the_decisions_to_three_byte_times() {
    let scenario = "[path]\nrate = \"100 Mbit/s\"\nrtt = \"40 ms\"\nbuffer = \"1 bdp\"\n[receiver]\nacks = \"quick\"\n\
                    [[flow]]\nsize = \"2 MB\"\n";
    let log = play(&NOQ, scenario, "paced");
    // The link delays all packets alike where they come no faster than it sends.
    let gaps: Vec<u64> = log.received.windows(2).map(|pair| (pair[1] - pair[0]).ns()).collect();
    let acks: Vec<_> = log.samples.iter().filter(|sample| sample.rtt > rampcc::Time::ZERO).collect();
    let measured = (acks[1].now - acks[0].now).ns();
    for (gap, packets) in [(measured * 2, 3), (measured * 4 / 3, 7), (measured * 8 / 7, 280)] {
        let latest = gap + 3 * gap / 1472 + 1;
        let found = gaps.iter().filter(|&&found| (gap..=latest).contains(&found)).count();
        assert!(found >= packets, "{found} gaps of {gap} to {latest} ns; {:?}", &gaps[..20]);
    }
    let exit = log.exit.expect("it leaves");
    let until = log.received.partition_point(|&at| at < exit.0);
    let odd = gaps[..until].iter().filter(|&&gap| gap < 119_900).count();
    assert_eq!(odd, 0, "no packets arrive faster than the link sends: {:?}", &gaps[..20]);
}

const BEGIN: &str = "<!-- made by the test `fidelity` of quic-sim; `make bless` -->\n";
const END: &str = "<!-- end of quic -->\n";
