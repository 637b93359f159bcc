//! The engine against the experiment that `ramp compare` plays.

use std::sync::atomic::AtomicBool;

use rampcc_experiment::{Experiment, Found, Job, Request, Session, Wish};
use rampcc_lab::Comparison;
use rampcc_playground::{Ask, Engine};
use serde_json::{Value, json};

fn ask() -> Ask {
    let options = [("rate", "10 Mbit/s"), ("rtt", "20 ms"), ("buffer", "1 bdp"), ("size", "200 kB")];
    Ask {
        options: options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        set: vec!["path.jitter=2 ms".to_owned()],
        algorithms: vec![
            "slow_start".to_owned(),
            "late=hystart:low_window=64".to_owned(),
            "ideal".to_owned(),
        ],
        runs: Some(6),
        seed: Some(3),
        neighbours: Some(5),
        ..Ask::default()
    }
}

fn finished(session: &mut Session<'_>) -> Comparison {
    loop {
        let wanted = session.wanted();
        if wanted.is_empty() {
            return session.comparison().expect("everything is played");
        }
        // Backwards: the order of playing decides nothing.
        for wish in wanted.into_iter().rev() {
            let record = session.play(wish, &AtomicBool::new(false)).unwrap();
            session.take(wish.job, record).unwrap();
        }
    }
}

#[test]
fn a_session_that_is_over_is_the_experiment() {
    let ask = ask();
    let place = std::env::temp_dir().join(format!("ramp-session-{}", std::process::id()));
    let request = Request { out: Some(place.clone()), reuse: false, ..ask.request() };
    let played = Experiment::plan(request, &()).unwrap().play(&(), &AtomicBool::new(false)).unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    let Found::Comparisons(results) = played.found else { panic!("nothing is swept") };
    let mut session = Session::new(&ask.request()).unwrap();
    let (there, here) = (&results[0].comparisons()[0], finished(&mut session));
    assert!(there.carries.is_some());
    assert!(there.arms.iter().all(|arm| !arm.drawn.is_empty()));
    assert_eq!(serde_json::to_value(&here).unwrap(), serde_json::to_value(there).unwrap());
}

#[test]
fn a_session_refuses_runs_that_are_not_its_own() {
    let mut session = Session::new(&ask().request()).unwrap();
    assert!(session.comparison().is_none());
    let first = session.wanted()[0];
    assert!(first.curves, "the first look has curves");
    let record = session.play(first, &AtomicBool::new(false)).unwrap();
    let other = Job { seed: first.job.seed + 1, ..first.job };
    assert!(session.take(other, record.clone()).is_err());
    assert!(
        session.play(Wish { job: Job { row: 9, ..first.job }, ..first }, &AtomicBool::new(false)).is_err()
    );
    session.take(first.job, record).unwrap();
    assert_eq!(session.comparison().unwrap().seeds, [3]);
    assert_eq!(session.total(), 3 * 6 + 3 * 5);
}

fn asked(engine: &mut Engine, question: &Value) -> Value {
    serde_json::from_str(&engine.answer(question.to_string().as_bytes())).unwrap()
}

#[test]
fn an_engine_takes_runs_of_another_and_shows_the_report() {
    let (mut lead, mut helper) = (Engine::default(), Engine::default());
    let begin = json!({ "begin": ask() });
    let path = asked(&mut lead, &begin);
    assert_eq!(asked(&mut helper, &begin), path);
    assert_eq!(path["rows"], json!(["slow_start", "late", "ideal"]));
    assert_eq!(path["fields"]["rate"], "10 Mbit/s");
    assert!(asked(&mut lead, &json!("show")).is_null());
    let wish = asked(&mut lead, &json!("wanted"))[1].clone();
    let record = asked(&mut helper, &json!({ "record": wish }));
    assert_eq!(asked(&mut lead, &json!({ "take": { "job": wish["job"], "record": record } })), json!({}));
    let shown = asked(&mut lead, &json!("show"));
    assert!(shown["body"].as_str().unwrap().contains("<section id=\"time\">"));
    let data: Value = serde_json::from_str(shown["data"].as_str().unwrap()).unwrap();
    assert_eq!(data["seeds"], json!([3]));
}

#[test]
fn what_is_wrong_is_told_with_what_is_allowed() {
    let mut engine = Engine::default();
    for (ask, error, help) in [
        (json!({ "scenario": "cabel" }), "cabel", "did you mean `cable`?"),
        (json!({ "options": { "rat": "1" } }), "rat", "rate, rtt"),
        (json!({ "text": "[path]\nrate = '1 Mbit/s'\nrtt = '2 x'\n" }), "line 3", ""),
        (json!({ "scenario": "cable", "algorithms": ["hystrat"] }), "hystrat", ""),
    ] {
        let wrong = asked(&mut engine, &json!({ "begin": ask }));
        assert!(wrong["error"].as_str().is_some_and(|text| text.contains(error)), "{wrong}");
        assert!(wrong["help"].as_str().unwrap_or_default().contains(help), "{wrong}");
    }
    assert!(asked(&mut engine, &json!({ "nothing": 1 }))["error"].is_string());
}

#[test]
fn a_command_says_all_that_is_asked() {
    assert_eq!(
        ask().command(),
        "ramp compare --rate '10 Mbit/s' --rtt '20 ms' --buffer '1 bdp' --size '200 kB' --set 'path.jitter=2 ms' \
         --algorithms slow_start,late=hystart:low_window=64,ideal --runs 6 --seed 3 --neighbours 5"
    );
}
