//! What other processes send: the blocks of a candidate's process, what one is asked, and a worker's paths and tasks.
//!
//! The first byte says what the rest is: `p` a path as JSON, `t` a task as JSON, `a` what a process is asked, else what it says.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rampcc_experiment::{Parcel, Received, Task};
use rampcc_league::said_again;
use rampcc_scenario::Scenario;
use rampcc_sim::Simulator;

/// What a task may be for.
static PATH: LazyLock<Received> = LazyLock::new(|| {
    let text = "size = '200 kB'\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
    let scenario = Scenario::parse("short", text, None).expect("a scenario");
    let parcel = Parcel::new(&scenario).expect("it names no file");
    Received::read(&serde_json::to_string(&parcel).expect("plain data")).expect("what is written can be read")
});

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    match kind {
        b'p' => path(&String::from_utf8_lossy(rest)),
        b't' => task(&String::from_utf8_lossy(rest)),
        kind => {
            let asked = *kind == b'a';
            if let Ok(first) = said_again(rest, asked) {
                let second = said_again(&first, asked).expect("what is written can be read");
                assert_eq!(first, second);
            }
        }
    }
});

/// It is a scenario with the files that it names, and can be sent on.
fn path(text: &str) {
    let Ok(received) = Received::read(text) else { return };
    let parcel = Parcel::new(&received.scenario).expect("its files came with it");
    let again = serde_json::to_string(&parcel).expect("plain data");
    assert_eq!(Received::read(&again).expect("what is written can be read").digest, received.digest);
}

/// It is another run than can be played here, or the very one.
fn task(text: &str) {
    let Ok(task) = serde_json::from_str::<Task>(text) else { return };
    let again = serde_json::to_string(&task).expect("plain data");
    assert_eq!(serde_json::from_str::<Task>(&again).expect("what is written can be read"), task);
    let Ok(row) = task.row() else { return };
    match task.run(&PATH, &row, &Simulator) {
        Err(error) => assert!(error.is_input() && !error.to_string().is_empty()),
        Ok(run) => assert!(!run.to_string().is_empty()),
    }
}
