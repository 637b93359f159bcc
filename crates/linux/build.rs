//! Compiles `bpf/startup.bpf.c` once for each row of the registry whose needs Linux meets.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

#[expect(clippy::disallowed_methods, reason = "cargo speaks to a build script through its environment")]
fn main() {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-changed=include/ramp");
    println!("cargo::rerun-if-env-changed=CLANG");
    let clang = Clang {
        program: env::var("CLANG").unwrap_or_else(|_| "clang".into()),
        architecture: env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it"),
        output: PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")),
    };
    let mut table = String::from(
        "/// Identifier and BPF object of each algorithm.\npub(crate) const OBJECTS: &[(&str, &[u8])] = &[\n",
    );
    for algorithm in rampcc::algorithms().iter().filter(|a| a.runs_without(rampcc::LINUX_LACKS)) {
        let id = algorithm.id;
        let object = clang.compile(algorithm);
        writeln!(table, "    ({id:?}, include_bytes!({:?})),", object.to_string_lossy())
            .expect("writing to a string");
    }
    table.push_str("];\n");
    let cubic = clang.compile_source("bpf/cubic.bpf.c", "cubic", &[]);
    writeln!(
        table,
        "/// CUBIC without HyStart.\npub(crate) const CUBIC: &[u8] = include_bytes!({:?});",
        cubic.to_string_lossy()
    )
    .expect("writing to a string");
    let starts = clang.compile_source("bpf/starts.bpf.c", "starts", &[]);
    writeln!(
        table,
        "/// The start-ups of the kernel's own congestion controls.\npub(crate) const STARTS: &[u8] = include_bytes!({:?});",
        starts.to_string_lossy()
    )
    .expect("writing to a string");
    fs::write(clang.output.join("objects.rs"), table).expect("OUT_DIR is writable");
}

struct Clang {
    program: String,
    architecture: String,
    output: PathBuf,
}

impl Clang {
    fn compile(&self, algorithm: &rampcc::Algorithm) -> PathBuf {
        let id = algorithm.id;
        assert!(id.len() <= 10, "{id}: the kernel's names hold 15 characters, ramp_ among them");
        let options = [format!("-DALGORITHM={id}"), format!("-DTRAITS={}u", algorithm.traits.bits())];
        self.compile_source("bpf/startup.bpf.c", id, &options.each_ref().map(String::as_str))
    }

    fn compile_source(&self, source: &str, name: &str, options: &[&str]) -> PathBuf {
        let object = self.output.join(format!("{name}.bpf.o"));
        let system = format!("/usr/include/{}-linux-gnu", self.architecture);
        // mcpu=v3: atomics that return a value (Linux 5.12).
        let arguments = [
            "--target=bpf",
            "-mcpu=v3",
            "-g",
            // The same object wherever it is built.
            "-fdebug-compilation-dir=.",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-DRAMP_BPF",
            "-I",
            "include",
            "-idirafter",
            &system,
            "-c",
        ];
        let mut command = Command::new(&self.program);
        command.args(arguments).args(options).arg(source).arg("-o").arg(&object);
        let result = command.output().unwrap_or_else(|error| {
            panic!("{}: {error}. Building rampcc-linux needs clang and libbpf's headers (Debian: clang libbpf-dev)", self.program)
        });
        assert!(
            result.status.success(),
            "{command:?}\n{}\nIf headers are missing: Debian's libbpf-dev and linux-libc-dev hold them",
            String::from_utf8_lossy(&result.stderr)
        );
        object
    }
}
