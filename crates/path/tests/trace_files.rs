//! Reading measured traces: what is accepted, what is refused and where.

use proptest::prelude::*;
use rampcc::{Rate, Time};
use rampcc_path::{Capacity, Opportunities, Propagation, TraceError};

fn capacity(text: &str) -> Result<Opportunities, TraceError> {
    Opportunities::parse(text)
}

fn delays(text: &str) -> Result<Vec<u64>, TraceError> {
    match Propagation::parse(text, Time::from_ms(10))? {
        Propagation::Trace { values, step, offset } => {
            assert_eq!((step, offset), (Time::from_ms(10), Time::ZERO));
            Ok(values.iter().map(|value| value.ns()).collect())
        }
        other => panic!("not a trace: {other:?}"),
    }
}

#[test]
fn a_capacity_trace_is_its_timestamps() {
    let trace = capacity("\u{feff}# made by hand\n0\r\n 5 \n5\n\n20\n").expect("legal");
    assert_eq!(trace.at.iter().map(|at| at.us()).collect::<Vec<_>>(), [0, 5_000, 5_000, 20_000]);
    assert_eq!((trace.period, trace.bytes, trace.offset), (Time::from_ms(20), 1500, Time::ZERO));
    assert_eq!(trace.to_text(), "0\n5\n5\n20\n");
}

#[test]
fn capacity_errors_name_line_and_value() {
    let message = |text: &str| capacity(text).expect_err("refused").to_string();
    assert_eq!(message("1\n2\nx3\n"), "line 3: found `x3`, expected a timestamp in whole milliseconds");
    assert_eq!(message("1\n-2\n"), "line 2: found `-2`, expected a timestamp in whole milliseconds");
    assert_eq!(message("1.5"), "line 1: found `1.5`, expected a timestamp in whole milliseconds");
    assert_eq!(
        message("1\n\n7\n5"),
        "line 4: found 5 ms after 7 ms, expected timestamps that do not go back"
    );
    assert_eq!(
        message("10000000001"),
        "line 1: 10000000001 is too large, allowed are timestamps up to 10000000000 ms"
    );
    assert!(message(&"9".repeat(1_000_000)).len() < 150);
    assert_eq!(
        message("\0\u{1b}[31m"),
        "line 1: found `\u{fffd}\u{fffd}[31m`, expected a timestamp in whole milliseconds"
    );
    assert_eq!(capacity("# nothing\n"), Err(TraceError::Empty));
    assert_eq!(capacity(""), Err(TraceError::Empty));
    assert_eq!(capacity("0\n0\n"), Err(TraceError::NoLength));
}

#[test]
fn delays_are_exact_to_the_nanosecond() {
    let found = delays("12\n7.5\n0\n0.000001\n27.123456789\n86400000\n");
    assert_eq!(found, Ok(vec![12_000_000, 7_500_000, 0, 1, 27_123_456, 86_400_000_000_000]));
}

#[test]
fn delay_errors_name_line_and_value() {
    for (text, line) in
        [("1\n1e3", 2), ("nan", 1), ("-1", 1), ("1.", 1), (".5", 1), ("1\n\n1,5", 3), ("1.2.3", 1)]
    {
        let error = delays(text).expect_err(text);
        assert!(matches!(error, TraceError::Value { line: found, .. } if found == line), "{text}: {error}");
    }
    assert!(matches!(delays("86400000.1"), Err(TraceError::TooLarge { line: 1, .. })));
    assert!(matches!(delays(&"9".repeat(30)), Err(TraceError::TooLarge { line: 1, .. })));
    assert_eq!(delays("\n"), Err(TraceError::Empty));
    assert_eq!(Propagation::parse("1", Time::ZERO), Err(TraceError::NoStep));
}

#[test]
fn ten_million_lines_are_read() {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(90_000_000);
    for i in 0..10_000_000u32 {
        let _ = writeln!(text, "{}", i / 4);
    }
    let trace = capacity(&text).expect("legal");
    assert_eq!(trace.at.len(), 10_000_000);
    let period = trace.period;
    let rate = Capacity::Trace(trace).mean_rate(Time::ZERO, period);
    assert_eq!(
        rate,
        Rate::from_bits_per_s(9_999_996 * 12_000 * 1_000 / 2_499_999),
        "four opportunities a millisecond"
    );
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*|[0-9\\n. #-]*") {
        let _ = capacity(&text);
        let _ = delays(&text);
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = capacity(&text);
        let _ = delays(&text);
    }

    #[test]
    fn what_is_written_is_read(mut ms in proptest::collection::vec(0u64..100_000, 1..200), crlf: bool) {
        ms.sort_unstable();
        prop_assume!(ms.last() > Some(&0));
        let end = if crlf { "\r\n" } else { "\n" };
        let text = ms.iter().map(u64::to_string).collect::<Vec<_>>().join(end) + end;
        let trace = capacity(&text).expect("legal");
        prop_assert!(trace.at.iter().map(|at| at.us() / 1_000).eq(ms.iter().copied()));
        prop_assert_eq!(capacity(&trace.to_text()), Ok(trace));
    }

    #[test]
    fn one_bad_line_is_found(good in 0usize..50, bad in "[a-z]{1,5}|-[0-9]|[0-9] [0-9]") {
        let text = "7\n".repeat(good) + &bad + "\n8\n";
        let error = capacity(&text).expect_err("refused");
        prop_assert!(matches!(error, TraceError::Value { line, .. } if line == good + 1), "{}", error);
    }
}
