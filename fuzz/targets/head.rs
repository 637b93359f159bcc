//! What a client of the exporter sends: an answer once the head is whole or too long, and never another one later.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rampcc_host::metrics::answered;

/// The exporter's limit for a head.
const HEAD_BYTES: usize = 8 << 10;

fuzz_target!(|bytes: &[u8]| {
    let whole = answered(bytes);
    assert!(whole.is_some() || bytes.len() < HEAD_BYTES, "nobody is waited for beyond the limit");
    if let Some(answer) = &whole {
        let text = std::str::from_utf8(answer).expect("an answer is text");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head ends");
        assert!(head.starts_with("HTTP/1.1 ") && head.ends_with("Connection: close"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
        assert!(body.is_empty() || length.parse() == Ok(body.len()), "{head}");
        // What a client puts in ends up in the body alone.
        let fields = head.lines().skip(1).map(|line| line.split_once(": ").expect("a field").0);
        let known = ["Date", "Content-Type", "Content-Length", "Allow", "Connection"];
        assert!(fields.into_iter().all(|field| known.contains(&field)), "{head}");
    }
    // It comes in pieces: who is not answered after one may be after the next, and who is keeps the answer.
    for end in [bytes.len() / 4, bytes.len() / 2, bytes.len().saturating_sub(1)] {
        if let Some(early) = answered(&bytes[..end]) {
            let status = |answer: &[u8]| answer[..12].to_vec();
            assert_eq!(whole.as_deref().map(status), Some(status(&early)), "the rest changed the answer");
        }
    }
});
