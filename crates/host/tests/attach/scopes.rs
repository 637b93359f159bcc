//! Every scope: attach, connections use it, detach restores exactly.

use std::fs;
use std::path::Path;

use rampcc_host::{Change, Health, Host, Restored, Scope};
use rampcc_linux::Options;

use crate::support::left_out::{complete, repeated};
use crate::support::{
    Cgroup, HERE, Place, algorithm, available, best, carry, connected, connected_by, finish, foreign,
    listening, output, ready, run, usual, within_process,
};

#[test]
fn a_namespace_gets_the_algorithm_and_its_own_default_back() {
    let Some(place) = Place::ready() else { return };
    // From inside as the system, from outside by name.
    for from_inside in [true, false] {
        repeated(|| a_namespace_and_back(&place, from_inside));
    }
}

fn a_namespace_and_back(place: &Place, from_inside: bool) {
    let host = place.host();
    let scope = if from_inside { Scope::System } else { Scope::Netns(place.netns()) };
    let attach = || host.attach(&scope, best(), &usual(best())).expect("attaches");
    let attached = if from_inside { place.within(attach) } else { attach() };
    assert_eq!((attached.change, attached.replaced.as_str()), (Change::Made, "reno"));
    assert_eq!(place.default(), attached.name);
    assert_eq!(place.used(), [attached.name.clone(), attached.name.clone()]);
    let status = host.attachments().expect("status");
    assert_eq!((status.len(), &status[0].health), (1, &Health::InForce));
    assert_eq!(status[0].replaced.as_deref(), Some("reno"));
    let algorithm = status[0].attached.as_ref().expect("on record");
    assert_eq!((algorithm.id.as_str(), algorithm.name.as_str()), ("best", attached.name.as_str()));
    let counters = algorithm.counters.expect("pinned");
    // Whichever way it was attached, both names of the namespace lead back.
    let detached = if from_inside {
        host.detach(Some(&Scope::Netns(place.netns())))
    } else {
        place.within(|| host.detach(Some(&Scope::System)))
    };
    let detached = detached.expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(detached[0].names, std::slice::from_ref(&attached.name));
    assert_eq!(place.default(), "reno");
    assert_eq!(place.used(), ["reno", "reno"]);
    place.assert_clean(&detached[0].names);
    complete(counters.opened >= 2, counters);
    assert_eq!((counters.opened, counters.without_storage), (2, 0));
}

#[test]
fn a_namespace_without_a_name_is_found_by_its_processes() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let attached = place.within(|| host.attach(&Scope::System, best(), &usual(best()))).expect("attaches");
    let mut resident = place.resident();
    run(&format!("ip netns del {}", place.netns()));
    let inside =
        format!("nsenter --net=/proc/{}/ns/net sysctl -n net.ipv4.tcp_congestion_control", resident.id());
    assert_eq!(output(&inside).trim(), attached.name);
    assert_eq!(host.attachments().expect("status")[0].health, Health::InForce);
    let detached = host.detach(None).expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(output(&inside).trim(), "reno");
    place.assert_clean(&[attached.name]);

    let attached = within_process(resident.id(), || host.attach(&Scope::System, best(), &usual(best())));
    let attached = attached.expect("attaches");
    resident.kill().expect("its last process");
    resident.wait().expect("its end");
    let health = host.attachments().expect("status").remove(0).health;
    assert!(matches!(health, Health::Gone(_)), "{health:?}");
    assert!(matches!(host.detach(None).expect("detaches")[0].restored, Restored::Gone(_)));
    place.assert_clean(&[attached.name]);
}

#[test]
fn attaching_the_same_again_changes_nothing_and_another_replaces_it() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let scope = Scope::Netns(place.netns());
    let first = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let before = host.attachments().expect("status");
    let again = host.attach(&scope, best(), &usual(best())).expect("again");
    assert_eq!((again.change, &again.name), (Change::None, &first.name));
    let after = host.attachments().expect("status");
    let (before, after) = (before[0].attached.as_ref().unwrap(), after[0].attached.as_ref().unwrap());
    assert_eq!((before.since_s, &before.pins), (after.since_s, &after.pins));

    // The same algorithm with another parameter is another.
    let index = best().parameters.iter().position(|p| p.name == "threshold").expect("its parameter");
    let mut changed: Options = usual(best());
    changed.parameters[index] = 2_000_000;
    let second = host.attach(&scope, best(), &changed).expect("replaces");
    assert_eq!((second.change, second.replaced.as_str()), (Change::Replaced, "reno"));
    assert!(second.name != first.name && !available().contains(&first.name));
    assert_eq!(place.used(), [second.name.clone(), second.name.clone()]);
    let status = host.attachments().expect("status");
    let settings = status[0].attached.as_ref().expect("on record").settings();
    assert_eq!((status.len(), settings), (1, vec![("threshold", 2_000_000)]));

    let hystart = algorithm("hystart");
    let third = host.attach(&scope, hystart, &usual(hystart)).expect("replaces");
    assert_eq!(place.used(), [third.name.clone(), third.name.clone()]);
    let detached = host.detach(None).expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[first.name, second.name, third.name]);
}

#[test]
fn without_links_as_before_linux_6_4_everything_is_the_same() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let scope = Scope::Netns(place.netns());
    let unlinked = |id| Options { link: false, ..usual(algorithm(id)) };
    let first = host.attach(&scope, best(), &unlinked("best")).expect("attaches");
    assert_eq!(place.used(), [first.name.clone(), first.name.clone()]);
    let hystart = algorithm("hystart");
    let second = host.attach(&scope, hystart, &unlinked("hystart")).expect("replaces");
    assert!(second.change == Change::Replaced && !available().contains(&first.name));
    assert_eq!(place.used(), [second.name.clone(), second.name.clone()]);
    assert_eq!(host.attachments().expect("status")[0].health, Health::InForce);
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[first.name, second.name]);
}

#[test]
fn a_control_group_gets_the_algorithm_on_both_kinds_of_open() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let (place, group) = (Place::new(), Cgroup::new());
        let host = place.host();
        let scope = Scope::Cgroup(group.path.clone());
        let used = || {
            let words = ["use", &group.path.to_string_lossy()];
            let (status, said) = finish(place.child(&words).spawn().expect("a child"));
            assert!(status.success(), "{said}");
            let line = said.lines().find_map(|line| line.split_once("used: ")).expect("its answer").1;
            line.split(' ').map(str::to_owned).collect::<Vec<_>>()
        };
        let first = host.attach(&scope, best(), &usual(best())).expect("attaches");
        assert_eq!(used(), [first.name.clone(), first.name.clone()]);
        assert_eq!(place.used(), ["reno", "reno"], "outside the group nothing changes");
        let status = host.attachments().expect("status");
        assert_eq!(status[0].health, Health::InForce);
        let algorithm_now = status[0].attached.as_ref().expect("on record");
        // Two connections, both ends of which are the group's.
        assert_eq!(algorithm_now.assigned.expect("counted").assigned[0], 4);
        let counters = algorithm_now.counters.expect("counted");

        let slow_start = algorithm("slow_start");
        let second = host.attach(&scope, slow_start, &usual(slow_start)).expect("replaces");
        assert_eq!(second.change, Change::Replaced);
        assert_eq!(used(), [second.name.clone(), second.name.clone()]);

        host.detach(Some(&scope)).expect("detaches");
        assert_eq!(used(), ["reno", "reno"]);
        place.assert_clean(&[first.name, second.name]);
        complete(counters.opened >= 4, counters);
        assert_eq!(counters.opened, 4);
    });
}

/// In a child: joins a control group and tells what connections of the group use.
pub(crate) fn use_in_cgroup(words: &[&str]) {
    fs::write(Path::new(words[0]).join("cgroup.procs"), std::process::id().to_string()).expect("joining");
    let netns = std::env::var("RAMP_NETNS").expect("set by the parent");
    crate::support::within(&netns, || {
        let (listener, to) = listening(HERE);
        let socket = connected(to);
        let active = carry(&socket, &listener);
        // An application's own choice, if there is one.
        let opened = match words.get(1) {
            Some(control) => connected_by(to, control),
            None => connected(to),
        };
        let (accepted, _) = listener.accept().expect("accept");
        let passive = String::from_utf8_lossy(&accepted.tcp_congestion().expect("TCP_CONGESTION"))
            .trim_end_matches('\0')
            .to_owned();
        drop(opened);
        println!("used: {active} {passive}");
    });
}

#[test]
fn what_an_inner_control_group_gives_is_no_applications_choice() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let (place, outer) = (Place::new(), Cgroup::new());
        let host = place.host();
        let inner = Cgroup::below(&outer);
        let [around, within] = [&outer, &inner].map(|group| Scope::Cgroup(group.path.clone()));
        let hystart = algorithm("hystart");
        let first = host.attach(&around, best(), &usual(best())).expect("attaches");
        let second = host.attach(&within, hystart, &usual(hystart)).expect("attaches");
        let used = |group: &Cgroup, control: &str| {
            let words = ["use", &group.path.to_string_lossy(), control];
            let (status, said) = finish(place.child(&words).spawn().expect("a child"));
            assert!(status.success(), "{said}");
            let line = said.lines().find_map(|line| line.split_once("used: ")).expect("its answer").1;
            line.split(' ').map(str::to_owned).collect::<Vec<_>>()
        };
        let counted = |scope: &Scope| {
            let all = host.attachments().expect("status");
            let one = all.iter().find(|one| one.scope == scope.to_string()).expect("attached");
            let counters = one.attached.as_ref().and_then(|one| one.assigned).expect("counted");
            (counters.assigned[0], counters.chosen, counters.nested)
        };
        // Two connections, both ends of which are the group's; one of the four has chosen for itself.
        assert_eq!(used(&inner, "reno"), [second.name.clone(), second.name.clone()]);
        assert_eq!(counted(&within), (3, 1, 0));
        assert_eq!(counted(&around), (0, 1, 3));
        assert_eq!(used(&outer, "reno"), [first.name.clone(), first.name.clone()]);
        assert_eq!(counted(&within), (3, 1, 0));
        assert_eq!(counted(&around), (3, 2, 3));
        // Even an algorithm of ramp's is the application's choice where it has asked for it.
        assert_eq!(used(&inner, &first.name), [second.name.clone(), second.name.clone()]);
        assert_eq!(counted(&within), (6, 2, 0));
        assert_eq!(counted(&around), (3, 3, 6));
        host.detach(Some(&within)).expect("detaches");
        assert_eq!(used(&inner, "reno"), [first.name.clone(), first.name.clone()]);
        assert_eq!(counted(&around), (6, 4, 6));
        host.detach(Some(&around)).expect("detaches");
        place.assert_clean(&[first.name, second.name]);
    });
}

#[test]
fn a_control_group_that_is_gone_leaves_nothing_to_restore() {
    let Some(place) = Place::ready() else { return };
    let group = Cgroup::new();
    let host = place.host();
    let scope = Scope::Cgroup(group.path.clone());
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    drop(group);
    assert!(matches!(host.attachments().expect("status")[0].health, Health::Gone(_)));
    let detached = host.detach(Some(&scope)).expect("detaches by the name it had");
    assert!(matches!(detached[0].restored, Restored::Gone(_)));
    place.assert_clean(&[attached.name]);
}

#[test]
fn a_control_group_that_was_made_again_is_said_and_attached_again() {
    let Some(place) = Place::ready() else { return };
    let group = Cgroup::new();
    let host = place.host();
    let scope = Scope::Cgroup(group.path.clone());
    let first = host.attach(&scope, best(), &usual(best())).expect("attaches");
    let again = || {
        fs::remove_dir(&group.path).expect("it is empty");
        fs::create_dir(&group.path).expect("another one of its name");
    };
    again();
    let status = host.attachments().expect("status");
    assert_eq!((status.len(), &status[0].health), (1, &Health::Remade(group.path.clone())));
    let second = host.attach(&scope, best(), &usual(best())).expect("attaches");
    assert!(second.change == Change::Made && second.recovered.is_some(), "{second:?}");
    let status = host.attachments().expect("status");
    assert_eq!((status.len(), &status[0].health), (1, &Health::InForce));
    again();
    let detached = host.detach(Some(&scope)).expect("detaches by its name");
    assert!(matches!(detached[0].restored, Restored::Gone(_)), "{detached:?}");
    place.assert_clean(&[first.name, second.name]);
}

#[test]
fn only_a_default_is_allowed_to_everybody() {
    let Some(place) = Place::ready() else { return };
    let group = Cgroup::new();
    let host = place.host();
    let allowed = |name: &str| {
        let text = fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").expect("TCP");
        text.split_whitespace().any(|allowed| allowed == name)
    };
    run(&format!("ip -n {} route add 10.80.0.0/16 via 10.78.1.2", place.netns()));
    let route = Scope::parse(&["route", "10.80.0.0/16"]).expect("a prefix");
    for (scope, everybody) in
        [(Scope::Netns(place.netns()), true), (Scope::Cgroup(group.path.clone()), false), (route, false)]
    {
        let attached = place.within(|| host.attach(&scope, best(), &usual(best()))).expect("attaches");
        assert!(available().contains(&attached.name));
        assert_eq!(allowed(&attached.name), everybody, "{scope}");
        assert_eq!(host.attachments().expect("status")[0].health, Health::InForce, "{scope}");
        place.within(|| host.detach(None)).expect("detaches");
        place.assert_clean(&[attached.name]);
    }
}

#[test]
fn what_others_have_set_meanwhile_stays() {
    let Some(place) = Place::ready() else { return };
    let host = place.host();
    let scope = Scope::Netns(place.netns());
    let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
    place.set_default(foreign());
    assert_eq!(host.attachments().expect("status")[0].health, Health::Overridden(foreign().into()));
    let error = host.attach(&scope, algorithm("hystart"), &usual(algorithm("hystart"))).expect_err("refused");
    assert!(error.to_string().contains(&format!("another process has set {}", foreign())), "{error}");
    let detached = host.detach(None).expect("detaches");
    assert_eq!(detached[0].restored, Restored::LeftForeign(foreign().into()));
    assert_eq!(place.default(), foreign());
    place.assert_clean(&[attached.name]);
}

#[test]
fn running_connections_go_on_after_detach_and_are_counted() {
    let Some(()) = ready() else { return };
    repeated(|| {
        let place = Place::new();
        let host = place.host();
        let scope = Scope::Netns(place.netns());
        let attached = host.attach(&scope, best(), &usual(best())).expect("attaches");
        let (listener, to) = place.within(|| listening(HERE));
        let sockets: Vec<_> = (0..3).map(|_| place.within(|| connected(to))).collect();
        let accepted: Vec<_> = (0..3).map(|_| listener.accept().expect("accept").0).collect();
        let status = host.attachments().expect("status");
        let connections = status[0].connections.as_ref().expect("counted");
        assert_eq!(connections.get(&attached.name), Some(&6), "{connections:?}");
        let detached = host.detach(None).expect("detaches");
        for (socket, accepted) in sockets.iter().zip(&accepted) {
            assert_eq!(crate::support::exchange(socket, accepted), attached.name);
            assert_eq!(crate::support::exchange(accepted, socket), attached.name);
        }
        assert_eq!(place.used(), ["reno", "reno"]);
        place.assert_clean(&[attached.name]);
        complete(detached[0].still_open >= 6, &detached);
        assert_eq!(detached[0].still_open, 6);
    });
}

#[test]
fn a_lost_record_is_read_from_the_pins_and_lost_pins_are_made_up_for_by_the_record() {
    let Some(place) = Place::ready() else { return };
    let host: Host = place.host();
    let scope = Scope::Netns(place.netns());
    let attach = || host.attach(&scope, best(), &usual(best())).expect("attaches");

    let attached = attach();
    fs::remove_dir_all(place.records()).expect("records");
    assert_eq!(host.attachments().expect("status")[0].health, Health::InForce);
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[attached.name]);

    let attached = attach();
    let record = fs::read_dir(place.records()).expect("records").flatten().map(|e| e.path());
    for path in record.filter(|path| path.extension().is_some_and(|e| e == "json")) {
        fs::write(path, "{ cut sho").expect("a torn record");
    }
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    place.assert_clean(&[attached.name]);

    let attached = attach();
    let pins = host.attachments().expect("status")[0].attached.as_ref().expect("on record").pins.clone();
    fs::remove_file(pins.join("link")).expect("its link");
    while available().contains(&attached.name) {
        // The kernel takes a moment to drop what nothing refers to.
        std::thread::yield_now();
    }
    // The default still holds what has lost its name.
    assert_eq!(host.attachments().expect("status")[0].health, Health::Unpinned);
    assert_eq!(host.detach(None).expect("detaches")[0].restored, Restored::PutBack("reno".into()));
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[attached.name]);

    // All pins gone, and then all that ramp knows: what is in force cannot be undone, and is not.
    let attached = attach();
    fs::remove_dir_all(place.pins().join(&host.attachments().expect("status")[0].key)).expect("pins");
    let again = attach();
    assert!(again.recovered.is_some() && again.replaced == "reno", "{again:?}");
    fs::remove_dir_all(place.records()).expect("records");
    let key = host.attachments().expect("status")[0].key.clone();
    fs::remove_file(place.pins().join(&key).join("record")).expect("the map");
    let lost = Health::Lost(Some(again.name.clone()));
    assert_eq!(host.attachments().expect("status")[0].health, lost);
    let error = host.detach(None).expect_err("it is not known what was before");
    assert!(error.to_string().contains("is lost"), "{error}");
    assert_eq!(place.default(), again.name);
    place.set_default("reno");
    host.detach(None).expect("now nothing is to be put back");
    place.assert_clean(&[attached.name, again.name]);
}
