//! Settings, arms, ad-hoc paths: what they make of a scenario.

use rampcc::{Rate, Time};
use rampcc_path::{Capacity, Limit, Propagation, QueueConfig};
use rampcc_scenario::{AdHoc, Arm, Scenario, Setting, Source};
use rampcc_tcp::{Avoidance, ReceiveWindow};

fn with(name: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<Setting> = settings.iter().map(|s| Setting::parse(s).unwrap()).collect();
    Scenario::open_with(name, &settings).unwrap_or_else(|e| panic!("{}", e.explain()))
}

fn limit(scenario: &Scenario) -> Limit {
    let QueueConfig::DropTail { limit } = scenario.topology.links[scenario.bottleneck].config.queue else {
        panic!("not drop-tail")
    };
    limit
}

#[test]
fn settings_change_fields_and_the_text_with_them() {
    let scenario = with("deep-buffer", &["path.buffer=0.25bdp", "sender.congestion-control=reno", "runs=3"]);
    assert_eq!(limit(&scenario), Limit::Bytes(25_000));
    assert_eq!(scenario.flows[0].sender.avoidance, Avoidance::Reno);
    assert_eq!(scenario.runs, 3);
    let again = Scenario::parse("deep-buffer", &scenario.text, None).unwrap();
    assert_eq!((limit(&again), again.runs), (limit(&scenario), 3));
}

#[test]
fn settings_reach_into_tables_and_lists() {
    let scenario =
        with("enhanced-start-fig1", &["path.queue=red", "path.queue.min=5", "receiver.window=64 KiB"]);
    let queue = &scenario.topology.links[scenario.bottleneck].config.queue;
    assert!(matches!(queue, QueueConfig::Red { min, .. } if (*min - 5.0).abs() < 1e-9), "{queue:?}");
    assert_eq!(scenario.flows[0].receiver.window, ReceiveWindow::Fixed(65_536));
    let scenario =
        with("hystart-dumbbell", &["flow.size=3MB", "flow.1.size=4MB", "algorithm.best.threshold=2MB/s"]);
    assert_eq!(scenario.flows[0].source, Source::Sized(3_000_000));
    assert_eq!(scenario.flows[1].source, Source::Sized(4_000_000));
    let best = scenario.settings.iter().find(|s| s.algorithm.id == "best").unwrap();
    let index = best.algorithm.parameters.iter().position(|p| p.name == "threshold").unwrap();
    assert_eq!(best.parameters[index], 2_000_000);
}

#[test]
fn an_empty_setting_removes_a_field() {
    let scenario = with("lossy-wireless", &["path.loss="]);
    assert!(!scenario.text.contains("gilbert"));
}

#[test]
fn a_sweep_is_one_setting_for_each_value() {
    let settings = Setting::sweep("path.queue={ kind = \"red\", min = 5 },codel").unwrap();
    let texts: Vec<_> = settings.iter().map(Setting::text).collect();
    assert_eq!(texts, ["path.queue={ kind = \"red\", min = 5 }", "path.queue=codel"]);
    assert_eq!(settings[1].key(), "path.queue");
}

#[test]
fn arms_carry_labels_and_parameters() {
    let arm = Arm::parse("hystart").unwrap();
    assert_eq!((arm.label.as_str(), arm.set.len()), ("hystart", 0));
    let arm = Arm::parse("no-floor=best:threshold=0,rtt=smoothed").unwrap();
    assert_eq!(arm.label, "no-floor");
    assert_eq!(arm.set, [("threshold".to_owned(), 0), ("rtt".to_owned(), 1)]);
    let arm = Arm::parse("hystart:version=5.10").unwrap();
    assert_eq!((arm.label.as_str(), arm.set[0].1), ("hystart version=5.10", 1));
    let arms = Arm::sweep("algorithm.best.threshold=0,1MB/s,16 Mbit/s").unwrap();
    let labels: Vec<_> = arms.iter().map(|a| a.label.as_str()).collect();
    assert_eq!(labels, ["best threshold=0", "best threshold=1MB/s", "best threshold=16 Mbit/s"]);
    let values: Vec<_> = arms.iter().map(|a| a.set[0].1).collect();
    assert_eq!(values, [0, 1_000_000, 2_000_000]);
}

#[test]
fn an_arm_steers_what_is_under_test_and_nothing_else() {
    let text = "[path]\nrate = \"10 Mbit/s\"\nrtt = \"50 ms\"\n[[flow]]\n[[flow]]\nalgorithm = \"limited\"\n\
                [algorithm.best]\nthreshold = \"3 MB/s\"\ntrack = \"every-round\"\n";
    let scenario = Scenario::parse("x", text, None).unwrap();
    let told = scenario.with_arm(&Arm::parse("best:threshold=5").unwrap());
    assert_eq!((told.flows[0].sender.startup.id, told.flows[1].sender.startup.id), ("best", "limited"));
    assert_eq!(told.flows[0].sender.parameters[..2], [5, 1], "the arm's setting on top of the file's");
    assert_eq!(told.steering.algorithm.id, "best");
    assert_eq!(told.flows[0].sender.hint.window_bytes, scenario.facts(0).bdp_bytes);
    assert_eq!(told.flows[1].sender.hint, rampcc::Hint::NONE);
}

#[test]
fn an_ad_hoc_path_is_a_scenario_file() {
    let path = AdHoc {
        rate: Some("100mbit".into()),
        rtt: Some("50ms".into()),
        buffer: Some("1bdp".into()),
        size: Some("10MB".into()),
        loss: Some("0.1 %".into()),
        settings: vec![Setting::parse("algorithm.best.threshold=2MB/s").unwrap()],
        ..AdHoc::default()
    };
    let scenario = path.scenario(None).unwrap_or_else(|e| panic!("{}", e.explain()));
    assert_eq!(scenario.name, "ad-hoc");
    assert_eq!(limit(&scenario), Limit::Bytes(625_000));
    assert_eq!(scenario.flows[0].source, Source::Sized(10_000_000));
    assert!(scenario.text.contains("[path]\nrate = \"100mbit\""), "{}", scenario.text);
    let again = Scenario::parse("ad-hoc", &scenario.text, None).unwrap();
    assert_eq!(again.text, scenario.text);
    // All but what was written before the options were set on top.
    let scenario = Scenario { original: again.original.clone(), ..scenario };
    assert_eq!(format!("{again:?}"), format!("{scenario:?}"));
}

#[test]
fn traces_are_read_beside_the_file_and_share_one_clock() {
    use std::io::Write as _;
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("traces");
    std::fs::create_dir_all(&directory).unwrap();
    // 12 opportunities of 1500 bytes in 12 ms: 12 Mbit/s.
    let trace = (1..=12).map(|ms: u32| ms.to_string()).collect::<Vec<_>>().join("\n");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(trace.as_bytes()).unwrap();
    std::fs::write(directory.join("link.down.gz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(directory.join("link.delay"), "7\n9.5\n").unwrap();
    let path = AdHoc {
        trace: Some("link.down.gz".into()),
        delay_trace: Some("link.delay".into()),
        rtt: Some("40ms".into()),
        ..AdHoc::default()
    };
    let scenario = path.scenario(Some(&directory)).unwrap_or_else(|e| panic!("{}", e.explain()));
    let link = |s: &Scenario| s.topology.links[s.bottleneck].config.clone();
    let Propagation::Trace { values, .. } = link(&scenario).delay.propagation else {
        panic!("no delay trace")
    };
    assert_eq!(
        &values[..],
        [Time::from_ms(27), Time::from_us(29_500)],
        "the trace on top of half of the rtt"
    );
    let facts = scenario.facts(0);
    assert_eq!(facts.base_rtt, Time::from_ms(47));
    let mean = facts.capacity.iter().map(|(_, r)| r.bits_per_s()).sum::<u64>() / facts.capacity.len() as u64;
    assert!((mean as f64 / (12e6 * 1448.0 / 1500.0) - 1.0).abs() < 0.01, "{mean}");
    assert_eq!(scenario.files.len(), 2);
    // Another seed starts elsewhere in both traces, by the same shift.
    let seeds: Vec<_> = [1, 1, 2]
        .map(|seed| match link(&scenario.at_seed(seed)) {
            rampcc_path::LinkConfig { capacity: Capacity::Trace(trace), delay, .. } => {
                match delay.propagation {
                    Propagation::Trace { offset, .. } if offset == trace.offset => offset,
                    other => panic!("{other:?}"),
                }
            }
            other => panic!("{other:?}"),
        })
        .to_vec();
    assert_eq!(seeds[0], seeds[1]);
    assert_ne!(seeds[0], seeds[2]);
    assert!(seeds.iter().all(|offset| *offset < Time::from_ms(12)));
}

#[test]
fn wrong_traces_are_told_by_line() {
    let directory = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("wrong-traces");
    std::fs::create_dir_all(&directory).unwrap();
    for (name, content, wanted) in [
        ("back", "5\n3\n", "line 2"),
        ("word", "5\nsix\n", "line 2"),
        ("empty", "", "path.trace"),
        ("zero", "0\n0\n", "path.trace"),
    ] {
        std::fs::write(directory.join(name), content).unwrap();
        let text = format!("[path]\nrtt = \"10 ms\"\ntrace = \"{name}\"\n");
        let error = Scenario::parse("x", &text, Some(&directory)).unwrap_err().explain();
        assert!(error.starts_with("x line 3, path.trace: ") && error.contains(wanted), "{error}");
        assert!(error.contains("expected a mahimahi trace"), "{error}");
    }
    let error =
        Scenario::parse("x", "[path]\nrtt = \"10 ms\"\ntrace = \"nowhere\"\n", Some(&directory)).unwrap_err();
    assert!(error.explain().contains("cannot read nowhere: "), "{}", error.explain());
}

#[test]
fn extreme_but_legal_values_are_taken() {
    for (rate, rtt, buffer) in [
        ("1 bit/s", "1 us", "1 packets"),
        ("1 Tbit/s", "1 h", "1 bdp"),
        ("1 bit/s", "1 h", "0.001 bdp"),
        ("1 Tbit/s", "1 us", "1 EB"),
    ] {
        let text = format!("[path]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nbuffer = \"{buffer}\"\n");
        match Scenario::parse("x", &text, None) {
            Ok(scenario) => {
                assert!(scenario.facts(0).base_rtt >= Time::from_us(1));
                let _ = scenario.with_arm(&Arm::parse("ideal").unwrap());
            }
            Err(e) => assert!(buffer == "1 EB" && e.explain().contains("EB"), "{}", e.explain()),
        }
    }
    let text = "[path]\nrate = \"1 Tbit/s\"\nrtt = \"1 h\"\n";
    let facts = Scenario::parse("x", text, None).unwrap().facts(0);
    assert_eq!(
        facts.capacity[0].1,
        Rate::from_bits_per_s(1_000_000_000_000 / 1500 * 1448 + 1_000_000_000_000 % 1500 * 1448 / 1500)
    );
}

/// `ramp explain` shows 250 of 1/1000 and 600 permille: what it shows is taken, and so are the ratios themselves.
#[test]
fn parts_of_a_thousand_are_taken_as_shown_and_as_ratios() {
    let value = |setting: &str, id: &str, parameter: &str| {
        let scenario = with("geo-satellite", &[setting]);
        let set = scenario.settings.iter().find(|set| set.algorithm.id == id).unwrap();
        set.parameters[set.algorithm.parameters.iter().position(|p| p.name == parameter).unwrap()]
    };
    for text in ["250", "0.25", "250/1000", "25 %"] {
        let setting = format!("algorithm.paced.compression={text}");
        assert_eq!(value(&setting, "paced", "compression"), 250, "{text}");
    }
    // 1 is the whole, as it was.
    for (text, parts) in [("1000", 1000), ("1", 1000), ("2", 2), ("0", 0)] {
        let setting = format!("algorithm.paced.compression={text}");
        assert_eq!(value(&setting, "paced", "compression"), parts, "{text}");
    }
    for text in ["568", "0.568", "568/1000", "56.8 %"] {
        assert_eq!(value(&format!("algorithm.stopeg.share={text}"), "stopeg", "share"), 568, "{text}");
    }
    let setting = Setting::parse("algorithm.paced.compression=1001").unwrap();
    assert!(Scenario::open_with("geo-satellite", &[setting]).is_err());
}
