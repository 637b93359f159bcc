//! The command that the playground shows prints the numbers that the playground shows.

mod support;

use rampcc_playground::{Ask, Engine};
use rampcc_trace::words;
use serde_json::{Value, json};
use support::Place;

fn answer(engine: &mut Engine, question: &Value) -> Value {
    serde_json::from_str(&engine.answer(question.to_string().as_bytes())).unwrap()
}

#[test]
fn the_command_prints_what_the_page_shows() {
    let small = json!({ "rate": "10 Mbit/s", "rtt": "20 ms", "size": "200 kB", "jitter": "1 ms" });
    let drawn = r#"[{ at = "0 s", rate = "2 Mbit/s" }, { at = "0.5 s", rate = "9 Mbit/s" }]"#;
    let asks = [
        json!({ "options": small, "set": ["path.cross-traffic=5 %"], "algorithms": ["slow_start", "late=hystart:low_window=64"], "runs": 3, "seed": 7, "neighbours": 4 }),
        json!({ "options": { "rate": drawn, "rtt": "40 ms", "size": "300 kB" }, "set": ["path.rate-period=1 s"], "neighbours": 0 }),
        json!({ "scenario": "cable", "options": { "size": "100 kB" }, "algorithms": ["deployed"], "runs": 2, "neighbours": 2 }),
        json!({ "text": "size = '150 kB'\nruns = 2\n[path]\nrate = '5 Mbit/s'\nrtt = '30 ms'\njitter = '1 ms'\n", "neighbours": 2 }),
    ];
    for ask in asks {
        let mut engine = Engine::default();
        let begun = answer(&mut engine, &json!({ "begin": ask }));
        let command = begun["command"].as_str().unwrap_or_else(|| panic!("{begun}"));
        loop {
            let wanted = answer(&mut engine, &json!("wanted"));
            let wanted = wanted.as_array().unwrap();
            if wanted.is_empty() {
                break;
            }
            for wish in wanted {
                assert_eq!(answer(&mut engine, &json!({ "play": wish })), json!({}));
            }
        }
        let place = Place::new("playground");
        if let Some(text) = ask["text"].as_str() {
            place.write("my-path.toml", text);
        }
        let arguments = [words(command).split_off(1), vec!["--out".to_owned(), "out".to_owned()]].concat();
        place.stdout(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let printed: Value = serde_json::from_str(&place.read("out/comparison.json")).unwrap();
        let shown = answer(&mut engine, &json!("show"));
        assert_eq!(shown["verdict"], printed["verdict"], "{command}");
        let understood: Ask = serde_json::from_value(ask).unwrap();
        assert_eq!(understood.command(), command);
    }
}
