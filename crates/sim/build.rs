//! A fingerprint of everything that decides what a simulated run does, besides what its scenario says.

fn main() {
    rampcc_fingerprint::emit("RAMP_SIM_SOURCES", &["src", "../avoidance/src", "../tcp/src"]);
}
