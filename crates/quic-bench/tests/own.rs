//! An author's controller on the bench.

use noq_proto::congestion::{CubicConfig, NewRenoConfig};
use rampcc_quic_bench::{Paths, Verdict, markdown, noq, quinn};

fn cubic(initial_window_packets: u64) -> CubicConfig {
    let mut config = CubicConfig::default();
    config.initial_window(initial_window_packets * 1200);
    config
}

/// The test that an author writes: the guide shows it.
#[test]
fn a_larger_initial_window_is_faster_than_noqs_own() {
    let bench = noq::bench("mine", cubic(32)).paths(Paths::Few).sizes(&[100_000]);
    let report = bench.play().expect("every row can be played");
    assert!(report.to_string().starts_with("| row "), "{report}");
    let ratio = report.ratio("mine", "noq_cubic").expect("both are rows");
    assert!(ratio.high < 0.95, "{ratio:?}");
}

#[test]
fn a_report_is_the_same_to_the_byte() {
    let report = || {
        let mut mine = quinn_proto::congestion::NewRenoConfig::default();
        mine.initial_window(20 * 1200);
        let bench = quinn::bench("mine", mine).rows(&["hystartpp"]).paths(Paths::Few).sizes(&[100_000]);
        bench.play().expect("every row can be played")
    };
    let (one, other) = (report(), report());
    assert_eq!(one.to_string(), other.to_string());
    let rows: Vec<&str> = one.table().standings.iter().map(|row| row.label.as_str()).collect();
    for row in ["mine", "quinn_cubic", "hystartpp", "ideal"] {
        assert!(rows.contains(&row), "{rows:?}");
        assert!(one.to_string().contains(&format!("| `{row}`")), "{one}");
    }
    let beside = one.beside("quinn_cubic").expect("a row");
    assert!(beside.faster > beside.slower && beside.unfinished == 0, "{beside:?}");
    assert!(one.ratio("mine", "nobody").is_none());
}

/// Three packets instead of ten to begin with make every short download slower.
#[test]
fn a_change_that_makes_it_worse_does_not_pass_the_gate() {
    let gate = noq::bench("mine", cubic(3)).gate(noq::bench("mine", cubic(10))).expect("both can be played");
    assert_eq!(gate.verdict, Verdict::Worse, "{gate:?}");
    let text = markdown(&gate, None);
    assert!(text.starts_with("**`mine` is worse than `before`: "), "{text}");
    assert!(text.contains("| download time, 1.25 times at most |"), "{text}");
}

#[test]
fn a_row_that_the_stack_cannot_carry_is_refused_by_name() {
    let reason = |error: rampcc_quic_bench::Error| error.to_string();
    let over_quinn = quinn::bench("mine", quinn_proto::congestion::CubicConfig::default()).rows(&["paced"]);
    let error = over_quinn.play().map(|_| ()).map_err(reason).expect_err("paced spaces packets");
    assert!(error.contains("paced"), "{error}");
    let unknown = noq::bench("mine", NewRenoConfig::default()).rows(&["nobody"]);
    let error = unknown.play().map(|_| ()).map_err(reason).expect_err("there is no such row");
    assert!(error.contains("nobody"), "{error}");
}
