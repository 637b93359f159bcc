//! What the emulator cannot play, and how it says so. Needs no privileges.
#![cfg(target_os = "linux")]

use rampcc_emulator::{Family, Unsupported, check};
use rampcc_scenario::Scenario;

fn refusal(text: &str) -> String {
    let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
    check(&scenario, Family::V4).expect_err("the emulator refuses it").to_string()
}

fn accepts(text: &str) {
    let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
    assert_eq!(check(&scenario, Family::V4), Ok(()));
}

#[test]
fn generated_traffic_is_refused_by_its_name() {
    let text = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n\
        [[flow]]\nname = 'one'\nsize = '1 MB'\n\
        [[traffic]]\nname = 'noise'\nkind = 'cbr'\nrate = '1 Mbit/s'\n";
    assert_eq!(
        refusal(text),
        "generated traffic `noise`: real hosts can have listed flows and web sessions alone"
    );
}

#[test]
fn a_path_beyond_the_rating_is_refused_with_its_slowest_link() {
    let message = refusal("size = '1 MB'\n[path]\nrate = '500 Mbit/s'\nrtt = '40 ms'\naccess = '1 Gbit/s'\n");
    assert!(message.contains("its slowest link, `bottleneck`, serves 500 Mbit/s"), "{message}");
    accepts("size = '1 MB'\n[path]\nrate = '400 Mbit/s'\nrtt = '40 ms'\naccess = '1 Gbit/s'\n");
}

#[test]
fn a_round_trip_shorter_than_the_lateness_allows_is_refused() {
    let message = refusal("size = '1 MB'\n[path]\nrate = '100 Mbit/s'\nrtt = '1 ms'\n");
    assert!(message.contains("is too short; below 2 ms"), "{message}");
    accepts("size = '1 MB'\n[path]\nrate = '100 Mbit/s'\nrtt = '2 ms'\n");
}

#[test]
fn headers_that_the_kernel_cannot_send_are_refused() {
    let text = |headers: u32| {
        format!(
            "size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n[sender]\nheaders = '{headers} B'\n"
        )
    };
    assert!(refusal(&text(39)).contains("`headers` of 39 bytes; the kernel sends 40 at least"));
    accepts(&text(40));
    accepts(&text(66));
}

#[test]
fn packets_that_no_device_takes_are_refused() {
    let text = |mss: u32| {
        format!("size = '1 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n[sender]\nmss = '{mss} B'\n")
    };
    assert!(refusal(&text(50)).contains("packets of 102 bytes"));
    assert!(refusal(&text(65_500)).contains("packets of 65552 bytes"));
    accepts(&text(8_948));
}

#[test]
fn a_node_that_would_be_at_both_ends_is_refused() {
    let link = |a: &str, b: &str| {
        format!("[[link]]\nfrom = '{a}'\nto = '{b}'\nrate = '10 Mbit/s'\ndelay = '10 ms'\nboth-ways = true\n")
    };
    let flow = |a: &str, b: &str| format!("[[flow]]\nfrom = '{a}'\nto = '{b}'\nsize = '1 MB'\n");
    let links = [link("a", "b"), link("b", "c"), link("c", "a")].concat();
    let ring = [links.clone(), flow("a", "b"), flow("b", "c"), flow("c", "a")].concat();
    assert!(refusal(&ring).contains("would have to be at both ends"));
    accepts(&[links, flow("a", "b"), flow("c", "b")].concat());
}

#[test]
fn built_in_scenarios_are_accepted_or_refused_for_a_reason_of_their_path() {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for name in Scenario::built_in_names() {
        let scenario = Scenario::built_in(name).expect("it comes with ramp");
        match check(&scenario, Family::V4) {
            Ok(()) => accepted.push(name),
            Err(Unsupported::NoFlow) => panic!("{name}: every scenario has flows or traffic"),
            Err(_) => refused.push(name),
        }
    }
    for name in ["geo-satellite", "geo-viasat", "lte", "wifi", "cable", "hystart-dumbbell"] {
        assert!(accepted.contains(&name), "{name}");
    }
    for name in ["data-centre", "transatlantic-10g"] {
        assert!(refused.contains(&name), "{name}");
    }
}
