//! Comparisons of start-up algorithms in the browser.
//!
//! A part of ramp, not meant for other programs: any release may change it.
//!
//! An [`Engine`] answers JSON with JSON: which paths and rows there are, which runs a comparison wants, one run, what the runs say so
//! far. Built for `wasm32-unknown-unknown` it is a module without imports, and `boundary` is its face; a page asks several of them,
//! each in a worker of its own (decision record `docs/decisions/0022-the-playground.md`).

mod about;
mod asked;
#[cfg(target_family = "wasm")]
pub mod boundary;
mod engine;

pub use asked::Ask;
pub use engine::Engine;
