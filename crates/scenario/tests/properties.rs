//! No text makes the parser panic, and what it accepts can be asked anything.

use proptest::prelude::*;
use rampcc_scenario::{Arm, Scenario, Setting, schema};

/// Parses, and asks of an accepted scenario whatever can be asked.
fn exercise(text: &str) {
    match Scenario::parse("fuzz", text, None) {
        Err(error) => {
            let message = error.explain();
            assert!(message.contains("; expected "), "{message}");
            assert!(message.len() < 20_000, "{} bytes of message", message.len());
        }
        Ok(scenario) => {
            let scenario = scenario.at_seed(7).with_arm(&Arm::parse("ideal").unwrap());
            for flow in 0..scenario.flows.len().min(3) {
                let facts = scenario.facts(flow);
                assert!(!facts.capacity.is_empty());
            }
            let again = Scenario::parse("fuzz", &scenario.text, None).expect("its own text");
            assert_eq!(again.flows.len(), scenario.flows.len());
        }
    }
}

fn built_in() -> impl Strategy<Value = &'static str> {
    let texts: Vec<_> = Scenario::built_in_names().filter_map(Scenario::built_in_text).collect();
    prop::sample::select(texts)
}

/// Values of every kind, sane and not.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_map(|n| if n.is_finite() { format!("{n:?}") } else { "nan".to_owned() }),
        any::<bool>().prop_map(|b| b.to_string()),
        "[0-9]{1,19}(\\.[0-9]{0,9})?(e[0-9]{1,3})? ?(ns|us|ms|s|h|bit/s|Mbit/s|Tbit/s|MB/s|B|kB|MB|TB|bdp|packets|%|x|µ|)"
            .prop_map(|s| format!("{s:?}")),
        "\\PC{0,20}".prop_map(|s| format!("{:?}", s.replace(['\\', '"'], ""))),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("[[1, 2], { kind = \"red\" }]".to_owned()),
        Just("{ kind = \"pareto\", median = \"1 ms\", shape = 0.0 }".to_owned()),
        Just("[{ at = \"0 s\", rate = \"1 Mbit/s\", rtt = \"1 ms\", delay = \"1 ms\" }]".to_owned()),
    ]
}

/// `table.field` of the top level, or of a table that a scenario may name.
fn key() -> impl Strategy<Value = String> {
    let mut keys: Vec<String> = Vec::new();
    for table in schema::tables() {
        let prefix = match table.name {
            "top level" => "",
            "[path]" => "path.",
            "[path.reverse]" => "path.reverse.",
            "[dumbbell]" => "dumbbell.",
            "[parking-lot]" => "parking-lot.",
            "[sender]" => "sender.",
            "[receiver]" => "receiver.",
            "[[flow]]" => "flow.",
            name if name.starts_with("[[traffic]]") => "traffic.",
            name if name.starts_with("queue") => "path.queue.",
            name if name.starts_with("jitter") => "path.jitter.",
            name if name.starts_with("loss") => "path.loss.",
            _ => continue,
        };
        keys.extend(table.fields().map(|f| format!("{prefix}{}", f.name)));
    }
    for algorithm in rampcc::algorithms() {
        keys.extend(algorithm.parameters.iter().map(|p| format!("algorithm.{}.{}", algorithm.id, p.name)));
    }
    prop::sample::select(keys)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        exercise(&text);
    }

    #[test]
    fn arbitrary_lines_of_a_scenario(text in "(\\[{1,2}(path|link|flow|traffic|sender)\\]{1,2}\n|(rate|rtt|from|to|kind|size|buffer) = \"?[a-z0-9 /]{0,12}\"?\n){0,8}") {
        exercise(&text);
    }

    #[test]
    fn built_in_scenarios_with_bytes_changed(text in built_in(), changes in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..6)) {
        let mut chars: Vec<char> = text.chars().collect();
        for (index, c) in changes {
            let at = index.index(chars.len());
            match c as u32 % 3 {
                0 => { chars.remove(at); }
                1 => chars.insert(at, c),
                _ => chars[at] = char::from_u32(0x20 + c as u32 % 0x5f).unwrap_or('0'),
            }
        }
        exercise(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn any_value_in_any_field(text in built_in(), key in key(), value in value()) {
        if let Ok(setting) = Setting::parse(&format!("{key}={value}")) {
            match Scenario::parse_with("fuzz", text, None, &[setting]) {
                Ok(scenario) => exercise(&scenario.text),
                Err(error) => prop_assert!(error.explain().contains("; expected "), "{}", error.explain()),
            }
        }
    }

    #[test]
    fn settings_arms_and_sweeps_of_any_text(text in "\\PC{0,60}", key in "[a-z.0-9-]{0,20}") {
        for setting in [Setting::parse(&text), Setting::parse(&format!("{key}={text}"))].into_iter().flatten() {
            let _ = Scenario::open_with("deep-buffer", &[setting]);
        }
        let _ = (Arm::parse(&text), Arm::sweep(&text), Setting::sweep(&text));
        let _ = (Arm::parse(&format!("best:{text}")), Arm::sweep(&format!("algorithm.best.threshold={text}")));
    }
}

#[test]
fn deep_nesting_is_refused() {
    exercise(&format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000)));
    exercise(&format!("[{}]", vec!["a"; 50_000].join(".")));
}

#[test]
fn counts_are_limited() {
    let path = "[path]\nrate = \"1 Mbit/s\"\nrtt = \"1 ms\"\n";
    let flows = "[[flow]]\ncount = 200000\n";
    exercise(&format!("{path}{flows}"));
    let error = Scenario::parse("x", &format!("{path}{flows}{flows}"), None).unwrap_err().explain();
    assert_eq!(error, "x line 6, flow[1]: there are too many flows; expected at most 200000");
    let error = Scenario::parse("x", &" ".repeat(5 << 20), None).unwrap_err().explain();
    assert!(error.contains("the file is too large; expected at most 4 MiB"), "{error}");
}
