//! Whatever a stack reports, a connection keeps its window in bounds and never panics.

mod storm;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn no_order_of_calls_breaks_a_connection(bytes in prop::collection::vec(any::<u8>(), 0..1_500)) {
        let connection = storm::play(&bytes);
        prop_assert!(connection.counts().undone <= connection.counts().reductions);
    }
}

/// The storm is one that reaches the algorithms, and not a stream of calls that nothing comes of.
#[test]
fn a_storm_reaches_the_algorithms() {
    // A generator of Lehmer's; what it gives does not matter, as long as it is the same each time.
    let mut state = 1_u64;
    let mut bytes = || {
        state = state * 48_271 % 0x7fff_ffff;
        (state >> 8) as u8
    };
    let storms: Vec<Vec<u8>> = (0..2_000).map(|_| (0..1_000).map(|_| bytes()).collect()).collect();
    let played: Vec<_> = storms.iter().map(|storm| storm::play(storm)).collect();
    let share = |of: fn(&rampcc_quic::Connection) -> bool| played.iter().filter(|one| of(one)).count();
    assert!(share(|one| one.counts().acks > 5) > 1_000);
    assert!(share(|one| one.exit().is_some()) > 1_000);
    assert!(share(|one| one.counts().undone > 0) > 200);
    assert!(share(|one| one.counts().unmatched > 0) > 1_000);
}
