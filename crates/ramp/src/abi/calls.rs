//! The registry of C and its functions.

use std::ffi::{CStr, c_char, c_void};

use super::{Ack, Config, Decision, Event, Traits};
use crate::Algorithm;

#[repr(C)]
struct ParameterRow {
    name: *const c_char,
    unit: *const c_char,
    initial: u64,
    minimum: u64,
    maximum: u64,
    source: *const c_char,
    meaning: *const c_char,
}

#[repr(C)]
struct AlgorithmRow {
    id: *const c_char,
    name: *const c_char,
    source: *const c_char,
    idea: *const c_char,
    traits: u32,
    state_bytes: usize,
    parameters: *const ParameterRow,
    parameter_count: usize,
    init: unsafe extern "C" fn(*mut c_void, *const Config, *mut Decision),
    on_ack: unsafe extern "C" fn(*mut c_void, *const Ack, *mut Decision),
    on_event: unsafe extern "C" fn(*mut c_void, *const Event, *mut Decision),
}

unsafe extern "C" {
    static ramp_algorithm_rows: AlgorithmRow;
    static ramp_algorithm_count: usize;
}

/// The three functions of one algorithm and the size of its state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    state_words: usize,
    init: unsafe extern "C" fn(*mut c_void, *const Config, *mut Decision),
    on_ack: unsafe extern "C" fn(*mut c_void, *const Ack, *mut Decision),
    on_event: unsafe extern "C" fn(*mut c_void, *const Event, *mut Decision),
}

/// One algorithm's state: plain integers, zeroed, aligned for `u64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State(Box<[u64]>);

impl State {
    pub(crate) fn words(&self) -> &[u64] {
        &self.0
    }
}

impl Functions {
    pub(crate) fn state_bytes(&self) -> usize {
        self.state_words * 8
    }

    /// As every connection's begins: zeroed.
    pub(crate) fn state(&self) -> State {
        State(vec![0; self.state_words].into_boxed_slice())
    }

    pub(crate) fn init(&self, state: &mut State, config: &Config, decision: &mut Decision) {
        // SAFETY: the state is as large and as aligned as the C struct, and all pointers outlive the call.
        unsafe { (self.init)(state.0.as_mut_ptr().cast(), config, decision) };
    }

    #[inline]
    pub(crate) fn on_ack(&self, state: &mut State, ack: &Ack, decision: &mut Decision) {
        // SAFETY: `state` was made by `init` of the same algorithm; all pointers outlive the call.
        unsafe { (self.on_ack)(state.0.as_mut_ptr().cast(), ack, decision) }
    }

    pub(crate) fn on_event(&self, state: &mut State, event: &Event, decision: &mut Decision) {
        // SAFETY: as for `on_ack`.
        unsafe { (self.on_event)(state.0.as_mut_ptr().cast(), event, decision) }
    }
}

/// Functions of an algorithm that another process runs. Calling one here would be a bug of the caller's, which ends the process.
impl Functions {
    pub(crate) fn of_another_process(state_words: usize) -> Self {
        extern "C" fn init(_: *mut c_void, _: *const Config, _: *mut Decision) {
            unreachable!("another process runs this algorithm");
        }
        extern "C" fn on_ack(_: *mut c_void, _: *const Ack, _: *mut Decision) {
            unreachable!("another process runs this algorithm");
        }
        extern "C" fn on_event(_: *mut c_void, _: *const Event, _: *mut Decision) {
            unreachable!("another process runs this algorithm");
        }
        Self { state_words, init, on_ack, on_event }
    }
}

/// A row of the C registry, its text made Rust's.
pub(crate) struct Row {
    pub(crate) text: [&'static str; 4],
    pub(crate) traits: Traits,
    pub(crate) functions: Functions,
    pub(crate) parameters: Vec<([&'static str; 4], [u64; 3])>,
}

pub(crate) fn rows() -> Vec<Row> {
    // SAFETY: `ramp_algorithm_rows` is an array of `ramp_algorithm_count` constant rows.
    unsafe { rows_at(&raw const ramp_algorithm_rows, ramp_algorithm_count) }
}

/// Algorithms outside the registry: the rows of `src/shim.c` compiled with another `ramp/registry.h` before ours on the
/// include path, say into a shared object. For experiments and tests.
///
/// # Safety
///
/// `rows` is `ramp_algorithm_rows` and `count` is `ramp_algorithm_count` of this version's `shim.c`, and both stay where
/// they are for good.
pub unsafe fn foreign_algorithms(rows: *const c_void, count: usize) -> Vec<Algorithm> {
    // SAFETY: as the caller has promised.
    unsafe { rows_at(rows.cast(), count) }.into_iter().map(Algorithm::from_row).collect()
}

/// # Safety
///
/// As for [`foreign_algorithms`].
unsafe fn rows_at(rows: *const AlgorithmRow, count: usize) -> Vec<Row> {
    // SAFETY: as the caller has promised.
    let rows = unsafe { std::slice::from_raw_parts(rows, count) };
    rows.iter()
        .map(|row| {
            // SAFETY: `parameters` points at `parameter_count` constant rows.
            let parameters = unsafe { std::slice::from_raw_parts(row.parameters, row.parameter_count) };
            Row {
                text: [text(row.id), text(row.name), text(row.source), text(row.idea)],
                traits: Traits::of_bits(row.traits),
                functions: Functions {
                    state_words: row.state_bytes.div_ceil(8),
                    init: row.init,
                    on_ack: row.on_ack,
                    on_event: row.on_event,
                },
                parameters: parameters
                    .iter()
                    .map(|p| {
                        (
                            [text(p.name), text(p.unit), text(p.source), text(p.meaning)],
                            [p.initial, p.minimum, p.maximum],
                        )
                    })
                    .collect(),
            }
        })
        .collect()
}

fn text(pointer: *const c_char) -> &'static str {
    // SAFETY: every pointer in the registry is a string literal.
    unsafe { CStr::from_ptr(pointer) }.to_str().expect("the registry is ASCII")
}
