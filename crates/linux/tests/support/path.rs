//! Paths with a rate, a round trip and a queue: the emulator's, one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rampcc::Time;
use rampcc_emulator::{Download, Downloaded, Emulator, ErrorReport, Opener, Options, Running};
use rampcc_scenario::Scenario;

use super::{Open, small};

/// Two emulators would compete for two cores.
static ALONE: Mutex<()> = Mutex::new(());

/// A path from a sender to a receiver, each in a namespace of its own.
///
/// All packets pass through one thread, so that none overtakes another, whatever else the machine does; its round
/// trips are long compared with any lateness of that thread.
pub(crate) struct Path {
    running: Running,
    // Given back after the emulator has stopped.
    _alone: MutexGuard<'static, ()>,
}

impl Path {
    /// `path` and what follows it in a scenario file.
    pub(crate) fn new(text: &str) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let text = format!("size = '1 MB'\n[path]\n{text}");
        let scenario = Scenario::parse("path", &text, None).expect("a scenario");
        let mut options = Options::default();
        if small() {
            options.spin = Time::ZERO; // in virtual time a sleep is exact, and spinning work
        }
        let running = Emulator::start(&scenario, 1, &options).expect("the emulator starts");
        Self { running, _alone: alone }
    }

    /// Sends `bytes` under this congestion control to the last one.
    pub(crate) fn transfer(&self, control: &str, open: Open, bytes: u64) -> Downloaded {
        let download = Download {
            size_bytes: bytes,
            congestion_control: Some(control.to_owned()),
            opener: match open {
                Open::Active => Opener::Sender,
                Open::Passive => Opener::Receiver,
            },
            ..Download::default()
        };
        let result = self.running.download(&download, |_| {}).expect("the transfer runs");
        assert_eq!((result.received_bytes, result.congestion_control.as_str()), (bytes, control));
        result
    }

    /// For connections of another kind.
    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    pub(crate) fn stop(self) -> ErrorReport {
        self.running.stop().expect("the emulator ran")
    }
}
