//! Compiles every `bpf/*.bpf.c` of this crate into `OUT_DIR/<name>.bpf.o`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=bpf/linux");
    println!("cargo::rerun-if-changed=include/ramp");
    println!("cargo::rerun-if-env-changed=CLANG");
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let sources = fs::read_dir("bpf").expect("the crate has a directory bpf");
    for source in sources.map(|entry| entry.expect("bpf is readable").path()) {
        let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(stem) = name.strip_suffix(".bpf.c") {
            compile(&source, &output.join(format!("{stem}.bpf.o")));
        }
    }
}

fn compile(source: &Path, object: &Path) {
    let clang = env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let architecture = env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let system = format!("/usr/include/{architecture}-linux-gnu");
    let mut command = Command::new(&clang);
    // mcpu=v3: atomics that return a value (Linux 5.12).
    command.args(["--target=bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Wextra", "-Werror"]);
    command.args(["-Wno-unused-parameter", "-DRAMP_BPF", "-I", "include", "-I", "bpf/linux"]);
    command.args(["-idirafter", &system, "-c"]).arg(source).arg("-o").arg(object);
    let result = command.output().unwrap_or_else(|error| {
        panic!(
            "{clang}: {error}. Building rampcc-host needs clang and libbpf's headers (Debian: clang libbpf-dev)"
        )
    });
    assert!(
        result.status.success(),
        "{command:?}\n{}\nIf headers are missing: Debian's libbpf-dev and linux-libc-dev hold them",
        String::from_utf8_lossy(&result.stderr)
    );
}
