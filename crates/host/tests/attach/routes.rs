//! Routes of every form: replaced, used, put back as they were.

use rampcc_host::{Change, Health, HostError, Restored, Scope};
use std::net::Ipv4Addr;

use crate::support::{Place, best, run, usual};

fn route(words: &str) -> Scope {
    let words: Vec<&str> = std::iter::once("route").chain(words.split(' ')).collect();
    Scope::parse(&words).expect("a prefix")
}

/// Kinds of routes that iproute2 makes, and how to name them.
const ROUTES: [(&str, &str); 9] = [
    ("-4 route add 10.80.0.0/16 via 10.78.1.2", "10.80.0.0/16"),
    ("-4 route add 10.81.0.0/24 via 10.78.1.2 metric 50 mtu 1400 initcwnd 20 rto_min 300ms", "10.81.0.0/24"),
    ("-4 route add 10.82.0.1/32 dev eth0 src 10.78.1.1 congctl reno", "10.82.0.1"),
    (
        "-4 route add 10.83.0.0/24 nexthop via 10.78.1.2 weight 1 nexthop via 10.78.1.3 weight 2",
        "10.83.0.0/24",
    ),
    ("-4 route add 10.84.0.0/24 via 10.78.7.7 dev eth0 onlink proto static", "10.84.0.0/24"),
    ("-4 route add default via 10.78.1.2 proto dhcp", "default"),
    ("-6 route add 2001:db8:1::/48 via fd00::2 mtu 1400", "2001:db8:1::/48"),
    ("-6 route add 2001:db8:2::/48 nexthop via fd00::2 nexthop via fd00::3", "2001:db8:2::/48"),
    ("-4 route add 10.85.0.0/24 nhid 7", "10.85.0.0/24"),
];

#[test]
fn routes_of_every_form_come_back_as_they_were() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let netns = place.netns();
    run(&format!("ip -n {netns} -6 addr add fd00::1/64 dev eth0 nodad"));
    run(&format!("ip -n {netns} nexthop add id 7 via 10.78.1.2 dev eth0"));
    for (how, _) in ROUTES {
        run(&format!("ip -n {netns} {how}"));
    }
    let before = place.routes();
    for (how, name) in ROUTES {
        let attached = place
            .within(|| host.attach(&route(name), best(), &usual(best())))
            .unwrap_or_else(|error| panic!("{how}: {error}"));
        assert_eq!(attached.change, Change::Made);
        let during = place.routes();
        let changed = during.lines().filter(|line| line.contains(&format!("congctl {}", attached.name)));
        assert_eq!(changed.count(), 1, "{how}: {during}");
        assert_eq!(host.attachments().expect("status")[0].health, Health::InForce, "{how}");
        let detached = place.within(|| host.detach(None)).unwrap_or_else(|error| panic!("{how}: {error}"));
        assert!(matches!(detached[0].restored, Restored::PutBack(_)), "{how}: {detached:?}");
        assert_eq!(sorted(&place.routes()), sorted(&before), "{how}");
        place.assert_clean(&[attached.name]);
    }
}

/// Replacing an IPv6 route moves it to the end of its kind.
fn sorted(routes: &str) -> Vec<&str> {
    let mut lines: Vec<_> = routes.lines().map(str::trim_end).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn connections_over_the_route_use_it_and_others_do_not() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let (netns, far) = (place.netns(), Ipv4Addr::new(10, 80, 0, 1));
    run(&format!("ip -n {netns}p addr add {far}/32 dev lo"));
    run(&format!("ip -n {netns} route add 10.80.0.0/16 via 10.78.1.2"));
    let here = crate::support::HERE;
    let attached =
        place.within(|| host.attach(&route("10.80.0.0/16"), best(), &usual(best()))).expect("attaches");
    // The far end opens from its own address, so only what is opened from here takes the route.
    assert_eq!(place.used_between(here, far), [attached.name.clone(), "reno".into()]);
    assert_eq!(place.used(), ["reno", "reno"]);
    // The connected route carries both directions.
    let other =
        place.within(|| host.attach(&route("10.78.1.0/24"), best(), &usual(best()))).expect("attaches");
    assert_eq!(place.used(), [other.name.clone(), other.name.clone()]);
    assert_eq!(host.attachments().expect("status").len(), 2);
    place.within(|| host.detach(None)).expect("detaches both");
    assert_eq!(place.used_between(here, far), ["reno", "reno"]);
    place.assert_clean(&[attached.name, other.name]);
}

#[test]
fn a_route_over_a_nexthop_object_comes_back_and_leaves_nothing_to_others() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let (netns, far) = (place.netns(), Ipv4Addr::new(10, 80, 0, 1));
    run(&format!("ip -n {netns}p addr add {far}/32 dev lo"));
    run(&format!("ip -n {netns} nexthop add id 10 via 10.78.1.2 dev eth0"));
    run(&format!("ip -n {netns} route add 10.80.0.0/16 nhid 10"));
    let before = place.routes();
    let attach = || place.within(|| host.attach(&route("10.80.0.0/16"), best(), &usual(best())));
    let attached = attach().expect("attaches");
    assert!(attached.notes.iter().any(|note| note.contains("nexthop object 10")), "{attached:?}");
    // The kernel has it share the metrics of the first one.
    run(&format!("ip -n {netns} route add 10.81.0.0/16 nhid 10"));
    assert_eq!(place.routes().matches(&format!("congctl {}", attached.name)).count(), 2);
    let detached = place.within(|| host.detach(None)).expect("detaches");
    assert_eq!(
        detached[0].restored,
        Restored::PutBack("10.80.0.0/16 via 10.78.1.2 nhid 10 without congctl".into())
    );
    let taken_off = |note: &String| note.starts_with("taken off") && note.contains("10.81.0.0/16");
    assert!(detached[0].notes.iter().any(taken_off), "{detached:?}");
    // With the name registered again, the kernel shows who still names it.
    place.within(|| host.attach(&Scope::System, best(), &usual(best()))).expect("attaches");
    run(&format!("ip -n {netns} route del 10.81.0.0/16"));
    place.set_default("reno");
    assert_eq!(sorted(&place.routes()), sorted(&before));
    assert_eq!(place.used_between(crate::support::HERE, far), ["reno", "reno"]);
    place.within(|| host.detach(None)).expect("detaches");

    // And without the record of a name: a route that another process has set it on is said.
    let attached = attach().expect("attaches");
    run(&format!("ip -n {netns} route add 10.83.0.0/16 via 10.78.1.2 congctl {}", attached.name));
    let detached = place.within(|| host.detach(None)).expect("detaches");
    let said = |note: &String| note.starts_with("still set by the route 10.83.0.0/16");
    assert!(detached[0].notes.iter().any(said), "{detached:?}");
    run(&format!("ip -n {netns} route del 10.83.0.0/16"));
    assert_eq!(sorted(&place.routes()), sorted(&before));
    place.assert_clean(&[attached.name]);
}

#[test]
fn what_others_have_made_of_the_route_stays() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let netns = place.netns();
    run(&format!("ip -n {netns} route add 10.80.0.0/16 via 10.78.1.2"));
    let scope = route("10.80.0.0/16");
    let attach = || place.within(|| host.attach(&scope, best(), &usual(best()))).expect("attaches");
    let detach = || place.within(|| host.detach(None)).expect("detaches").remove(0).restored;

    attach();
    run(&format!("ip -n {netns} route replace 10.80.0.0/16 via 10.78.1.3"));
    let changed = place.routes();
    assert!(matches!(detach(), Restored::LeftForeign(_)));
    assert_eq!(place.routes(), changed);

    // Changed, but with our congestion control still on it: that alone goes.
    let attached = attach();
    run(&format!(
        "ip -n {netns} route replace 10.80.0.0/16 via 10.78.1.2 mtu 1300 congctl {}",
        attached.name
    ));
    assert!(matches!(detach(), Restored::LeftForeign(_)));
    let routes = place.routes();
    assert!(routes.contains("mtu 1300") && !routes.contains("congctl"), "{routes}");

    attach();
    run(&format!("ip -n {netns} route del 10.80.0.0/16"));
    assert!(matches!(detach(), Restored::Gone(_)));
    assert!(!place.routes().contains("10.80"));
    place.assert_clean(&[]);
}

#[test]
fn a_route_that_cannot_be_put_back_is_refused() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let netns = place.netns();
    for line in [
        "-4 route add blackhole 10.90.0.0/16",
        "-4 route add 10.91.0.0/16 encap ip id 5 dst 10.78.1.2 dev eth0",
        "-4 route add 10.92.0.0/16 via 10.78.1.2 metric 10",
        "-4 route add 10.92.0.0/16 via 10.78.1.3 metric 20",
        "-4 route add 10.93.0.0/16 via 10.78.1.2 metric 10",
        "-4 route append 10.93.0.0/16 via 10.78.1.3 metric 10",
    ] {
        run(&format!("ip -n {netns} {line}"));
    }
    let before = place.routes();
    for (name, word, input) in [
        ("10.90.0.0/16", "not unicast", false),
        ("10.91.0.0/16", "encapsulation", false),
        ("10.92.0.0/16", "2 routes", true),
        ("10.93.0.0/16", "neither prefix nor metric", false),
        ("10.94.0.0/16", "no route", true),
    ] {
        let error = place.within(|| host.attach(&route(name), best(), &usual(best()))).expect_err(name);
        assert_eq!(matches!(error, HostError::Input { .. }), input, "{name}: {error:?}");
        assert!(error.to_string().contains(word) && error.advice().is_some(), "{name}: {error}");
        assert_eq!(place.routes(), before, "{name}");
        place.assert_clean(&[]);
    }
    let named = route("10.92.0.0/16 metric 20");
    let attached = place.within(|| host.attach(&named, best(), &usual(best()))).expect("by its metric");
    let during = place.routes();
    let line = during.lines().find(|line| line.contains(&attached.name)).expect("it is set");
    assert!(line.contains("metric 20"), "{line}");
    place.within(|| host.detach(Some(&named))).expect("detaches");
    assert_eq!(place.routes(), before);
}

#[test]
fn a_replacement_that_fails_leaves_no_route_to_what_has_failed() {
    let Some(place) = Place::ready() else { return };
    let (netns, scope) = (place.netns(), route("10.80.0.0/16"));
    run(&format!("ip -n {netns} route add 10.80.0.0/16 via 10.78.1.2"));
    let attached = place.within(|| place.host().attach(&scope, best(), &usual(best()))).expect("attaches");
    // Another program changes something else of the route before it is looked at.
    let host = place.host().on_step(move |step| {
        if step == "verify that it is in force" {
            let congctl = "congctl ramp_hystart";
            run(&format!("ip -n {netns} route replace 10.80.0.0/16 via 10.78.1.2 mtu 1300 {congctl}"));
        }
    });
    let hystart = crate::support::algorithm("hystart");
    let error = place.within(|| host.attach(&scope, hystart, &usual(hystart))).expect_err("it was changed");
    assert!(matches!(error, HostError::Refused { .. }), "{error:?}");
    let routes = place.routes();
    assert!(
        routes.contains("mtu 1300") && routes.contains(&format!("congctl {}", attached.name)),
        "{routes}"
    );
    let detached = place.within(|| place.host().detach(None)).expect("detaches");
    assert!(matches!(detached[0].restored, Restored::LeftForeign(_)), "{detached:?}");
    // The next interface of that name has nothing to do with this route.
    place.within(|| place.host().attach(&Scope::System, hystart, &usual(hystart))).expect("attaches");
    let routes = place.routes();
    assert!(routes.contains("mtu 1300") && !routes.contains("congctl"), "{routes}");
    place.within(|| place.host().detach(None)).expect("detaches");
    place.assert_clean(&[attached.name]);
}

#[test]
fn a_route_is_the_same_with_its_metric_named_or_not() {
    let Some(place) = Place::ready() else { return };
    let (host, netns) = (place.host(), place.netns());
    run(&format!("ip -n {netns} route add default via 10.78.1.2 metric 100 mtu 1400"));
    let before = place.routes();
    let (plain, exact) = (route("default"), route("default metric 100"));
    let hystart = crate::support::algorithm("hystart");
    for [first, second] in [[&plain, &exact], [&exact, &plain]] {
        place.within(|| host.attach(first, best(), &usual(best()))).expect("attaches");
        let again = place.within(|| host.attach(second, best(), &usual(best()))).expect("it is the same");
        assert_eq!(again.change, Change::None, "{first} and {second}");
        let other = place.within(|| host.attach(second, hystart, &usual(hystart))).expect("replaces");
        assert_eq!(other.change, Change::Replaced);
        assert_eq!(host.attachments().expect("status").len(), 1);
        let detached = place.within(|| host.detach(Some(second))).expect("detaches");
        assert!(matches!(detached[0].restored, Restored::PutBack(_)), "{detached:?}");
        assert_eq!(place.routes(), before);
    }
    // A record of an older version knows only what the user said.
    let attached = place.within(|| host.attach(&plain, best(), &usual(best()))).expect("attaches");
    let key = host.attachments().expect("status")[0].key.clone();
    let old_key = key.trim_end_matches("_metric_100");
    assert_ne!(key, old_key);
    let file = |key: &str| place.records().join(format!("{key}.json"));
    let text = std::fs::read_to_string(file(&key)).expect("the record");
    let old = text.replace("\"metric\": 100", "\"metric\": null");
    assert_ne!(text, old);
    std::fs::remove_file(file(&key)).expect("the record");
    std::fs::remove_file(place.pins().join(&key).join("record")).expect("its copy");
    std::fs::rename(place.pins().join(&key), place.pins().join(old_key)).expect("the pins");
    std::fs::write(file(old_key), old).expect("an older record");
    let detached = place.within(|| host.detach(Some(&exact))).expect("detaches");
    assert!(matches!(detached[0].restored, Restored::PutBack(_)), "{detached:?}");
    assert_eq!(place.routes(), before);
    place.assert_clean(&[attached.name]);

    // It has gone, and another one of its prefix is there.
    place.within(|| host.attach(&plain, best(), &usual(best()))).expect("attaches");
    run(&format!("ip -n {netns} route del default metric 100"));
    run(&format!("ip -n {netns} route add default via 10.78.1.3 metric 200"));
    let detached = place.within(|| host.detach(Some(&plain))).expect("detaches");
    assert!(matches!(detached[0].restored, Restored::Gone(_)), "{detached:?}");
    place.assert_clean(&[]);
}
