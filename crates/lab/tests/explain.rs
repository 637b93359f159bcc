//! Why a run left start-up, in words.

use fixture::sample_context;
use rampcc_lab::{ExitReason, ExitRecord, RunRecord, explain_exit};
use rampcc_trace::Provenance;

#[path = "support/fixture.rs"]
mod fixture;

fn run(arm: &str, seed: u64, values: &[(&str, f64)]) -> RunRecord {
    RunRecord {
        provenance: Provenance { arm: arm.to_owned(), seed, ..Provenance::default() },
        metrics: values.iter().map(|(id, value)| ((*id).to_owned(), *value)).collect(),
        ..RunRecord::default()
    }
}

#[test]
fn an_exit_is_explained_with_its_numbers() {
    let exit = ExitRecord {
        flow: 0,
        reason: ExitReason::AckTrain,
        evidence: 53_100,
        limit: 53_000,
        time_s: 1.42,
        at_s: 1.42,
        cwnd_before_bytes: 9_612_000,
        cwnd_bytes: 9_612_000,
        deciding_sent_s: None,
        deciding_cwnd_bytes: None,
        min_rtt_s: Some(0.6),
        queueing_s: None,
    };
    let record = |rounds, cwnd_bytes, lost, time| {
        let mut record = run("hystart11", 1, &[("download_time", time), ("lost_packets", lost)]);
        record.exit =
            Some(ExitRecord { cwnd_bytes, time_s: exit.time_s + 0.6 * f64::from(rounds), ..exit.clone() });
        record.extra_startup_rounds = rounds;
        record
    };
    let (now, later) = (record(0, 9_612_000, 0.0, 4.9), record(1, 19_224_000, 812.0, 6.25));
    assert_eq!(
        explain_exit(&now, &sample_context(), None),
        "left at 1.42 s because the ACK train lasted 53.1 ms against a bound of 53.0 ms; window 0.89 BDP"
    );
    assert!(
        explain_exit(&now, &sample_context(), Some(&later)).ends_with(
            "window 0.89 BDP; one round later it would have been 1.78 BDP, have lost 812 packets instead of 0 and have \
             taken 6.25 s instead of 4.90 s"
        ),
        "{}",
        explain_exit(&now, &sample_context(), Some(&later))
    );
    let wire = Some(rampcc_trace::Wire::default());
    let program =
        RunRecord { emulation: Some(rampcc_trace::Emulation { wire, ..Default::default() }), ..now.clone() };
    let told = explain_exit(&program, &sample_context(), None);
    assert!(
        told.starts_with("left at 1.42 s, as its packets suggest, because ")
            && told.ends_with("; in flight 0.89 BDP"),
        "{told}"
    );
    // A row that left because of loss would have left all the same.
    let lossy = |record: &RunRecord, proved| {
        let mut record = record.clone();
        record.metrics.insert("startup_lost_packets".to_owned(), 812.0);
        let exit = record.exit.as_mut().unwrap();
        (exit.reason, exit.limit) = (ExitReason::Loss, proved);
        record
    };
    for (proved, told) in [(0, ""), (53_000, ", with a BDP of 53 kB proved")] {
        assert_eq!(
            explain_exit(&lossy(&now, proved), &sample_context(), Some(&lossy(&later, proved))),
            format!("left at 1.42 s because packets were lost{told}, 812 in start-up; window 0.89 BDP")
        );
    }
    let never = run("x", 1, &[]);
    assert_eq!(explain_exit(&never, &sample_context(), None), "never left start-up while the run lasted");
}
