//! The module's face: two buffers in its memory.
//!
//! The host asks for room with `ramp_room`, writes a question there, and calls `ramp_answer`, which returns the length of the answer;
//! `ramp_text` is where it lies. Both stay until the next call. After a trap `ramp_text` and `ramp_length` hold the panic's message.

#![allow(unsafe_code, reason = "exported names, and memory that the host writes")]

use std::cell::RefCell;
use std::panic;

use crate::Engine;

#[derive(Default)]
struct State {
    engine: Engine,
    question: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    static TEXT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a question of so many bytes: where to write it.
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ramp_room(bytes: usize) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        state.question.clear();
        state.question.resize(bytes, 0);
        state.question.as_mut_ptr()
    })
}

/// Answers the question: the length of the answer, bytes.
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ramp_answer() -> usize {
    panic::set_hook(Box::new(|info| TEXT.with_borrow_mut(|text| *text = info.to_string())));
    let answer = STATE.with_borrow_mut(|state| {
        let question = std::mem::take(&mut state.question);
        state.engine.answer(&question)
    });
    TEXT.with_borrow_mut(|text| {
        *text = answer;
        text.len()
    })
}

/// Where the answer lies.
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ramp_text() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}

/// Its length, bytes.
// SAFETY: no other symbol of the module has this name.
#[unsafe(no_mangle)]
pub extern "C" fn ramp_length() -> usize {
    TEXT.with_borrow(String::len)
}
