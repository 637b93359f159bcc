//! Prints the made-up comparison as JSON: `cargo run -p rampcc-lab --example fixture > comparison.json`.

use std::io::Write;

#[path = "../tests/support/fixture.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let comparison = fixture::sample_comparison();
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &comparison)?;
    out.write_all(b"\n")
}
