//! The measured links that come with the shared data, against the figures published with them.

use std::io::Read as _;
use std::path::PathBuf;

use ramp::{Rate, Time};
use ramp_path::{Capacity, Opportunities, Propagation};

/// The text of a packed file, or `None` where the data is not at hand; in CI that is a failure.
#[expect(clippy::disallowed_methods, reason = "tests look for the data where the environment says")]
fn shared(file: &str) -> Option<String> {
    let root = std::env::var_os("RAMP_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let path = root.join("data").join(file);
    let Ok(packed) = std::fs::read(&path) else {
        assert!(std::env::var_os("CI").is_none(), "{} is needed", path.display());
        eprintln!("not tested: {} is not here; set RAMP_SHARED", path.display());
        return None;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("a packed text");
    Some(text)
}

#[test]
fn capacity_traces_have_their_published_lengths_and_means() {
    for (file, seconds, mbit) in [
        ("mahimahi-cellular/ATT-LTE-driving-2016.down.gz", 120, 4.56),
        ("mahimahi-cellular/TMobile-LTE-short.down.gz", 140, 16.70),
        ("mahimahi-cellular/Verizon-LTE-short.down.gz", 140, 5.03),
        ("mahimahi-cellular/Verizon-EVDO-driving.down.gz", 1062, 0.52),
        ("c2tcp-cellular/downlink-4g-with-cross-subway.pps.gz", 698, 10.17),
        ("leocc-starlink/bw_example.txt.gz", 120, 48.7),
    ] {
        let Some(text) = shared(file) else { return };
        let trace = Opportunities::parse(&text).expect(file);
        let period = trace.period;
        assert!((period.secs_f64() - f64::from(seconds)).abs() <= 1.0, "{file}: {period}");
        let rate = Capacity::Trace(trace).mean_rate(Time::ZERO, period).bits_per_s() as f64 / 1e6;
        assert!((rate - mbit).abs() <= 0.006 * mbit.max(1.0), "{file}: {rate} Mbit/s");
    }
}

#[test]
fn the_starlink_delay_has_its_published_range() {
    let Some(text) = shared("leocc-starlink/delay_example.txt.gz") else { return };
    let Propagation::Trace { values, step, .. } =
        Propagation::parse(&text, Time::from_ms(10)).expect("legal")
    else {
        panic!("not a trace");
    };
    assert_eq!((values.len(), step), (11_999, Time::from_ms(10)));
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    assert_eq!(
        (sorted[0], sorted[6_000], sorted[11_998]),
        (Time::from_ms(7), Time::from_ms(11), Time::from_ms(68))
    );
}

#[test]
fn the_starlink_capacity_varies_from_bin_to_bin() {
    let Some(text) = shared("leocc-starlink/bw_example.txt.gz") else { return };
    let capacity = Capacity::Trace(Opportunities::parse(&text).expect("legal"));
    let rates = capacity.rates(Time::from_secs(120));
    assert!(rates.len() > 1_000 && rates.len() <= 1_200);
    assert_eq!(rates[0].0, Time::ZERO);
    assert!(rates.iter().map(|rate| rate.1).max() > Some(Rate::from_bits_per_s(60_000_000)));
    assert_eq!(capacity.rate_at(Time::from_ms(50)), rates[0].1);
}
