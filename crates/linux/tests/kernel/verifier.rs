//! The verifier of the running kernel takes every row, and says of all at once which it does not.

use rampcc::Algorithm;
use rampcc_linux::{Options, load};

use super::{carried, ready, settings, small};

#[test]
fn the_verifier_takes_every_row() {
    if !ready() {
        return;
    }
    let mut refused = Vec::new();
    // An emulated machine takes seconds to load a row, and its test of decisions loads each with all records, of which
    // fewer are a part.
    for algorithm in carried().filter(|algorithm| !small() || otherwise_elsewhere(algorithm)) {
        let mut options = Options::new(algorithm);
        options.name = Some(format!("rv_{}", algorithm.id));
        if let Err(error) = load(algorithm, &options) {
            let log = error.log();
            let end = log.lines().rev().take(6).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>();
            refused.push(format!("{}: {error}\n{}", algorithm.id, end.join("\n")));
        }
    }
    assert!(refused.is_empty(), "{} rows:\n{}", refused.len(), refused.join("\n\n"));
}

/// Whether other tests load a row with other settings than its own.
fn otherwise_elsewhere(algorithm: &Algorithm) -> bool {
    let (own, elsewhere) = (Options::new(algorithm), settings(algorithm));
    (own.parameters, own.hint) != (elsewhere.parameters, elsewhere.hint)
}
