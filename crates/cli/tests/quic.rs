//! QUIC in real time, compared with other backends, and the qlog of a run.

#[cfg(target_os = "linux")]
#[path = "../../linux/tests/support/ready.rs"]
mod ready;
#[path = "../../quic/tests/schema/mod.rs"]
mod schema;
mod support;

use support::{Place, stderr};

const PATH: [&str; 8] = ["--rate", "20mbit", "--rtt", "40ms", "--buffer", "1bdp", "--size", "500kB"];

#[test]
fn a_qlog_has_the_exit_that_the_run_tells() {
    let place = Place::new("quic_qlog");
    for (backend, row) in [("quic", "hystart"), ("quic", "noq_cubic"), ("quinn", "hystartpp")] {
        let command =
            [&["run", "--on", backend, "--algorithm", row, "--qlog", "run.sqlog"], &PATH[..]].concat();
        let output = place.ramp(&command);
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stderr(&output).contains("qlog: run.sqlog"), "{}", stderr(&output));
        let records = schema::records(&place.read("run.sqlog"));
        schema::check_head(&records[0], "client");
        let (exits, _) = schema::check_events(&records[1..]);
        let [exit] = exits.as_slice() else { panic!("{backend} {row}: {exits:?}") };
        let window = exit["congestion_window"].as_u64().unwrap() as f64 / 1e3;
        assert!(window > 20.0, "{backend} {row}: {window} kB");
    }
}

#[test]
fn a_qlog_that_cannot_be_is_refused_before_anything_is_written() {
    let place = Place::new("quic_no_qlog");
    for (arguments, said) in [
        (&["run", "--qlog", "run.sqlog"][..], "the simulator has no QUIC connection to log"),
        (
            &["run", "--on", "quic", "--samples", "run.csv", "--qlog", "run.csv"],
            "--samples and --qlog name the same file",
        ),
    ] {
        place.fails(2, &[arguments, &PATH[..]].concat(), &[said]);
    }
    assert!(!place.path("run.sqlog").exists() && !place.path("run.csv").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_single_download_is_refused_in_real_time() {
    let place = Place::new("quic_refusals");
    for (scenario, said) in [
        ("paced-start-fig7", "no other traffic"),
        ("data-centre", "too short"),
        ("transatlantic-10g", "10 Gbit/s"),
    ] {
        place.fails(2, &["compare", "--on", "quic-real", scenario], &[said]);
    }
    assert!(!place.path("ramp-results").exists(), "something was written");
}

/// Simulator, QUIC in virtual time and over sockets: one table, one page, one document, and each alone below them.
#[cfg(target_os = "linux")]
#[test]
fn three_backends_stand_side_by_side_and_are_found_again() {
    let Some(()) = ready::unobstructed(
        (!ready::root()).then(|| "not root".to_owned()).or_else(ready::no_tun).as_deref(),
    ) else {
        return;
    };
    let place = Place::new("quic_sides");
    let rows =
        ["--on", "sim,quic,quic-real", "--algorithms", "hystart,best,noq_cubic", "--exact", "--out", "out"];
    let command = [&["compare", "--runs", "1"], &rows[..], &PATH[..]].concat();
    // A busy machine refuses some runs, and what is finished is kept.
    let output = (0..10)
        .map(|_| place.ramp(&command))
        .find(|output| output.status.success() || !stderr(output).contains("late"))
        .expect("refused ten times");
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("sim, quic and quic-real") && table.contains("the hosts attended to"), "{table}");
    let names: Vec<String> = place.files("out").into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["comparison.csv", "comparison.json", "report.html", "sides-plan.json"]);

    let all: serde_json::Value = serde_json::from_str(&place.read("out/comparison.json")).unwrap();
    assert_eq!(all["sides"], serde_json::json!(["sim", "quic", "quic-real"]));
    let row = |label: &str| {
        let rows = all["rows"].as_array().unwrap();
        rows.iter().find(|row| row["label"] == label).unwrap()["metrics"]["download_time"].clone()
    };
    // A stack's own control has no row in the simulator, so nothing to be held against.
    assert!(row("noq_cubic")["values"][0].is_null() && row("noq_cubic")["differences"][0].is_null());
    assert_eq!(row("hystart")["differences"].as_array().unwrap().len(), 2);
    let virtually = row("hystart")["differences"][0]["ratio"].as_f64().unwrap();
    assert!((virtually - 1.0).abs() < 0.05, "{virtually}");
    assert!(all["emulations"]["quic-real"]["hosts"]["p99_us"].as_f64().unwrap() > 0.0);
    assert!(all["emulations"].get("quic").is_none());

    // Judged again, nothing is played; one of three is chosen by its name.
    assert_eq!(place.stdout(&["report", "out", "--json"]), place.read("out/comparison.json"));
    let alone: serde_json::Value =
        serde_json::from_str(&place.stdout(&["report", "out", "--on", "quic-real", "--json"])).unwrap();
    assert_eq!(alone["arms"].as_array().unwrap().len(), 3);
}
