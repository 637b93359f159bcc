//! What a unit of a service manager has attached is its own, whatever its configuration says by then.

use rampcc_host::{Change, Health, HostError, Restored, Scope};

use crate::support::{Cgroup, Place, algorithm, best, run, usual};

#[test]
fn a_stopped_unit_detaches_what_it_has_attached_and_nothing_else() {
    let Some(place) = Place::ready() else { return };
    let group = Cgroup::new();
    let (system, service) = (Scope::Netns(place.netns()), Scope::Cgroup(group.path.clone()));
    let [first, second] = ["best", "hystart"].map(|unit| place.host().for_unit(unit));
    let hystart = algorithm("hystart");
    let attached = first.attach_only(&service, best(), &usual(best())).expect("attaches");
    let other = second.attach_only(&system, hystart, &usual(hystart)).expect("attaches");
    let units: Vec<_> = first.attachments().expect("status").into_iter().map(|one| one.unit).collect();
    assert_eq!(units, [Some("best".to_owned()), Some("hystart".to_owned())]);

    // Its file is gone by now, so that its scope would be the other one's.
    let detached = first.detach_unit("best").expect("detaches");
    assert_eq!((detached.len(), &detached[0].names), (1, &vec![attached.name]));
    assert_eq!(place.default(), other.name, "the other unit's stays");
    assert_eq!(first.detach_unit("best").expect("nothing is left"), []);

    // Its file says something else, and it is started without having been stopped.
    let attached = first.attach_only(&service, best(), &usual(best())).expect("attaches");
    let error = first.attach_only(&system, best(), &usual(best())).expect_err("it is the other unit's");
    assert!(error.to_string().contains("by unit hystart already"), "{error}");
    second.detach_unit("hystart").expect("detaches");
    let moved = first.attach_only(&system, best(), &usual(best())).expect("attaches");
    assert!(moved.recovered.is_none(), "the refused one has left its own attachment: {moved:?}");
    let moved = first.attach_only(&service, best(), &usual(best())).expect("attaches");
    assert!(moved.recovered.is_some_and(|what| what.contains("this unit had attached to netns")));
    assert_eq!((place.default().as_str(), first.attachments().expect("status").len()), ("reno", 1));
    first.detach_unit("best").expect("detaches");
    place.assert_clean(&[attached.name, other.name]);
}

#[test]
fn who_attached_last_detaches() {
    let Some(place) = Place::ready() else { return };
    let (scope, by_hand) = (Scope::Netns(place.netns()), place.host());
    let unit = place.host().for_unit("best");
    let hystart = algorithm("hystart");
    by_hand.attach(&scope, best(), &usual(best())).expect("attaches");
    let taken_over = unit.attach_only(&scope, best(), &usual(best())).expect("it is the same");
    assert_eq!(taken_over.change, Change::None);
    // Another unit has not attached it, even if it would have attached the same.
    let error = place.host().for_unit("other").attach(&scope, best(), &usual(best())).expect_err("refused");
    assert!(matches!(error, HostError::Refused { .. }), "{error:?}");
    assert_eq!(unit.detach_unit("other").expect("it has nothing"), []);
    let detached = unit.detach_unit("best").expect("detaches");
    assert_eq!(detached[0].restored, Restored::PutBack("reno".into()));

    unit.attach(&scope, best(), &usual(best())).expect("attaches");
    let replaced = by_hand.attach(&scope, hystart, &usual(hystart)).expect("replaces");
    assert_eq!(unit.detach_unit("best").expect("it is not the unit's any more"), []);
    assert_eq!(place.default(), replaced.name);
    by_hand.detach(None).expect("detaches");
    assert_eq!(place.default(), "reno");
    place.assert_clean(&[replaced.name]);
}

#[test]
fn a_unit_whose_record_is_lost_does_not_say_that_nothing_is_attached() {
    let Some(place) = Place::ready() else { return };
    let unit = place.host().for_unit("best");
    let attached = place.within(|| unit.attach(&Scope::System, best(), &usual(best()))).expect("attaches");
    let key = unit.attachments().expect("status")[0].key.clone();
    let (record, copy) =
        (place.records().join(format!("{key}.json")), place.pins().join(&key).join("record"));
    std::fs::remove_file(record).expect("the record");
    std::fs::remove_file(copy).expect("its copy");
    let error = place.within(|| unit.detach_unit("best")).expect_err("it cannot be known");
    assert!(error.to_string().contains("may have been of unit best"), "{error}");
    std::fs::remove_dir_all(place.pins().join(&key)).expect("the pins");
    let error = place.within(|| unit.detach_unit("best")).expect_err("it is in force");
    assert!(error.to_string().contains(&attached.name), "{error}");
    run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_congestion_control=reno", place.netns()));
    assert_eq!(place.within(|| unit.detach_unit("best")).expect("nothing is left"), []);
    assert!(
        !matches!(unit.attachments().expect("status").first(), Some(one) if one.health == Health::InForce)
    );
}
