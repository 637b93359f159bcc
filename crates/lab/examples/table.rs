//! Prints the made-up comparison as the terminal shows it: `cargo run -p rampcc-lab --example table -- 100`.

use std::io::Write;

use rampcc_lab::report::{TextStyle, text};

#[path = "../tests/support/fixture.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let width = std::env::args().nth(1).and_then(|width| width.parse().ok()).unwrap_or(100);
    let comparison = fixture::sample_comparison();
    let shown = text(&comparison, &TextStyle { width, colour: std::env::args().nth(2).is_some() });
    std::io::stdout().write_all(shown.as_bytes())
}
