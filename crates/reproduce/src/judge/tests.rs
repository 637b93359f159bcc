//! What proves contradictions, and what was recorded of others.

use super::words::spanned;
use super::*;
use crate::catalogue::built_in;
use crate::expression::parse_term;

/// One value of several rows.
type Of<'f> = &'f dyn Fn(&[f64]) -> f64;

/// Rows of one of ns-2's recorded files in which `column` says `word`.
fn rows(file: &str, column: &str, word: &str) -> Vec<BTreeMap<String, String>> {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/tests/fidelity/oracles/ns2/");
    let text = std::fs::read_to_string(format!("{place}{file}")).unwrap();
    let mut lines = text.lines().map(|line| line.trim().split(',').map(str::to_owned).collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let all = lines.map(|line| header.iter().cloned().zip(line).collect::<BTreeMap<_, _>>());
    all.filter(|row| row[column] == word).collect()
}

#[test]
fn what_experiments_say_of_ns2_is_what_it_did() {
    let all = built_in().unwrap();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let cross = ("beside_cbr.csv", "alg", "cbw_mbps");
    let cross_2003 = ("beside_cbr_2003.csv", "alg", "cbw_mbps");
    let buffer = ("over_buffer.csv", "alg", "buf_pkts");
    let row = ("parking_lot.csv", "variant", "");
    let mut compared = 0;
    for (id, arm, metric, (file, by, at), word, column, of) in [
        ("past-fig8", "Sack, ns-2.35", "su_time", cross, "sack_huge", "su_time_s", &mean as Of<'_>),
        ("past-fig8", "Sack, ns-2.35", "timeouts", cross, "sack_huge", "timeouts", &most),
        ("past-fig8", "Sack, ns-2 as in 2003", "su_time", cross_2003, "sack_huge", "su_time_s", &mean),
        ("past-fig8", "Sack, ns-2 as in 2003", "timeouts", cross_2003, "sack_huge", "timeouts", &most),
        ("es-fig7", "NR, ns-2.35", "throughput", buffer, "nr_huge", "thr_mbps", &mean),
        ("es-fig7", "NR+LSS, ns-2.35", "throughput", buffer, "nr_lss100", "thr_mbps", &mean),
        ("es-fig7", "NR+HC, ns-2.35", "throughput", buffer, "nr_hoe", "thr_mbps", &mean),
        ("past-fig14", "Sack only, ns-2.35", "lost", row, "sack", "drops", &most),
        ("past-fig14", "Sack only, ns-2.35", "lossy", row, "sack", "lossy_flows", &most),
    ] {
        let experiment = all.iter().find(|one| one.id == id).unwrap();
        let found = experiment.arms.iter().find(|known| known.label == arm).unwrap();
        let How::Recorded { values, .. } = &found.how else { panic!("{arm} is played") };
        assert!(!values[metric].is_empty());
        for (point, value) in &values[metric] {
            let label = experiment.labels(*point).join(", ");
            let rows = rows(file, by, word);
            let here = rows.iter().filter(|row| at.is_empty() || row[at] == label);
            let here: Vec<f64> = here.map(|row| row[column].parse().unwrap()).collect();
            assert!((of(&here) - value).abs() <= 0.006, "{id} {arm} {metric} at {label}: {value}, {here:?}");
            compared += 1;
        }
    }
    assert_eq!(compared, 4 * 18 + 3 * 5 + 2);
}

/// Whether a check asks for nothing that is played.
fn needs_no_run(experiment: &Experiment, check: &Check) -> bool {
    let recorded = |reference: &&Reference| {
        let arm = experiment.arms.iter().find(|arm| arm.label == reference.arm);
        arm.is_some_and(|arm| matches!(arm.how, How::Recorded { .. }))
    };
    check.references().iter().all(recorded)
}

#[test]
fn what_proves_a_contradiction_holds() {
    let mut proofs = 0;
    for experiment in built_in().unwrap() {
        let measures = Measures::new(&experiment, None);
        for claim in &experiment.claims {
            let Some(proof) = &claim.proof else { continue };
            proofs += 1;
            let values = ClaimValues { measures: &measures, paper: &claim.paper, seed: None };
            let points: Vec<usize> =
                (0..experiment.points.len()).filter(|point| experiment.is_at(*point, &claim.at)).collect();
            for (written, check) in proof.checks.iter().filter(|(_, c)| needs_no_run(&experiment, c)) {
                let found = check_at(check, Hold::All, &values, &points);
                assert_eq!(found.holds, Some(true), "{}: {written}: {}", experiment.id, found.measured);
            }
        }
    }
    assert!(proofs >= 10, "{proofs}");
}

#[test]
fn a_unit_is_said_once_where_it_is_the_same() {
    assert_eq!(spanned("13.4 s", "13.2 s", "13.6 s"), "13.4 (13.2 to 13.6) s");
    assert_eq!(spanned("0.93", "0.91", "0.95"), "0.93 (0.91 to 0.95)");
    assert_eq!(spanned("1.1 s", "900 ms", "1.3 s"), "1.1 s (900 ms to 1.3 s)");
}

#[test]
fn formulae_have_the_unit_of_what_they_are_made_of() {
    let experiments = built_in().unwrap();
    let experiment = experiments.iter().find(|e| e.id == "past-fig8").unwrap();
    let measures = Measures::new(experiment, None);
    let unit = |text: &str| measures.unit(&parse_term(text).unwrap().node).to_owned();
    for (text, expected) in [
        ("su_time[PaSt]", "s"),
        ("0.5 * su_time[Sack]", "s"),
        ("max(su_time[Sack], 2 * su_time[PaSt], 3)", "s"),
        ("lowest(su_time[Sack]) - su_time[PaSt]", "s"),
        ("max(su_time[Sack], goodput[Sack])", ""),
        ("su_time[Sack] / su_time[PaSt]", ""),
        // A round-trip time stands below the line.
        ("exit[PaSt] / 0.08 - 1", ""),
        ("spread(su_time[PaSt])", ""),
        ("0.75 * 1.64", ""),
    ] {
        assert_eq!(unit(text), expected, "{text}");
    }
}
