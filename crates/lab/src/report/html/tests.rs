use super::curves::flow_shown;
use super::render;
use crate::fixture::sample_comparison;
use crate::{Comparison, JudgeOptions, judge};

/// The data block as the scripts will read it.
fn data(html: &str) -> serde_json::Value {
    let (_, rest) = html.split_once("id=\"report-data\">").expect("a data block");
    let (json, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("valid JSON")
}

fn body(html: &str) -> &str {
    html.split_once("<body>").expect("a body").1
}

#[test]
fn every_arm_is_in_table_exits_and_data() {
    let comparison = sample_comparison();
    let html = render(&comparison);
    let arms = data(&html)["arms"].as_array().expect("arms").clone();
    assert_eq!(arms.len(), comparison.arms.len());
    for arm in &comparison.arms {
        assert!(html.contains(&format!("<th scope=\"row\" data-value=\"{}\">", arm.label)), "{}", arm.label);
        let explanation = arm.drawn[0].explanation.to_string();
        let after_capital: String =
            explanation.chars().skip(1).take_while(|c| c.is_alphanumeric() || *c == ' ').collect();
        assert!(!after_capital.is_empty() && html.contains(&after_capital), "{}", arm.label);
        assert!(arms.iter().any(|known| known["label"] == arm.label.as_str()), "{}", arm.label);
    }
}

#[test]
fn the_file_is_small_and_names_no_other() {
    let html = render(&sample_comparison());
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    for outside in [" src=", "@import", "url(", "<link rel=\"stylesheet\"", "<iframe"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn long_curves_of_many_arms_stay_below_two_megabytes() {
    let mut comparison = sample_comparison();
    let mut arm = comparison.arms.pop().expect("an arm");
    let run = arm.drawn[0].series.as_mut().expect("curves");
    let flow = &mut run.flows[0];
    let points = 200_000_u32;
    flow.time_s = (0..points).map(|i| f64::from(i) * 1.234_567_8e-3).collect();
    flow.cwnd_bytes = (0..points).map(|i| u64::from(i) * 7919 % 123_456_789_012).collect();
    flow.in_flight_bytes.clone_from(&flow.cwnd_bytes);
    flow.delivered_bytes.clone_from(&flow.cwnd_bytes);
    flow.rtt_ms = (0..points).map(|i| Some(600.123_456_7 + f64::from(i % 997))).collect();
    comparison.arms = (0..40)
        .map(|i| {
            let mut arm = arm.clone();
            arm.label = format!("arm {i}");
            let first = arm.drawn[0].clone();
            arm.drawn = comparison
                .drawn
                .iter()
                .map(|drawn| crate::Representative { seed: drawn.seed, ..first.clone() })
                .collect();
            arm
        })
        .collect();
    let html = render(&comparison);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
}

#[test]
fn text_from_outside_cannot_become_markup() {
    const ATTACK: &str = "</script><script>alert(1)</script><!--'\"&\u{2028}";
    let mut comparison = sample_comparison();
    comparison.context.description = ATTACK.to_owned();
    comparison.context.words.push((ATTACK.to_owned(), ATTACK.to_owned()));
    for text in [
        &mut comparison.provenance.scenario,
        &mut comparison.provenance.scenario_text,
        &mut comparison.provenance.command,
        &mut comparison.provenance.version,
        &mut comparison.provenance.backend,
        &mut comparison.provenance.scenario_hash,
    ] {
        text.push_str(ATTACK);
    }
    for metric in &mut comparison.metrics {
        metric.name.push_str(ATTACK);
        metric.meaning.push_str(ATTACK);
        metric.unit.push_str(if metric.unit == "packets" { ATTACK } else { "" });
    }
    for arm in &mut comparison.arms {
        arm.label.push_str(ATTACK);
        arm.about = Some(crate::About::Header { id: ATTACK.to_owned() });
    }
    for label in
        [&mut comparison.leader, &mut comparison.baseline, &mut comparison.yardstick].into_iter().flatten()
    {
        label.push_str(ATTACK);
    }
    for pair in &mut comparison.pairs {
        pair.arm.push_str(ATTACK);
        pair.against.push_str(ATTACK);
    }
    // What it says has the labels of its rows in it.
    let words = crate::Words::of(&comparison);
    let said = [&words.headline, &words.facts[0]].map(|text| text.contains(ATTACK));
    assert_eq!((said, words.notes[0].to_string().contains(ATTACK)), ([true; 2], true));
    let html = render(&comparison);
    assert!(!html.contains("<script>alert"));
    assert!(!body(&html).contains("<!--"));
    let scripts = |html: &str| (html.matches("<script").count(), html.matches("</script>").count());
    assert_eq!(scripts(&html), scripts(&render(&sample_comparison())));
    assert_eq!(data(&html)["arms"][0]["label"].as_str().map(|label| label.ends_with(ATTACK)), Some(true));
}

#[test]
fn own_scripts_cannot_end_their_element() {
    use super::frame::{PLOT_SCRIPT, Script};
    let parts = [Script::Report, Script::Overview].map(Script::parts).concat();
    for script in parts.iter().chain([&PLOT_SCRIPT]) {
        assert!(!script.to_lowercase().contains("</script"), "{}", &script[..60]);
        assert!(!script.contains("<!--"), "{}", &script[..60]);
    }
}

#[test]
fn one_order_best_first_and_yardsticks_last() {
    let html = render(&sample_comparison());
    let arms = data(&html)["arms"].as_array().expect("arms").clone();
    assert_eq!(arms[0]["label"], "best");
    assert_eq!(arms[arms.len() - 1]["label"], "ideal");
    let place = |label: &str| html.find(&format!("data-value=\"{label}\">")).expect("a row");
    let rows: Vec<usize> = arms.iter().map(|arm| place(arm["label"].as_str().expect("a label"))).collect();
    assert!(rows.is_sorted(), "{rows:?}");
}

#[test]
fn the_head_says_path_verdict_and_findings() {
    let comparison = sample_comparison();
    let html = render(&comparison);
    let plain = html.replace(['\u{202f}'], " ").replace("<b>", "").replace("</b>", "");
    for wanted in [
        "<p class=\"verdict\">best downloads 36 MB in",
        "<li>ideal",
        "<dt>Forward</dt><dd>150 Mbit/s, 300 ms one way",
        "end slow start at the median of a round",
        "<dt>Rate</dt><dd>144 Mbit/s<small>payload</small>",
        "<dt>Base RTT</dt><dd>600 ms<",
        "<dt>BDP</dt><dd>10.8 MB<small>7458 packets</small>",
        "<dt>Buffer</dt><dd>10.8 MB<small>payload, 1.00 BDP</small>",
        "<dt>Transfer</dt><dd>36 MB<small>one flow</small>",
        "<dt>Runs per algorithm</dt><dd>12<small>seeds 1 to 12</small>",
        "<span class=\"good\">leader</span>",
        ", under 5 %</span>",
        ">two groups</span>",
        "ramp compare geo-sample --runs 12",
        "buffer = &quot;1 bdp&quot;",
    ] {
        assert!(plain.contains(wanted), "{wanted}");
    }
}

/// Differences and their exponent as values.
fn decoded(steps: &serde_json::Value, exponent: &serde_json::Value) -> Vec<Option<f64>> {
    let exponent = exponent.as_i64().expect("an exponent");
    let factor = libm::pow(10.0, exponent as f64);
    let mut sum = 0;
    let steps = steps.as_array().expect("steps").iter();
    steps
        .map(|step| {
            sum += step.as_i64().unwrap_or(0);
            step.as_i64().map(|_| sum as f64 * factor)
        })
        .collect()
}

#[test]
fn the_data_has_equal_columns_in_order() {
    let comparison = sample_comparison();
    let html = render(&comparison);
    let data = data(&html);
    let end = data["view"]["whole"][1].as_f64().expect("an end");
    let drawn = data["drawn"].as_array().expect("seeds");
    assert_eq!(drawn.len(), comparison.drawn.len());
    assert!(drawn.len() > 2, "{}", drawn.len());
    for seed in drawn {
        let runs = seed["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), comparison.arms.len());
        for (arm, run) in data["arms"].as_array().expect("arms").iter().zip(runs) {
            let arm = comparison.arm(arm["label"].as_str().expect("a label")).expect("that one");
            let number = seed["seed"].as_u64().expect("its number");
            let flow = flow_shown(arm.drawn(number).expect("drawn")).expect("curves");
            let done = run["done_s"].as_f64().expect("the end of the download");
            for (name, curve) in
                run["series"].as_object().expect("curves").iter().filter(|(name, _)| *name != "drops")
            {
                let times: Vec<f64> = decoded(&curve["t"], &curve["te"]).into_iter().flatten().collect();
                let values = decoded(&curve["y"], &curve["ye"]);
                assert!(times.len() > 50, "{name}: {}", times.len());
                assert_eq!(times.len(), values.len(), "{name}");
                assert!(
                    times.is_sorted() && times[0] >= 0.0 && times[times.len() - 1] <= end + 1e-2,
                    "{name}"
                );
                let last = values[values.len() - 1].expect("a value");
                // The last bytes are acknowledged after the run: a curve ends with the last sample before its end.
                let column = match name.as_str() {
                    "delivered" => &flow.delivered_bytes,
                    "in_flight" => &flow.in_flight_bytes,
                    _ => continue,
                };
                let at = flow.time_s.partition_point(|at| at - flow.opened_s <= done + 1e-9) - 1;
                let (ends, expected) = (times[times.len() - 1], flow.time_s[at] - flow.opened_s);
                assert!((ends - expected).abs() < 2e-3, "{name}: {ends}, {expected}; {done}");
                assert!((last - column[at] as f64).abs() < 4e3, "{name}: {last}, {}", column[at]);
            }
        }
    }
    let data = serde_json::json!({ "arms": data["arms"].as_array().expect("arms").iter().zip(drawn[0]["runs"].as_array().expect("runs"))
        .map(|(arm, run)| serde_json::json!({ "label": arm["label"], "series": run["series"] })).collect::<Vec<_>>(),
        "sizes": data["sizes"], "path": drawn[0]["path"] });
    let lossy = data["arms"].as_array().and_then(|arms| arms.iter().find(|arm| arm["label"] == "slow_start"));
    assert_eq!(lossy.and_then(|arm| arm["series"]["drops"].as_array()).map(Vec::len), Some(1));
    let sizes = data["sizes"]["bytes"].as_array().expect("sizes").len();
    assert!(
        data["sizes"]["rows"]
            .as_array()
            .expect("rows")
            .iter()
            .all(|row| row["mean"].as_array().map(Vec::len) == Some(sizes))
    );
    let capacity = data["path"]["capacity"].as_array().expect("capacity");
    let [t, bytes] = [0, 1].map(|i| capacity[capacity.len() - 1][i].as_f64().expect("a number"));
    assert!((bytes / t - 18e6).abs() < 18e6 * 1e-4, "{bytes} in {t} s");
}

#[test]
fn styles_differ_between_arms() {
    let comparison = sample_comparison();
    let mut styles = super::data::styles(&comparison.arms);
    let contenders = comparison.arms.iter().filter(|arm| !arm.yardstick).count();
    styles =
        styles.into_iter().zip(&comparison.arms).filter(|(_, arm)| !arm.yardstick).map(|(s, _)| s).collect();
    styles.sort_unstable();
    styles.dedup();
    assert_eq!(styles.len(), contenders);
}

#[test]
fn forty_arms_look_different() {
    let looks: std::collections::BTreeSet<_> =
        (0..40).map(|style| (style % 8, super::summary::dash(style))).collect();
    assert_eq!(looks.len(), 40);
}

#[test]
fn nothing_to_show_is_still_a_page() {
    let sample = sample_comparison();
    let empty = judge(&[], &JudgeOptions::new(sample.provenance.clone(), sample.context.clone()));
    let no_path = Comparison { context: crate::Context::default(), ..empty.clone() };
    let bare = Comparison {
        arms: sample
            .arms
            .iter()
            .cloned()
            .map(|arm| crate::ArmSummary { drawn: Vec::new(), downloads: Vec::new(), ..arm })
            .collect(),
        ..sample
    };
    for comparison in [empty, no_path, bare] {
        let html = render(&comparison);
        assert!(html.ends_with("</html>\n"));
        assert!(
            !html.contains("NaN") || !body(&html).split("<script").next().expect("a page").contains("NaN")
        );
        assert!(!html.contains("data-panel=\"cwnd\""));
        data(&html);
    }
}
