//! The texts of the scenarios and measured links that come with ramp.

include!(concat!(env!("OUT_DIR"), "/built_in.rs"));

/// The TOML text of a scenario.
pub(crate) fn scenario(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// Names of all scenarios, in alphabetical order.
pub(crate) fn scenarios() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A measured link, packed.
pub(crate) fn trace(name: &str) -> Option<&'static [u8]> {
    TRACES.iter().find(|(n, _)| *n == name).map(|(_, packed)| *packed)
}

/// Names of all measured links.
pub(crate) fn traces() -> impl Iterator<Item = &'static str> {
    TRACES.iter().map(|(name, _)| *name)
}
