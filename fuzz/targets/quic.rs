//! A QUIC stack gone mad: whatever it reports, in any order, no connection's window leaves its bounds, and nothing panics.
//!
//! The bytes are those of the property test's storms.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/quic/tests/storm/mod.rs"]
mod storm;

/// Longer storms only take longer.
const BYTES: usize = 4_096;

fuzz_target!(|bytes: &[u8]| {
    let connection = storm::play(&bytes[..bytes.len().min(BYTES)]);
    assert!(connection.counts().undone <= connection.counts().reductions);
});
