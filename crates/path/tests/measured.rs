//! The measured links in `scenarios/traces`, against the figures next to them.

use std::io::Read as _;
use std::path::Path;

use rampcc::{Rate, Time};
use rampcc_path::{Capacity, Opportunities, Propagation};

/// The text of a packed file.
fn measured(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces").join(file);
    let packed = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed.as_slice()).read_to_string(&mut text).expect("a packed text");
    text
}

#[test]
fn capacity_traces_have_their_published_lengths_and_means() {
    for (file, seconds, mbit) in [("starlink.down.gz", 120, 48.7), ("subway-lte.down.gz", 120, 6.65)] {
        let trace = Opportunities::parse(&measured(file)).expect(file);
        let period = trace.period;
        assert!((period.secs_f64() - f64::from(seconds)).abs() <= 1.0, "{file}: {period}");
        let rate = Capacity::Trace(trace).mean_rate(Time::ZERO, period).bits_per_s() as f64 / 1e6;
        assert!((rate - mbit).abs() <= 0.006 * mbit.max(1.0), "{file}: {rate} Mbit/s");
    }
}

#[test]
fn the_starlink_delay_has_its_published_range() {
    let Propagation::Trace { values, step, .. } =
        Propagation::parse(&measured("starlink.delay.gz"), Time::from_ms(10)).expect("legal")
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
    let capacity = Capacity::Trace(Opportunities::parse(&measured("starlink.down.gz")).expect("legal"));
    let rates = capacity.rates(Time::from_secs(120));
    assert!(rates.len() > 1_000 && rates.len() <= 1_200);
    assert_eq!(rates[0].0, Time::ZERO);
    assert!(rates.iter().map(|rate| rate.1).max() > Some(Rate::from_bits_per_s(60_000_000)));
    assert_eq!(capacity.rate_at(Time::from_ms(50)), rates[0].1);
}
