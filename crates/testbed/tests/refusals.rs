//! What a kernel run cannot do, and how that is said. Needs no privileges.
#![cfg(target_os = "linux")]

use rampcc_scenario::{Arm, Scenario};
use rampcc_testbed::{Row, Unsupported, check};

fn scenario(text: &str) -> Scenario {
    Scenario::parse("test", text, None).expect("the text is a scenario")
}

fn refusals(scenario: &Scenario, row: Row) -> Vec<String> {
    check(scenario, row).err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

const PATH: &str = "size = '1 MB'\n[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";

#[test]
fn each_field_that_asks_for_another_tcp_is_refused_by_its_name() {
    for (table, setting, said) in [
        ("sender", "recovery = 'newreno-steady'", "`recovery` is NewRenoSteady; Linux repairs as RFC 6675"),
        ("sender", "prr = false", "`prr` is off; Linux reduces proportionally"),
        ("sender", "rack-tlp = false", "`rack-tlp` is off; Linux finds losses by RACK-TLP"),
        ("sender", "limited-transmit = false", "`limited-transmit` is off; Linux always has it"),
        ("sender", "undo = false", "`undo` is off; Linux undoes spurious reductions"),
        ("sender", "frto = false", "`frto` is off; Linux undoes spurious timeouts"),
        (
            "sender",
            "congestion-control = 'vegas'",
            "`congestion-control` is vegas; the algorithms continue with",
        ),
        (
            "sender",
            "congestion-control = 'bbr'",
            "`congestion-control` is bbr; the algorithms continue with CUBIC or Reno",
        ),
        ("sender", "initial-ssthresh = 64", "`initial-ssthresh` is 64 packets; a connection without metrics"),
        ("sender", "max-burst = 5", "`max-burst` is 5; Linux has no such limit"),
        ("sender", "handshake = false", "`handshake` is off; a kernel's connection begins with one"),
        ("sender", "cubic-beta = 0.5", "`cubic-beta` is 512/1024; Linux's is 717/1024"),
        ("sender", "rto-initial = '3 s'", "`rto-initial` is 3000.000 ms; Linux's is 1 s"),
        ("sender", "rto-min = '1500 us'", "`rto-min` is 1.500 ms; routes know whole milliseconds"),
        ("sender", "rto-max = '60 s'", "`rto-max` is 60000.000 ms; Linux's is 120 s"),
        ("sender", "rto-tick = '10 ms'", "`rto-tick` is 10.000 ms; Linux counts microseconds"),
        ("sender", "rto-min-of-variance = false", "`rto-min-of-variance` is off; Linux's bound holds"),
        ("sender", "extra-startup-rounds = 1", "one round more in start-up is a question for the simulator"),
        ("sender", "headers = '39 B'", "`headers` of 39 bytes"),
        ("receiver", "acks = 'delayed'", "`acks` is delayed, one for 2 segments; the kernel acknowledges"),
        ("receiver", "quick-acks = 4", "`quick-acks` is 4; Linux begins with 16"),
        ("receiver", "ack-timer = '200 ms'", "`ack-timer` is 200.000 ms; Linux waits 40 ms"),
        ("receiver", "sack-blocks = 1", "`sack-blocks` is 1; Linux sends as many as fit"),
        (
            "receiver",
            "sack-suppression = 100",
            "`sack-suppression` is 100; no Linux receiver suppresses SACK",
        ),
        ("receiver", "timestamps = '10 ms'", "`timestamps` is 10.000 ms; Linux's clock ticks every 1 ms"),
        (
            "receiver",
            "ack-size = '40 B'\ntimestamps = '1 ms'\n[sender]\nheaders = '40 B'",
            "`timestamps` is 1.000 ms;",
        ),
        ("receiver", "timestamps = 'off'", "`sack-blocks` is 3; Linux sends as many as fit"),
        ("cpu", "visit = '5 ns'", "`[cpu]`: real hosts have their own processors"),
        ("receiver", "ack-size = '40 B'", "`ack-size` is 40 bytes; the kernel's ACKs have the headers"),
    ] {
        let text = format!("{PATH}[{table}]\n{setting}\n");
        let found = refusals(&scenario(&text), Row::Core);
        assert!(found.iter().any(|reason| reason.contains(said)), "{setting}: {found:?}");
    }
}

#[test]
fn what_the_kernel_can_be_told_is_accepted() {
    for setting in [
        "[sender]\ninitial-window = 3",
        "[sender]\ncongestion-control = 'reno'",
        "[sender]\npacing = 'always'",
        "[sender]\nidle-restart = false",
        "[sender]\nrto-min = '5 ms'",
        "[sender]\nsend-buffer = '1 MB'",
        "[sender]\nmss = '1000 B'\nheaders = '40 B'\n[receiver]\nack-size = '40 B'\nsack-blocks = 4",
        "[receiver]\nacks = 'quick'",
        "[receiver]\nsack-blocks = 0",
        "[receiver]\ntimestamps = 'off'\nsack-blocks = 4",
        "[receiver]\nwindow = '1 MB'",
        "[receiver]\nwindow = 'autotuned'",
    ] {
        let found = refusals(&scenario(&format!("{PATH}{setting}\n")), Row::Core);
        assert!(found.is_empty(), "{setting}: {found:?}");
    }
}

#[test]
fn a_limit_on_growth_is_for_the_core_and_not_for_the_kernels_own() {
    let limited = scenario(&format!("{PATH}[sender]\nabc-limit = 2\n"));
    assert!(refusals(&limited, Row::Core).is_empty());
    let found = refusals(&limited, Row::Cubic);
    assert!(found[0].contains("`abc-limit` is 2; the kernel's own congestion controls grow"), "{found:?}");
}

#[test]
fn flows_that_would_need_a_namespace_each_are_refused() {
    let flows = |fields: &str| {
        scenario(&format!(
            "[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n[[flow]]\nname = 'one'\nsize = '1 MB'\n\
             [[flow]]\nname = 'two'\nsize = '1 MB'\n{fields}"
        ))
    };
    assert!(refusals(&flows(""), Row::Core).is_empty());
    for (fields, field) in [
        ("sender = { initial-window = 3 }\n", "initial-window"),
        ("sender = { idle-restart = false }\n", "idle-restart"),
        ("receiver = { acks = 'quick' }\n", "acks"),
        ("receiver = { sack-blocks = 0 }\n", "sack-blocks"),
        ("receiver = { timestamps = 'off', sack-blocks = 4 }\n", "timestamps"),
        ("receiver = { window = '64 kB' }\n", "window"),
    ] {
        let found = refusals(&flows(fields), Row::Core);
        let said = format!("flow `two` has another `{field}` than `one`");
        assert!(found.iter().any(|reason| reason.contains(&said)), "{field}: {found:?}");
    }
}

#[test]
fn everything_is_named_at_once() {
    let dumbbell = Scenario::built_in("enhanced-start-fig1").expect("it comes with ramp");
    let found = refusals(&dumbbell, Row::Core);
    for field in ["recovery", "prr", "rack-tlp", "max-burst", "rto-initial", "rto-tick"] {
        assert!(found.iter().any(|reason| reason.contains(&format!("`{field}`"))), "{field}: {found:?}");
    }
}

#[test]
fn what_the_path_asks_is_the_emulators_to_refuse() {
    let fast = scenario("size = '1 MB'\n[path]\nrate = '2 Gbit/s'\nrtt = '40 ms'\n");
    let found = check(&fast, Row::Reno).expect_err("it is too fast");
    assert!(matches!(found.as_slice(), [Unsupported::Path(_)]), "{found:?}");
    let many: String = (0..65).map(|_| "[[flow]]\nsize = '1 MB'\n").collect();
    let many = scenario(&format!("[path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n{many}"));
    assert!(refusals(&many, Row::Core)[0].contains("65 flows; there are threads for 64"));
}

#[test]
fn of_generated_traffic_only_web_sessions_with_one_congestion_control_for_a_client_are_played() {
    let pairs = "[dumbbell]\npairs = 2\nrate = '20 Mbit/s'\nrtt = '40 ms'\n";
    let web = |client: u32, fields: &str| {
        format!("[[traffic]]\nkind = 'web'\nfrom = 'sender-{client}'\nto = 'receiver-{client}'\n{fields}\n")
    };
    let found = |tables: &[String]| -> Vec<String> {
        let found = check(&scenario(&[pairs.to_owned(), tables.concat()].concat()), Row::Core).err();
        let found = found.unwrap_or_default().into_iter();
        // That is the machine's lack.
        found.filter(|one| !matches!(one, Unsupported::Nginx { .. })).map(|one| one.to_string()).collect()
    };
    let none: Vec<String> = Vec::new();
    let other = web(2, "algorithm = 'best'");
    assert_eq!(found(&[web(1, "under-test = true"), other.clone()]), none);
    assert_eq!(found(&[web(2, ""), web(2, "name = 'more'")]), none);
    let flow = |client: u32, algorithm: &str| {
        format!(
            "[[flow]]\nname = 'long'\nfrom = 'sender-{client}'\nto = 'receiver-{client}'\n\
             algorithm = '{algorithm}'\n"
        )
    };
    assert_eq!(found(&[flow(1, "best"), other.clone()]), none);
    assert_eq!(found(&[flow(2, "best"), other.clone()]), none);
    for (tables, said) in [
        (
            vec![web(1, "")],
            "traffic `web` and `flow-1` have a client in common, `receiver-1`, but are not steered alike",
        ),
        (
            vec![flow(2, "paced"), other.clone()],
            "traffic `web` and `long` have a client in common, `receiver-2`, but are not steered alike",
        ),
        (
            vec![web(1, "under-test = 0.5")],
            "`under-test` is 0.5; a server's connections to a client have one",
        ),
        (
            vec![web(1, "under-test = true\nrtt = { median = '100 ms', sigma = 0.5 }")],
            "traffic `web`: `rtt` is drawn; real connections have the path's",
        ),
        (vec![web(1, "sender = { pacing = 'always' }")], "`pacing` is always; nginx does not ask for it"),
        (vec![web(1, "sender = { prr = false }")], "flow `web`: `prr` is off; Linux reduces proportionally"),
        (
            vec![other.clone(), web(2, "name = 'plain'")],
            "traffic `plain` and `web` have a client in common, `receiver-2`, but are not steered alike",
        ),
        (
            vec![
                "[[traffic]]\nkind = 'poisson'\nname = 'mice'\nflows-per-second = 1\nsize = '10 kB'\n"
                    .to_owned(),
            ],
            "generated traffic `mice`: real hosts can have listed flows and web sessions alone",
        ),
    ] {
        let found = found(&tables);
        assert!(found.iter().any(|reason| reason.contains(said)), "{said}: {found:?}");
    }
}

#[test]
fn modern_built_in_scenarios_are_played_with_every_row() {
    let best = Arm::parse("best").expect("an algorithm");
    for name in [
        "best-geo",
        "cable",
        "deep-buffer",
        "geo-satellite",
        "geo-viasat",
        "leo-handovers",
        "leo-starlink",
        "lossy-wireless",
        "lte",
        "shallow-buffer-50mbps-40ms",
        "wifi",
    ] {
        let scenario = Scenario::built_in(name).expect("it comes with ramp").with_arm(&best);
        for row in [Row::Core].into_iter().chain(Row::KERNEL) {
            assert_eq!(check(&scenario, row), Ok(()), "{name}");
        }
    }
}
