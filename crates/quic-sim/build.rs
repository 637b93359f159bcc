//! A fingerprint of everything that decides what a run over QUIC does, besides what its scenario says.

fn main() {
    let sources = ["src", "../avoidance/src", "../quic/src", "../sim/src"];
    rampcc_fingerprint::emit("RAMP_QUIC_SOURCES", &sources);
}
