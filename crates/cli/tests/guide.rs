//! The code of `docs/guide/library.md` and `docs/guide/algorithm.md` compiles and does what it says.

mod support;

use std::error::Error;
use std::fs;
use std::path::Path;

fn blocks(language: &str) -> Vec<String> {
    blocks_of("library.md", language)
}

fn blocks_of(guide: &str, language: &str) -> Vec<String> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide").join(guide);
    let text = fs::read_to_string(guide).unwrap();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The block stands in this file, apart from indentation.
fn stands_here(block: &str) {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let here = squeezed(include_str!("guide.rs"));
    assert!(here.contains(&squeezed(block)), "the guide says something else than its test:\n{block}");
}

#[test]
fn the_core_in_rust() {
    use rampcc::{Ack, AckFlags, Config, Startup, algorithm};

    let hystart = algorithm("hystart").expect("it is in the registry");
    let config = Config::new(hystart, 1448, 10);
    let mut startup = Startup::new(hystart, &config);
    let ack = Ack {
        now_ns: 40_000_000,
        sent_bytes: 14_480,
        newest_acked_bytes: 1_448,
        delivered_bytes: 1_448,
        acked_bytes: 1_448,
        in_flight_bytes: 14_480,
        rtt_us: 40_000,
        mss_bytes: 1_448,
        flags: AckFlags::CWND_LIMITED,
        ..Ack::default()
    };
    let cwnd_bytes = startup.on_ack(&ack).cwnd_bytes;
    assert_eq!(cwnd_bytes, 11 * 1448);

    stands_here(&blocks("rust")[0]);
}

#[test]
fn the_simulator() -> Result<(), Box<dyn Error>> {
    use std::sync::atomic::AtomicBool;

    use rampcc_scenario::{Arm, Scenario};
    use rampcc_sim::simulate;
    use rampcc_trace::{FlowEvent, FlowEventKind, Observer};

    struct Exits(Vec<String>);

    impl Observer for Exits {
        fn on_event(&mut self, event: &FlowEvent) {
            if let FlowEventKind::StartupExit { reason, cwnd_bytes, .. } = event.kind {
                self.0.push(format!("{} at {}: {reason:?}, {cwnd_bytes} bytes", event.flow, event.now));
            }
        }
    }

    let scenario = Scenario::open("geo-satellite")?.with_arm(&Arm::parse("hystart")?);
    let mut exits = Exits(Vec::new());
    let outcome = simulate(&scenario, 1, &mut exits, &AtomicBool::new(false))?;
    assert_eq!(exits.0.len(), 1);
    assert!(outcome.data_packets > 0);

    stands_here(&blocks("rust")[1]);
    Ok(())
}

/// 500 packets are 7 % of the path's BDP.
#[test]
fn an_algorithm_of_ones_own() {
    let place = support::Place::new("guide_algorithm");
    place.write("example.h", &blocks_of("algorithm.md", "c")[0]);
    let words = ["compare", "--candidate", "example.h:most=500", "--algorithms", "slow_start"];
    let more = ["--runs", "2", "--exact", "--out", "out"];
    let told = place.stdout(&[&words[..], &more[..]].concat());
    assert!(told.contains("example most=500") && told.contains("bandwidth"), "{told}");
}

#[test]
fn comparisons() {
    let place = support::Place::new("guide");
    compare_in(&place.path("out")).unwrap();
}

fn compare_in(directory: &Path) -> Result<(), Box<dyn Error>> {
    use std::sync::atomic::AtomicBool;

    use rampcc_backend::Backend;
    use rampcc_experiment::{Experiment, Found, Request, judge_again};
    use rampcc_scenario::Scenario;
    use rampcc_sim::Simulator;

    let backends: [&dyn Backend; 1] = [&Simulator];
    let mut request = Request::new(&backends, |settings| Ok(Scenario::open_with("data-centre", settings)?));
    request.algorithms = vec!["hystart".into(), "best".into()];
    request.sweep = vec!["path.buffer=0.5 bdp,2 bdp".into()];
    request.runs = Some(2);
    request.out = Some(directory.to_owned());
    Experiment::plan(request, &())?.play(&(), &AtomicBool::new(false))?;

    let Found::Sweep(swept) = judge_again(directory, None, &())? else { panic!("a field is swept") };
    for (values, results) in swept.points() {
        let leader = results.comparisons()[0].leader.as_deref();
        assert!(leader.is_some(), "no leader with {values}");
    }

    stands_here(&blocks("rust")[2]);
    Ok(())
}
