//! Compiles the C core into one object: the table of algorithms that `abi` reads.

fn main() {
    println!("cargo::rerun-if-changed=include/ramp");
    println!("cargo::rerun-if-changed=src/shim.c");
    cc::Build::new()
        .file("src/shim.c")
        .include("include")
        .std("c99")
        .opt_level(2)
        .warnings(true)
        .compile("ramp_core");
}
