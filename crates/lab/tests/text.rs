//! The terminal's table, and the files for machines.

use fixture::{sample_carries, sample_comparison};
use proptest::prelude::*;
use rampcc_lab::report::{TextStyle, csv, html, json, runs_csv, sides_json, text};
use rampcc_lab::{
    About, CapacityStep, Comparison, Context, Emulation, JudgeOptions, LeftOut, Met, RunRecord, SidesWords,
    Spread, Words, judge, side_by_side,
};
use rampcc_trace::Wire;

#[path = "support/fixture.rs"]
mod fixture;

fn shown(width: usize) -> String {
    text(&sample_comparison(), &TextStyle { width, colour: false })
}

fn line_starting<'a>(text: &'a str, start: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in\n{text}"))
}

#[test]
fn the_table_reads_at_a_glance() {
    let text = shown(120);
    let best = line_starting(&text, "best  ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(best, "best 4.27 s ± 0.08 leader 6.29 s bandwidth 0.96 0 13 % 35.0 ms");
    let lossy = line_starting(&text, "slow_start").split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(lossy, "slow_start 6.91 s ± 0.11 +62 % 6.97 s loss 2.10 1840 23 % 589 ms");
    assert!(text.contains("\n`best` downloads 36 MB in 4.27 s ± 0.08, as fast as `paced`"), "{text}");
}

#[test]
fn what_several_flows_do_is_not_said_of_one() {
    let mut comparison = sample_comparison();
    comparison.context.flows_under_test = 2;
    comparison.context.size_bytes = None;
    let text = text(&comparison, &TextStyle { width: 120, colour: false });
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("takes 4.27 s ± 0.08 for a download, the mean of its flows"), "{text}");
    assert!(text.contains("as fast as `hystart`. ") && !text.contains("because it"), "{text}");
}

#[test]
fn the_best_comes_first_and_the_yardstick_apart() {
    let text = shown(120);
    let lines: Vec<&str> = text.lines().collect();
    let rule = lines.iter().position(|line| line.starts_with('─')).unwrap();
    assert!(lines[rule + 1].starts_with("best "));
    let ideal = lines.iter().position(|line| line.starts_with("ideal ")).unwrap();
    assert_eq!((lines[ideal - 1], ideal), ("", rule + 10));
}

#[test]
fn narrow_terminals_lose_columns_and_not_their_shape() {
    assert!(shown(120).contains("peak"));
    let text = shown(80);
    assert!(!text.contains("peak"), "{text}");
    let rule = line_starting(&text, "─").chars().count();
    let table: Vec<_> = text.lines().filter(|line| line.contains(" s ± ") && line.contains("  ")).collect();
    assert_eq!(table.len(), 9);
    assert!(table.iter().all(|line| line.chars().count() == rule), "{text}");
    // A list still says everything.
    let list = shown(30);
    assert!(!list.contains('─') && list.contains("  queue peak: 35.0 ms"), "{list}");
}

#[test]
fn the_verdict_column_stays_at_80_columns() {
    let text = shown(80);
    assert!(text.contains("  leader  "), "{text}");
    for cell in [" leader", ", under 5 %", "+62 %"] {
        assert!(text.lines().any(|line| line.contains(" s ± ") && line.contains(cell)), "{cell}\n{text}");
    }
    // Even where there is hardly room for anything.
    assert!(shown(56).contains("+62 %"), "{}", shown(56));
}

#[test]
fn the_head_says_what_was_typed_and_what_is_left_of_it() {
    let sample = sample_comparison();
    let head = |context: Context, met: Option<Met>| {
        let comparison = Comparison { context, met, ..sample.clone() };
        text(&comparison, &TextStyle { width: 200, colour: false }).lines().next().unwrap().to_owned()
    };
    let fast = |bytes_per_s: f64, base_rtt_s: f64| Context {
        capacity: vec![CapacityStep { from_s: 0.0, bytes_per_s }],
        base_rtt_s,
        bdp_bytes: (bytes_per_s * base_rtt_s) as u64,
        ..sample.context.clone()
    };
    let said = head(fast(10e9 / 8.0 / 1500.0 * 1448.0, 0.1), None);
    assert!(said.starts_with("geo-sample: 10 Gbit/s (9.65 Gbit/s payload), 100 ms RTT, "), "{said}");
    // Neither rate nor round trip is lost where the BDP is nothing.
    let said = head(fast(0.12, 1e-9), None);
    assert!(said.contains(" bit/s (") && said.contains("0.0010 us RTT") && !said.contains("BDP"), "{said}");
    // On a measured link: what the runs met.
    let spread = |mean: f64, low: f64, high: f64| Spread { mean, low, high };
    let met = Met { bytes_per_s: spread(5.875e6, 4.9e6, 7e6), bdp_bytes: spread(300e3, 200e3, 400e3) };
    let said = head(sample.context.clone(), Some(met));
    assert!(said.contains("47 Mbit/s payload on average (39.2 Mbit/s to 56 Mbit/s in its runs)"), "{said}");
    assert!(said.contains("BDP 300 kB"), "{said}");
}

#[test]
fn colour_changes_nothing_else() {
    let plain = shown(100);
    let coloured = text(&sample_comparison(), &TextStyle { width: 100, colour: true });
    assert!(coloured.contains("\x1b[32mbest\x1b[0m"));
    let mut stripped = String::new();
    let mut escape = false;
    for letter in coloured.chars() {
        match letter {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            _ => stripped.push(letter),
        }
    }
    assert_eq!(stripped, plain);
}

#[test]
fn an_empty_comparison_has_no_table() {
    let sample = sample_comparison();
    let empty = judge(&[], &JudgeOptions::new(sample.provenance, sample.context));
    let text = text(&empty, &TextStyle::default());
    assert!(text.ends_with("No run has finished, so there is nothing to compare.\n"), "{text}");
    assert!(!text.contains('─'));
}

#[test]
fn csv_begins_with_how_to_make_it_again_and_has_a_row_per_metric() {
    let comparison = sample_comparison();
    let csv = csv(&comparison);
    assert!(csv.starts_with("# version: \"0.1.0\"\n# command: \"ramp compare geo-sample --runs 12\"\n"));
    let rows: Vec<&str> = csv.lines().filter(|line| !line.starts_with('#')).collect();
    let columns = rows[0].split(',').count();
    assert!(rows.iter().all(|row| row.split(',').count() == columns));
    assert_eq!(rows.len(), 1 + comparison.arms.iter().map(|arm| arm.metrics.len()).sum::<usize>());
    let row = line_starting(&csv, "paced,false,download_time,s,lower,12,12,");
    assert!(row.ends_with(",equivalent,,"), "{row}");
}

#[test]
fn runs_csv_has_every_value() {
    let comparison = sample_comparison();
    let csv = runs_csv(&comparison);
    let rows: Vec<&str> = csv.lines().filter(|line| line.starts_with("hystart,3,download_time,s,")).collect();
    let value: f64 = rows[0].rsplit(',').next().unwrap().parse().unwrap();
    let expected = comparison.arm("hystart").unwrap().metric("download_time").unwrap().values[2].unwrap();
    assert_eq!((rows.len(), value.to_bits()), (1, expected.to_bits()));
}

#[test]
fn labels_with_commas_are_quoted() {
    let mut comparison = sample_comparison();
    comparison.arms[0].label = "ideal \"x\", y".to_owned();
    assert!(csv(&comparison).contains("\n\"ideal \"\"x\"\", y\",true,"));
}

#[test]
fn json_has_everything_but_the_curves() {
    let sample = sample_comparison();
    let found: Comparison = serde_json::from_str(&json(&sample).unwrap()).unwrap();
    assert_eq!((&found.pairs, Words::of(&found)), (&sample.pairs, Words::of(&sample)));
    assert!(found.arms.iter().all(|arm| arm.representative.as_ref().is_some_and(|run| run.series.is_none())));
}

#[test]
fn a_comparison_survives_its_file() {
    let mut comparison = sample_comparison();
    let text = serde_json::to_string(&comparison).unwrap();
    assert!(text.starts_with("{\"provenance\":"));
    // What the rows are, and why they left, is there in words.
    let name = rampcc::algorithm("hystart").unwrap().name;
    assert!(text.contains(&format!("\"about\":\"{name}: ")));
    for arm in &mut comparison.arms {
        arm.about = None;
        for run in arm.representative.iter_mut().chain(&mut arm.drawn) {
            let said = format!("\"explanation\":\"{}\"", std::mem::take(&mut run.explanation));
            assert!(text.contains(&said), "{said}");
        }
    }
    assert!(serde_json::from_str::<Comparison>(&text).unwrap() == comparison, "the file says something else");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_line_is_wider_than_the_terminal(width in 12..200usize) {
        static SAMPLE: std::sync::OnceLock<Comparison> = std::sync::OnceLock::new();
        let sample = SAMPLE.get_or_init(sample_comparison);
        let text = text(sample, &TextStyle { width, colour: false });
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width, "{}: {}", width, line);
        }
    }
}

/// Words are made where something is shown: what is kept has none of them. Its debug form has all that is kept, as it is.
fn is_said_and_not_kept(kept: &str, shown: &str, said: &[String]) {
    for sentence in said {
        let text = serde_json::to_string(sentence).unwrap();
        assert!(
            !kept.contains(text.trim_matches('"')) && shown.contains(text.trim_matches('"')),
            "{sentence}"
        );
    }
}

#[test]
fn a_comparison_keeps_no_sentence() {
    let sample = sample_carries();
    let words = Words::of(&sample);
    let notes = words.notes.iter().map(|note| note.text.clone());
    let runs = sample.arms.iter().flat_map(|arm| arm.representative.iter().chain(&arm.drawn));
    let said: Vec<String> = std::iter::once(words.headline)
        .chain(words.facts)
        .chain(words.reach)
        .chain(notes)
        .chain(words.method)
        .chain(runs.map(|run| run.explanation.to_string()))
        .collect();
    assert!(said.len() > 8 + sample.arms.len(), "{said:?}");
    is_said_and_not_kept(&format!("{sample:?}"), &json(&sample).unwrap(), &said);
}

#[test]
fn sides_keep_no_sentence() {
    let sides = [sample_comparison(), sample_comparison()];
    let all = side_by_side(&["sim", "linux"], &sides.each_ref());
    let words = SidesWords::of(&all, &sides);
    assert!(!words.notes.is_empty());
    let said: Vec<String> = std::iter::once(words.verdict.clone()).chain(words.notes.clone()).collect();
    is_said_and_not_kept(&format!("{all:?}"), &sides_json(&all, &words).unwrap(), &said);
}

/// Of programs the path sees packets alone: whatever stands for their windows is called what it is.
#[test]
fn what_was_in_flight_is_not_called_a_window() {
    let mut records = fixture::sample_records();
    for record in &mut records {
        record.emulation = Some(Emulation { wire: Some(Wire::default()), ..Emulation::default() });
    }
    let comparison = judge(&records, &fixture::sample_options());
    let said = text(&comparison, &TextStyle { width: 120, colour: false });
    let page = html::render(&comparison);
    let written = json(&comparison).unwrap();
    assert!(said.contains("in flight at") && page.contains("In flight at exit / BDP"), "{said}");
    assert!(said.contains(" of the BDP in flight "), "{said}");
    assert!(written.contains("\"in flight at exit / BDP\"") && written.contains("\"on_wire\": true"));
    for (form, words) in [("text", &said), ("page", &page), ("json", &written)] {
        for wrong in ["window at", "Window at", "Congestion window", "· window"] {
            assert!(!words.contains(wrong), "{form}: {wrong}");
        }
    }
    // Next to a kernel, whose window is known, the row is named.
    let kernel = sample_comparison();
    let sides = side_by_side(&["linux", "program"], &[&kernel, &comparison]);
    assert!(sides.metrics.iter().any(|info| info.name == "window at exit / BDP"), "{:?}", sides.metrics);
    let notes = SidesWords::of(&sides, &[kernel, comparison]).notes;
    assert!(
        notes.iter().any(|note| note.starts_with("program: its windows are the bytes in flight")),
        "{notes:?}"
    );
}

#[test]
fn rows_that_are_missing_are_in_the_verdict() {
    let why = "this build has no BPF programs: build it with them";
    let left_out = LeftOut { rows: vec!["vegas".to_owned(), "suss".to_owned()], why: why.to_owned() };
    let options = JudgeOptions { left_out: vec![left_out], ..fixture::sample_options() };
    let comparison = judge(&fixture::sample_records(), &options);
    let told = format!("vegas and suss are missing here: {why}.");
    assert!(Words::of(&comparison).verdict.contains(&told));
    let said = text(&comparison, &TextStyle { width: 2000, colour: false });
    assert!(said.contains("`vegas` and `suss` are missing here"), "{said}");
    assert!(html::render(&comparison).contains("<b>vegas</b> and <b>suss</b> are missing here"));
    let written = json(&comparison).unwrap();
    assert!(written.contains("\"left_out\"") && written.contains(why), "{written}");
    // Also where nothing has run, and next to another backend.
    assert!(Words::of(&judge(&[], &options)).verdict.contains(&told));
    let whole = sample_comparison();
    let sides = side_by_side(&["sim", "linux"], &[&whole, &comparison]);
    let notes = SidesWords::of(&sides, &[whole, comparison]).notes;
    assert!(notes.iter().any(|note| *note == format!("linux: {told}")), "{notes:?}");
}

/// The sample with a candidate in the place of `row`, and what its verdict begins with.
fn first_sentence(row: &str, id: &str, change: impl Fn(&mut RunRecord)) -> (String, Words) {
    let mut options = fixture::sample_options();
    options.about.insert(row.to_owned(), About::Header { id: id.to_owned() });
    let mut records = fixture::sample_records();
    records.iter_mut().filter(|record| record.provenance.arm == row).for_each(change);
    let words = Words::of(&judge(&records, &options));
    let first = words.verdict.split_inclusive(". ").next().unwrap().trim_end().to_owned();
    (first, words)
}

#[test]
fn a_candidate_comes_first_in_the_verdict() {
    let same = |_: &mut RunRecord| {};
    // Against the row that it would replace, whichever leads.
    let (first, words) = first_sentence("slow_start", "hystart", same);
    assert!(first.starts_with("The candidate slow_start is "), "{first}");
    assert!(first.contains(" hystart, which it would replace: 6.91 s ± 0.11 against "), "{first}");
    assert!(words.facts[0].starts_with("best downloads 36 MB in"), "{:?}", words.facts);
    assert!(words.facts[1].starts_with("It is "), "{:?}", words.facts);
    // Against the leader.
    let (first, _) = first_sentence("slow_start", "mine", same);
    assert_eq!(
        first,
        "The candidate slow_start takes 1.62 times as long as best, the leader: 6.91 s ± 0.11 against 4.27 s ± 0.08."
    );
    let (first, _) = first_sentence("paced", "mine", same);
    assert!(
        first.starts_with("The candidate paced is as fast as best, the leader (less than 5 % apart): "),
        "{first}"
    );
    // As the leader, against the next.
    let (first, _) = first_sentence("best", "mine", same);
    assert!(first.starts_with("The candidate best leads: it is as fast as paced, the next"), "{first}");
    let unfinished = |record: &mut RunRecord| {
        record.metrics.remove("download_time");
        record.download_at_least_s = Some(60.0);
    };
    let (first, _) = first_sentence("paced", "mine", unfinished);
    assert_eq!(first, "The candidate paced did not finish in any run.");
    let plain = Words::of(&sample_comparison());
    assert!(plain.headline.starts_with("best downloads") && plain.facts[0].starts_with("It is "));
}
