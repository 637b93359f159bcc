//! Where real time decides what a test sees, a machine that stalls can spoil one attempt. A fault in the code spoils
//! each of them.

const ATTEMPTS: usize = 3;

/// Tries until an attempt is as it should be, but not often; what panics, fails at once.
///
/// # Panics
///
/// With what each attempt has found, if none was as it should be.
pub(crate) fn judged(mut attempt: impl FnMut() -> Result<(), String>) {
    let mut found = Vec::new();
    for _ in 0..ATTEMPTS {
        match attempt() {
            Ok(()) => return,
            Err(difference) => {
                eprintln!("not as it should be: {difference}");
                found.push(difference);
            }
        }
    }
    panic!("in no attempt as it should be: {found:#?}");
}

/// One judgement of an attempt of [`judged`].
pub(crate) fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}
