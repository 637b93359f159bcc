//! The verifier of the running kernel takes every row, and says of all at once which it does not.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;

use libbpf_rs::{Iter, MapCore, ObjectBuilder};
use rampcc::{Algorithm, algorithm};
use rampcc_linux::{Options, bpf_object, load};

use super::{carried, ready, settings, small};

#[test]
fn the_verifier_takes_every_row() {
    let Some(()) = ready() else { return };
    let mut refused = Vec::new();
    // An emulated machine takes seconds to load a row, and its test of decisions loads each with all records, of which
    // fewer are a part.
    for algorithm in carried().filter(|algorithm| !small() || otherwise_elsewhere(algorithm)) {
        let mut options = Options::new(algorithm);
        options.name = Some(format!("rv_{}", algorithm.id));
        if let Err(error) = load(algorithm, &options) {
            let log = error.log();
            let end = log.lines().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>();
            refused.push(format!("{}: {error}\n{}", algorithm.id, end.join("\n")));
        }
    }
    assert!(refused.is_empty(), "{} rows:\n{}", refused.len(), refused.join("\n\n"));
}

/// Whether other tests load a row with other settings than its own.
fn otherwise_elsewhere(algorithm: &Algorithm) -> bool {
    let (own, elsewhere) = (Options::new(algorithm), settings(algorithm));
    (own.parameters, own.hint) != (elsewhere.parameters, elsewhere.hint)
}

#[test]
fn connections_of_one_network_namespace_are_listed_where_others_may_not_be() {
    let Some(()) = ready() else { return };
    let row = algorithm("slow_start").expect("a row");
    let mut object =
        ObjectBuilder::default().open_memory(bpf_object(row.id).expect("compiled")).expect("an object");
    for mut program in object.progs_mut() {
        program.set_autoload(program.name() != OsStr::new("startup_table"));
    }
    // Linux 6.1 knows no links; nothing is registered here.
    let mut maps = object.maps_mut();
    maps.find(|map| map.name() == OsStr::new("startup"))
        .expect("the operations")
        .set_map_flags(0)
        .expect("set");
    drop(maps);
    let object = object.load().expect("the verifier takes it");
    let flows = object.maps().find(|map| map.name() == OsStr::new("flows")).expect("the storage");
    let table = object.progs_mut().find(|program| program.name() == OsStr::new("startup_table_here"));
    let link = table.expect("the iterator").attach_iter(flows.as_fd()).expect("attached");
    let mut rows = Vec::new();
    Iter::new(&link).expect("opened").read_to_end(&mut rows).expect("read");
    assert!(rows.is_empty(), "a connection that nobody steers");
}
