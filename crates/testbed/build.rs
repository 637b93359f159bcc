//! A fingerprint of everything that decides what a run in real time is given, besides what its scenario says.

fn main() {
    let sources = ["src", "../emulator/src", "../linux/bpf", "../linux/src"];
    rampcc_fingerprint::emit("RAMP_TESTBED_SOURCES", &sources);
}
