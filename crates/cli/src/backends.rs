//! What plays scenarios, as the command knows it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rampcc_backend::Backend;
use rampcc_quic_sim::{Stack, VirtualQuic};
use rampcc_sim::Simulator;
#[cfg(target_os = "linux")]
use rampcc_testbed::{Kernel, Programs, RealQuic};

/// Every backend, the simulator first. A new one is one line more.
pub(crate) static ALL: &[&dyn Backend] = &[
    &Simulator,
    &VirtualQuic(Stack::Noq),
    &VirtualQuic(Stack::Quinn),
    #[cfg(target_os = "linux")]
    &Kernel,
    #[cfg(target_os = "linux")]
    &RealQuic { keep_refused: false },
];

/// What `ramp compare` has besides them: programs, whose rows the command line brings.
static BROUGHT: &[&dyn Backend] = &[
    #[cfg(target_os = "linux")]
    &Programs::NONE,
];

/// Those of [`ALL`] whose transport is QUIC.
static QUIC: &[&dyn Backend] = &[
    &VirtualQuic(Stack::Noq),
    &VirtualQuic(Stack::Quinn),
    #[cfg(target_os = "linux")]
    &RealQuic { keep_refused: false },
];

/// One of [`ALL`], on a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct On(pub(crate) &'static dyn Backend);

pub(crate) fn by_name() -> impl TypedValueParser<Value = On> {
    of(|| ALL.iter().copied())
}

/// All, programs among them.
pub(crate) fn every() -> impl Iterator<Item = &'static dyn Backend> {
    ALL.iter().chain(BROUGHT).copied()
}

/// By its name, programs among them.
pub(crate) fn by_name_or_programs() -> impl TypedValueParser<Value = On> {
    of(every)
}

fn of<B: Iterator<Item = &'static dyn Backend>>(
    all: impl Fn() -> B + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = On> {
    let names = all().map(|backend| PossibleValue::new(backend.name()).help(backend.meaning()));
    PossibleValuesParser::new(names).map(move |name| {
        On(all().find(|backend| backend.name() == name).expect("clap takes only these names"))
    })
}

pub(crate) fn is_brought(backend: &dyn Backend) -> bool {
    BROUGHT.iter().any(|brought| brought.name() == backend.name())
}

pub(crate) fn is_quic(backend: &dyn Backend) -> bool {
    QUIC.iter().any(|quic| quic.name() == backend.name())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rampcc::Traits;

    use super::ALL;

    #[test]
    fn names_are_single_words_and_no_other_algorithms() {
        let mut names = BTreeMap::new();
        for backend in ALL {
            let controls = backend.controls().iter().map(|control| (control.name, Some(control)));
            for (name, control) in controls.chain([(backend.name(), None)]) {
                assert!(name.chars().all(|c| c.is_ascii_lowercase() || "_-".contains(c)), "{name}");
                // A kernel's own BBR is the row of that name.
                let is_its_own = rampcc::algorithm(name).is_none_or(|row| row.traits.has(Traits::OF_BBR));
                // A stack's own controller may be a row of several backends.
                let before = names.insert(name, control);
                assert!(
                    before.is_none_or(|other| other.is_some() && other == control) && is_its_own,
                    "{name}"
                );
            }
            let has = |name| ALL.iter().any(|other| other.name() == name);
            assert!(backend.controls().iter().all(|control| has(control.backend)));
        }
    }
}
