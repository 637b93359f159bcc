use super::*;
use crate::Pair;
use crate::comparison::Finding;
use crate::fixture::sample_comparison;

fn data(html: &str) -> serde_json::Value {
    let (_, rest) = html.split_once("id=\"report-data\">").expect("a data block");
    serde_json::from_str(rest.split_once("</script>").expect("its end").0).expect("valid JSON")
}

#[test]
fn every_value_has_a_line_a_link_and_its_place_on_the_axis() {
    let first = sample_comparison();
    let mut second = first.clone();
    second.leader = Some("paced".to_owned());
    let point = |value: &str, comparison| SweptPoint {
        values: vec![value.to_owned()],
        report: Some(format!("path.buffer-{value}/report.html")),
        comparison,
    };
    let overview = Overview {
        fields: vec!["path.buffer".to_owned()],
        points: vec![point("4bdp", &first), point("1bdp", &second)],
    };
    let html = render_overview(&overview);
    assert!(html.contains("<a href=\"path.buffer-4bdp/report.html\">4bdp</a>"));
    assert!(html.contains("best at 1 of 2 (4bdp), paced at 1 of 2 (1bdp)"), "{html}");
    let data = data(&html);
    let facet = &data["overview"]["facets"][0];
    assert_eq!(facet["points"][0]["text"], "1bdp");
    assert_eq!(facet["points"][1]["x"], 4.0);
    assert_eq!(data["arms"].as_array().map(Vec::len), Some(first.arms.len()));
    let best = data["arms"].as_array().and_then(|arms| arms.iter().position(|a| a["label"] == "best"));
    let mean = facet["values"][0][best.expect("a row")][0][0].as_f64().expect("a mean");
    let expected = first.arm("best").and_then(|arm| arm.metric("download_time")).expect("a metric").mean;
    assert!((mean - expected).abs() < expected * 1e-4, "{mean} {expected}");
}

#[test]
fn two_fields_give_a_chart_for_each_value_of_the_shorter_one() {
    let comparison = sample_comparison();
    let points =
        [("1bdp", "1%"), ("2bdp", "1%"), ("4bdp", "1%"), ("1bdp", "0%"), ("2bdp", "0%"), ("4bdp", "0%")];
    let overview = Overview {
        fields: vec!["path.buffer".to_owned(), "path.loss".to_owned()],
        points: points
            .iter()
            .map(|(a, b)| SweptPoint {
                values: vec![(*a).to_owned(), (*b).to_owned()],
                report: None,
                comparison: &comparison,
            })
            .collect(),
    };
    let data = data(&render_overview(&overview));
    assert_eq!(data["overview"]["axis"], "path.buffer");
    let titles: Vec<&str> = data["overview"]["facets"]
        .as_array()
        .expect("facets")
        .iter()
        .filter_map(|facet| facet["title"].as_str())
        .collect();
    assert_eq!(titles, ["path.loss 1%", "path.loss 0%"]);
}

#[test]
fn hostile_text_stays_text_and_nothing_is_a_page() {
    const ATTACK: &str = "</script><script>alert(1)</script><!--'\"&";
    let mut comparison = sample_comparison();
    comparison.provenance.scenario.push_str(ATTACK);
    comparison.arms[0].label.push_str(ATTACK);
    comparison.leader = Some(ATTACK.to_owned());
    let overview = Overview {
        fields: vec![ATTACK.to_owned()],
        points: vec![SweptPoint {
            values: vec![ATTACK.to_owned()],
            report: Some(ATTACK.to_owned()),
            comparison: &comparison,
        }],
    };
    let html = render_overview(&overview);
    assert!(!html.contains("<script>alert"));
    let empty = render_overview(&Overview { fields: Vec::new(), points: Vec::new() });
    assert!(empty.ends_with("</html>\n"));
}

/// The headline of a sweep over the sample, led by these rows in turn; `finding`: how rows stand to each other.
fn headline(leaders: &[Option<&str>], finding: Option<Finding>) -> String {
    let mut sample = sample_comparison();
    sample.arms.retain(|arm| ["best", "paced", "ideal"].contains(&arm.label.as_str()));
    let some = sample.pairs[0].clone();
    for (arm, against) in [("best", "paced"), ("paced", "best")] {
        sample.pairs.retain(|pair| (pair.arm.as_str(), pair.against.as_str()) != (arm, against));
        sample.pairs.extend(finding.map(|finding| Pair {
            metric: sample.primary.clone(),
            arm: arm.to_owned(),
            against: against.to_owned(),
            finding,
            ..some.clone()
        }));
    }
    let comparisons: Vec<Comparison> = leaders
        .iter()
        .map(|leader| Comparison { leader: leader.map(str::to_owned), ..sample.clone() })
        .collect();
    let point =
        |(index, comparison)| SweptPoint { values: vec![format!("{index}bdp")], report: None, comparison };
    let points = comparisons.iter().enumerate().map(point).collect();
    Swept::new(&Overview { fields: vec!["path.buffer".to_owned()], points }).sentence()
}

#[test]
fn who_leads_depends_on_the_values_only_where_nobody_could_lead_at_all_of_them() {
    let turns = [Some("best"), Some("paced")];
    assert_eq!(
        headline(&turns, Some(Finding::Higher)),
        "In download time, who leads depends on path.buffer: best at 1 of 2 (0bdp), paced at 1 of 2 (1bdp)."
    );
    assert_eq!(
        headline(&turns, Some(Finding::Equivalent)),
        "In download time, both algorithms are less than 5 % apart at both values of path.buffer."
    );
    let unclear = headline(&turns, Some(Finding::CannotTell));
    assert!(unclear.contains("the runs do not show that who leads depends on path.buffer"), "{unclear}");
    assert_eq!(
        headline(&[Some("best"), None, Some("best")], Some(Finding::Higher)),
        "best leads in download time at 2 of 3 values of path.buffer. At 1 none finished."
    );
    assert_eq!(headline(&[None], None), "No value has a leader.");
}

#[test]
fn what_did_not_finish_is_at_least_that() {
    let mut comparison = sample_comparison();
    let arm = comparison.arms.iter_mut().find(|arm| arm.label == "limited").unwrap();
    let runs = arm.n as usize;
    let time = arm.metrics.get_mut("download_time").unwrap();
    (time.n, time.values, time.at_least) = (0, vec![None; runs], vec![Some(120.0); runs]);
    (time.mean, time.median, time.interval) = (120.0, 120.0, None);
    let point = SweptPoint { values: vec!["1bdp".to_owned()], report: None, comparison: &comparison };
    let html = render_overview(&Overview { fields: vec!["path.buffer".to_owned()], points: vec![point] });
    assert!(html.contains(">≥\u{202f}120\u{202f}s <span class=\"interval\">0 of 12 runs"), "{html}");
    assert!(html.contains("A triangle stands for runs"));
    let facet = &data(&html)["overview"]["facets"][0]["values"][0];
    let flags: Vec<bool> =
        facet.as_array().unwrap().iter().map(|arm| arm[0].as_array().unwrap().len() == 4).collect();
    assert_eq!(flags.iter().filter(|flag| **flag).count(), 1);
    // The report of one value says the same, and no table has an end of no runs.
    let report = crate::report::html::render(&comparison);
    assert!(report.contains("<span>≥\u{202f}120\u{202f}s</span></td>"));
    assert!(report.contains("<td>≥\u{202f}120\u{202f}s</td>") && !report.contains("inf\u{202f}s"));
    let rows = &data(&report)["distributions"][0]["rows"];
    let least: Vec<&serde_json::Value> =
        rows.as_array().unwrap().iter().filter(|row| row["at_least"] == true).collect();
    assert_eq!((least.len(), &least[0]["flag"]), (1, &serde_json::json!("unfinished")));
}
