//! Some kernels leave out callbacks of congestion controls, and tests that count them then try again.
//!
//! A virtual machine's 6.18 under load skips all calls of one callback on one processor for some milliseconds, a few
//! in ten thousand; nothing counts them. An algorithm that never counts what a test is about fails each attempt.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const ATTEMPTS: usize = 3;

/// What was missed.
struct LeftOut(String);

/// Tries until nothing was left out that matters to this test, but not often.
pub(crate) fn repeated<T>(mut attempt: impl FnMut() -> T) -> T {
    let mut missed = Vec::new();
    for _ in 0..ATTEMPTS {
        let payload = match catch_unwind(AssertUnwindSafe(&mut attempt)) {
            Ok(result) => return result,
            Err(payload) => payload,
        };
        match payload.downcast::<LeftOut>() {
            Ok(left_out) => {
                eprintln!("left out by the kernel, it seems: {}", left_out.0);
                missed.push(left_out.0);
            }
            Err(failure) => resume_unwind(failure),
        }
    }
    panic!("missed each time: {missed:#?}");
}

/// Ends this attempt of [`repeated`] where something has not happened that one callback left out would prevent.
pub(crate) fn complete(happened: bool, found: impl std::fmt::Debug) {
    if !happened {
        resume_unwind(Box::new(LeftOut(format!("{found:?}"))));
    }
}
