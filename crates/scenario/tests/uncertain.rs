//! What a scenario does not know, and the paths around it.

use proptest::prelude::*;
use rampcc_path::{AckFilter, Capacity, Jitter};
use rampcc_scenario::{AdHoc, Heading, Scenario, Setting, TrafficKind, Uncertain, Values, standalone};

const PATH: &str = "size = \"1 MB\"\n[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\n";

fn parse(text: &str) -> Scenario {
    Scenario::parse("near", text, None).unwrap_or_else(|e| panic!("{}", e.explain()))
}

#[track_caller]
fn refused(entry: &str, expected: &str) {
    let text = format!("{PATH}[uncertain]\n{entry}\n");
    let error = match Scenario::parse("near", &text, None) {
        Err(error) => error,
        Ok(scenario) => {
            // Whether or not a neighbour is wanted.
            let checked = scenario.check_uncertain().expect_err(entry);
            assert_eq!(scenario.neighbourhood(1, 1).expect_err(entry).explain(), checked.explain());
            checked
        }
    };
    let message = error.explain();
    assert!(message.starts_with("near line 6, uncertain."), "{message}");
    assert!(message.contains(expected) && message.contains("; expected "), "{message}");
}

fn fields(scenario: &Scenario) -> Vec<&str> {
    scenario.uncertain.iter().map(|u| u.field.as_str()).collect()
}

#[test]
fn a_contender_is_no_part_of_the_path_wherever_it_is_named() {
    refused("\"algorithm.best.threshold\" = \"1 to 2 MB/s\"", "it is not part of the path");
    let error = Uncertain::parse("algorithm.best.threshold=1MB/s..2MB/s").expect_err("it is refused");
    assert!(error.explain().contains("it is not part of the path"), "{}", error.explain());
}

#[test]
fn a_field_is_written_short_or_long() {
    let scenario = parse(&format!(
        "{PATH}[uncertain]\n\"path.reverse.rate\" = \"1 to 20 Mbit/s\"\n\
         \"path.queue\" = {{ values = [\"drop-tail\", \"codel\", {{ kind = \"red\", min = 5 }}] }}\n\
         \"path.rtt\" = {{ range = \"20 to 100 ms\", scale = \"linear\", reason = \"It moves.\" }}\n"
    ));
    assert_eq!(fields(&scenario), ["path.queue", "path.reverse.rate", "path.rtt"]);
    assert_eq!(scenario.uncertain[2].reason, "It moves.");
    assert!(matches!(&scenario.uncertain[0].values, Values::Choice(values) if values.len() == 3));
    assert!(matches!(&scenario.uncertain[1].values, Values::Range(range) if range.logarithmic));
    assert!(matches!(&scenario.uncertain[2].values, Values::Range(range) if !range.logarithmic));
    let near = scenario.neighbourhood(9, 1).unwrap();
    assert_eq!(near.described, [None, Some(1.0), Some(0.25)]);
    assert!(near.paths.iter().any(|p| p.values[0].contains("red")), "{:?}", near.paths[0].values);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    refused("\"path.buffer\" = \"4 to 0.25 bdp\"", "4 is not below 0.25");
    refused("\"path.buffer\" = \"1 bdp\"", "neither ` to ` nor `..`");
    refused("\"path.buffer\" = 3", "found 3");
    refused("\"path.rtt\" = \"1 ms to 5 Mbit/s\"", "different kinds");
    refused("\"path.jitter\" = { range = \"0 to 5 ms\", scale = \"log\" }", "cannot begin at 0");
    refused("\"path.jitter\" = { reach = \"0 to 5 ms\" }", "there is no such field");
    refused("\"path.jitter\" = { reason = \"none\" }", "it is missing");
    refused("\"path.queue\" = { values = [\"codel\"] }", "1 values");
    refused("\"runs\" = \"1 to 5\"", "not part of the path");
    refused("\"road.buffer\" = \"1 to 5 bdp\"", "there is no such field");
    refused("path.buffer = \"1 to 5 bdp\"", "a field with dots stands in quotes");
    // What only the field itself knows is found when paths are drawn.
    refused("\"path.bufer\" = \"1 to 5 bdp\"", "did you mean `buffer`?");
    refused("\"path.rate\" = \"0 to 5 Mbit/s\"", "it must not be zero");
    refused("\"path.buffer\" = \"1 to 5 Mbit/s\"", "one end of its range is not possible");
    // Paths around another round-trip time are no neighbours of this one; what is not stated may lie anywhere.
    refused(
        "\"path.rtt\" = \"50 to 90 ms\"",
        "the path is described with 40 ms, which the range does not hold",
    );
    let unstated = parse(&format!("{PATH}[uncertain]\n\"path.jitter\" = \"1 to 5 ms\"\n"));
    assert_eq!(unstated.neighbourhood(2, 1).unwrap().described, [None]);
}

#[test]
fn what_would_be_drawn_twice_or_is_no_part_of_the_path_is_refused() {
    refused(
        "\"path.queue\" = { values = [\"codel\", \"red\", \"codel\"] }",
        "found \"codel\": it is there twice",
    );
    refused("\"duration\" = \"1 to 5 s\"", "not part of the path");
    refused("\"path.jitter.0.max\" = \"1 to 5 ms\"", "there is no list `jitter` to have that number");
    refused("\"flow.0.size\" = \"1 to 5 MB\"", "there is no `[[flow]]` table to have that number");
    refused("\"path.rtt\" = \"1 to NaN ms\"", "`NaN ms`: it does not start with a number");
    let nested = format!(
        "{PATH}[uncertain]\n\"path.queue\" = {{ values = [\"drop-tail\", \"codel\"] }}\n\"path.queue.above\" = \"0.2 to 0.6 bdp\"\n"
    );
    let error = Scenario::parse("near", &nested, None).unwrap_err().explain();
    assert!(
        error.starts_with("near line 7, uncertain.path.queue.above: `path.queue` is uncertain"),
        "{error}"
    );
    let all = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        Uncertain::parse_all(&texts).map_err(|error| error.explain())
    };
    for (texts, expected) in [
        (
            &["path.queue=codel,codel"][..],
            "`--uncertain path.queue=codel,codel`: the value `codel` is there twice",
        ),
        (&["path.buffer=1bdp,1 bdp"], "the value `1 bdp` is there twice"),
        (&["path.loss=0..1%", "path.loss=0..2%"], "`--uncertain path.loss=0..2%`: the field is given twice"),
        (&["path.queue=codel,red", "path.queue.min=5..9"], "`path.queue` is given as well"),
        (&["duration=1s..5s"], "it is not part of the path"),
        (&["path.rate=1mbit...5mbit"], "three dots"),
    ] {
        let told = all(texts).unwrap_err();
        assert!(told.contains(expected), "{texts:?}: {told}");
    }
    assert_eq!(all(&["path.jitter.0.max=1ms..5ms", "path.jitter.1.max=1ms..5ms"]).unwrap().len(), 2);
}

/// Two fields that go together at the ends of their ranges, and not everywhere between.
const TOGETHER: &str = "# one\n# two\nsize = \"1 MB\"\n[path]\nrate = \"20 Mbit/s\"\nrtt = \"40 ms\"\n\
    jitter = { kind = \"grant\", period = \"10 ms\", assured = \"20 kB\", request-delay = \"1 s\" }\n\
    [uncertain]\n\"path.jitter.period\" = \"1 to 20 ms\"\n\"path.jitter.request-delay\" = \"1 to 20 s\"\n";

#[test]
fn what_is_wrong_with_a_neighbour_is_told_where_its_user_wrote_it() {
    let told = |scenario: Scenario| scenario.neighbourhood(64, 1).expect_err("refused").explain();
    let parsed = Scenario::parse("dir/near.toml", TOGETHER, None).unwrap();
    // Whatever is set or added, it is the line of the file.
    let set = Setting::parse("path.loss=0.1%").unwrap();
    let added = Uncertain::parse_all(&["path.buffer=1bdp..2bdp".to_owned()]).unwrap();
    for scenario in [
        parsed.clone(),
        parsed.clone().with_uncertain(&added),
        Scenario::parse_with("dir/near.toml", TOGETHER, None, &[set]).unwrap(),
    ] {
        let told = told(scenario);
        let place = "dir/near.toml line 10, uncertain.path.jitter.request-delay: ";
        assert!(told.starts_with(place), "{told}");
        assert!(told.contains(" s is not possible beside path.jitter.period = "), "{told}");
        assert!(told.contains("it is out of range; expected a time from 0 us to "), "{told}");
    }
    // An error in an option names the option, wherever it is written down.
    let plain = parse(PATH);
    for (option, expected) in [
        ("path.rate=0.01..5Gbit/s", None),
        (
            "path.rate=1..5Gbit/s",
            Some(
                "the path is described with 20 Mbit/s, which the range does not hold; expected a range that holds 20 Mbit/s",
            ),
        ),
        (
            "path.rate=0..5mbit",
            Some("one end of its range is not possible: found \"0 Mbit/s\": it must not be zero"),
        ),
        ("path.queue.above=0.2bdp..0.6bdp", Some("path.queue: `kind` is missing; expected `drop-tail`")),
        ("path.queue=codel,cudel", Some("one of its values is not possible: found \"cudel\": did you mean")),
        ("path.jitter.0.max=1ms..5ms", Some("there is no list `jitter` to have that number")),
        ("flow.0.size=1MB..5MB", Some("there is no `[[flow]]` table to have that number")),
    ] {
        let drawn = plain.clone().with_uncertain(&[Uncertain::parse(option).unwrap()]).neighbourhood(4, 1);
        match (drawn, expected) {
            (Ok(_), expected) => assert_eq!(expected, None, "{option}"),
            (Err(error), expected) => {
                let told = error.explain();
                assert!(told.starts_with(&format!("`--uncertain {option}`: ")), "{told}");
                assert!(told.contains(expected.unwrap_or("?")), "{told}");
            }
        }
    }
}

#[test]
fn an_option_takes_the_place_of_what_it_is_a_part_of() {
    let text = PATH.to_owned()
        + "jitter = { kind = \"uniform\", max = \"3 ms\" }\n[uncertain]\n\"path.jitter\" = \"0 to 5 ms\"\n";
    let option = Uncertain::parse("path.jitter.max=1ms..5ms").unwrap();
    let scenario = parse(&text).with_uncertain(&[option]);
    assert_eq!(fields(&scenario), ["path.jitter.max"]);
    assert_eq!(scenario.neighbourhood(2, 1).unwrap().paths.len(), 2);
}

#[test]
fn a_path_that_says_nothing_leaves_open_what_it_does_not_set() {
    let open = fields(&parse(PATH)).join(" ");
    assert_eq!(
        open,
        "path.buffer path.cross-traffic path.jitter path.loss path.reverse.ack-filter path.reverse.jitter \
         path.reverse.rate"
    );
    let some = parse(&format!("{PATH}buffer = \"1 bdp\"\njitter = 0\nreverse = {{ rate = \"1 Mbit/s\" }}\n"));
    assert_eq!(
        fields(&some).join(" "),
        "path.cross-traffic path.loss path.reverse.ack-filter path.reverse.jitter"
    );
    assert!(parse(&format!("{PATH}[uncertain]\n")).uncertain.is_empty(), "an empty table says: nothing");
    let near = parse(PATH).neighbourhood(64, 3).unwrap();
    assert_eq!(near.described, [Some(0.5), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(1.0)]);
    let one = &near.paths[5].scenario;
    assert!(matches!(one.topology.links[1].config.ack_filter, Some(AckFilter::Aggregate { count: 64, .. })));
    assert!(matches!(one.topology.links[0].config.delay.jitter, Some(Jitter::Uniform { .. })));
    assert!(matches!(one.traffic[0].kind, TrafficKind::Cbr { packet_bytes: 1500, .. }));
}

#[test]
fn a_plain_value_of_zero_is_none() {
    let none = parse(&format!(
        "{PATH}jitter = 0\nloss = 0\ncross-traffic = 0\nreverse = {{ ack-filter = \"0 ms\" }}\n"
    ));
    assert!(none.traffic.is_empty() && none.topology.links[1].config.ack_filter.is_none());
    let half = parse(&format!("{PATH}cross-traffic = 0.5\n"));
    assert!(matches!(half.traffic[0].kind, TrafficKind::Cbr { rate, .. } if rate.bits_per_s() == 10_000_000));
    let rate = parse(&format!("{PATH}cross-traffic = \"3 Mbit/s\"\n"));
    assert!(matches!(rate.traffic[0].kind, TrafficKind::Cbr { rate, .. } if rate.bits_per_s() == 3_000_000));
    for (wrong, expected) in
        [("2.0", "cross-traffic"), ("\"3 potatoes\"", "unit of rate"), ("true", "found true")]
    {
        let text = format!("{PATH}cross-traffic = {wrong}\n");
        let error = Scenario::parse("near", &text, None).unwrap_err().explain();
        assert!(error.contains("path.cross-traffic") && error.contains(expected), "{error}");
    }
}

#[test]
fn an_ad_hoc_path_says_in_its_text_what_it_leaves_open() {
    let ad_hoc = AdHoc {
        rate: Some("20 Mbit/s".into()),
        rtt: Some("40 ms".into()),
        buffer: Some("1 bdp".into()),
        ..AdHoc::default()
    };
    let scenario = ad_hoc.scenario(None).unwrap();
    assert!(!fields(&scenario).contains(&"path.buffer"), "it is stated");
    let again = parse(&scenario.text);
    assert_eq!(again.uncertain, scenario.uncertain);
    let more = Uncertain::parse("path.rtt=20ms..80ms").unwrap();
    let alone = scenario.clone().without_assumed().with_uncertain(std::slice::from_ref(&more));
    assert_eq!(fields(&alone), ["path.rtt"], "what nobody stated gives way to what somebody does");
    let more = scenario.clone().with_uncertain(&[more]);
    assert!(fields(&more).contains(&"path.rtt") && fields(&more).contains(&"path.loss"));
    assert_eq!(parse(&more.text).uncertain.len(), more.uncertain.len());
    assert_eq!(more.certain_text(), scenario.certain_text());
    for wrong in ["path.rtt", "path.rtt=5ms", "=1..2", "road=1..2"] {
        assert!(Uncertain::parse(wrong).unwrap_err().explain().contains("; expected "), "{wrong}");
    }
}

#[test]
fn what_is_set_is_known() {
    let open = |settings: &[&str]| {
        let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
        Scenario::open_with("wifi", &settings).unwrap_or_else(|e| panic!("{}", e.explain()))
    };
    let all = Scenario::open("wifi").unwrap();
    let set = open(&["path.rate=15mbit"]);
    assert_eq!(set.uncertain.len(), all.uncertain.len() - 1);
    assert!(!fields(&set).contains(&"path.rate"));
    let set = open(&["path.jitter=2ms"]);
    assert!(!fields(&set).contains(&"path.jitter.1.max"), "it is no longer a list");
    // A list of values is reached into.
    let set = open(&["path.jitter.1.max=40ms", "path.jitter.0.max=1ms"]);
    assert!(set.text.contains("{ kind = \"uniform\", max = \"1ms\" }"), "{}", set.text);
    let error = Setting::parse("path.jitter.7.max=1ms").unwrap();
    let error = Scenario::open_with("wifi", &[error]).unwrap_err().explain();
    assert!(error.contains("`jitter` is a list of 2"), "{error}");
}

#[test]
fn a_neighbour_is_an_ordinary_scenario() {
    let scenario = Scenario::open("geo-satellite").unwrap();
    let near = scenario.neighbourhood(4, 1).unwrap();
    for path in &near.paths {
        assert!(path.scenario.uncertain.is_empty());
        assert_eq!(path.scenario.name, "geo-satellite");
        let heading = Heading { name: "nearest-loss", description: "A neighbour.", seed: 9 };
        let text = standalone(&path.scenario.text, heading, None);
        let again = parse(&text);
        assert_eq!((again.name.as_str(), again.seed, again.runs), ("nearest-loss", 9, scenario.runs));
        assert_eq!(again.description, "A neighbour.");
        assert!(again.uncertain.is_empty());
        let rate = |s: &Scenario| match s.topology.links[1].config.capacity {
            Capacity::Constant(rate) => rate,
            _ => panic!("not constant"),
        };
        assert_eq!(rate(&again), rate(&path.scenario));
        assert_ne!(rate(&again), rate(&scenario));
    }
}

#[test]
fn sixty_four_paths_lie_one_in_each_sixty_fourth_of_every_range() {
    let scenario = Scenario::open("geo-satellite").unwrap();
    let near = scenario.neighbourhood(64, 1).unwrap();
    for field in 0..near.fields.len() {
        let mut cells: Vec<usize> = near.paths.iter().map(|p| (p.at[field] * 64.0) as usize).collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..64).collect::<Vec<_>>(), "{}", near.fields[field].field);
    }
    let fewer = scenario.neighbourhood(16, 1).unwrap();
    assert!(fewer.paths.iter().zip(&near.paths).all(|(a, b)| a.scenario.text == b.scenario.text));
    let other = scenario.neighbourhood(16, 2).unwrap();
    assert!(other.paths[0].at != near.paths[0].at);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Every neighbour of every scenario lies in its ranges, is runnable, and is the same each time.
    #[test]
    fn neighbours_lie_in_their_ranges(
        name in prop::sample::select(Scenario::built_in_names().collect::<Vec<_>>()),
        count in 1_u32..20,
        seed in any::<u64>(),
    ) {
        let scenario = Scenario::open(name).unwrap();
        let near = scenario.neighbourhood(count, seed).unwrap();
        prop_assert_eq!(near.paths.len(), count as usize);
        let again = scenario.neighbourhood(count, seed).unwrap();
        for (path, same) in near.paths.iter().zip(&again.paths) {
            prop_assert_eq!(&path.scenario.text, &same.scenario.text);
            prop_assert_eq!(&path.values, &same.values);
            for (uncertain, (at, shown)) in near.fields.iter().zip(path.at.iter().zip(&path.values)) {
                prop_assert!((0.0..1.0).contains(at));
                let Values::Range(range) = &uncertain.values else { continue };
                let number: f64 = shown.split(' ').next().unwrap().parse().unwrap();
                prop_assert!(number >= range.low && number <= range.high, "{} {shown}", uncertain.field);
            }
        }
    }
}
