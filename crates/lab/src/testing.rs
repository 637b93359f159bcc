//! What the tests share.

/// Assert that two values agree within a relative (below 1: absolute) error.
#[track_caller]
pub(crate) fn close(found: f64, expected: f64, error: f64) {
    assert!((found - expected).abs() <= error * expected.abs().max(1.0), "{found} is not {expected}");
}
