//! Algorithms outside the registry: one header and one row each (`ramp/`), compiled when a test asks for them.
#![allow(dead_code, reason = "each test uses its own part")]
#![expect(unsafe_code, reason = "the algorithms come from a shared object")]

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use libloading::Library;
use rampcc::{Algorithm, Hint, HintSource, PARAMETERS_MAX};

fn core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ramp")
}

/// Compiles `source` with the scratch registry in the place of ramp's.
fn compile(compiler: &str, source: &Path, options: &[&str], output: &Path) {
    let result = Command::new(compiler)
        .arg("-I")
        .arg(core().join("tests/scratch"))
        .arg("-I")
        .arg(core().join("include"))
        .args(options)
        .arg(source)
        .arg("-o")
        .arg(output)
        .output()
        .expect("the compiler runs: ramp was built with it");
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
}

pub(crate) fn careful() -> &'static Algorithm {
    row("careful")
}

/// What says only what its parameters say; those named here are not as in its table.
pub(crate) fn forms(said: &[(&str, u64)]) -> (&'static Algorithm, [u64; PARAMETERS_MAX]) {
    let forms = row("forms");
    let mut values = forms.default_parameters();
    for (name, value) in said {
        let place = forms.parameters.iter().position(|p| p.name == *name).expect("a parameter");
        values[place] = *value;
    }
    (forms, values)
}

/// A row of the scratch registry, compiled once in this process.
fn row(id: &str) -> &'static Algorithm {
    static ROWS: OnceLock<Vec<Algorithm>> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        let output =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scratch-{}.so", std::process::id()));
        let options = ["-shared", "-fPIC", "-O2", "-std=c99", "-Wall", "-Wextra", "-Werror"];
        compile("cc", &core().join("src/shim.c"), &options, &output);
        // SAFETY: the object has nothing that runs when it is loaded.
        let library: &'static Library =
            Box::leak(Box::new(unsafe { Library::new(&output) }.expect("it loads")));
        std::fs::remove_file(&output).expect("it is ours");
        // SAFETY: both are what `shim.c` defines under these names, and the library stays.
        unsafe {
            let rows = library.get::<*const c_void>(b"ramp_algorithm_rows\0").expect("the table");
            let count = library.get::<*const usize>(b"ramp_algorithm_count\0").expect("its length");
            rampcc::foreign_algorithms(*rows, **count)
        }
    });
    rows.iter().find(|row| row.id == id).expect("a row of the scratch registry")
}

/// One of them for the kernel.
pub(crate) fn object(algorithm: &Algorithm) -> Vec<u8> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let output =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("scratch-{}-{number}.bpf.o", std::process::id()));
    let system = format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let (id, traits) =
        (format!("-DALGORITHM={}", algorithm.id), format!("-DTRAITS={}u", algorithm.traits.bits()));
    let options = [
        "--target=bpf",
        "-mcpu=v3",
        "-g",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-parameter",
        "-DRAMP_BPF",
        "-idirafter",
        &system,
        &id,
        &traits,
        "-c",
    ];
    compile("clang", &core().join("../linux/bpf/startup.bpf.c"), &options, &output);
    let object = std::fs::read(&output).expect("clang wrote it");
    std::fs::remove_file(&output).expect("it is ours");
    object
}

/// What an earlier connection has seen.
pub(crate) fn remembered(window_bytes: u64, rtt_us: u32) -> Hint {
    let mut hint = Hint::of(HintSource::History);
    (hint.window_bytes, hint.rtt_us) = (window_bytes, rtt_us);
    hint
}
