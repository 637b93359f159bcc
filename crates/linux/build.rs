//! Compiles `bpf/startup.bpf.c` once for each row of the registry.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The registry as a list of ids, one a line.
const ROWS: &str = "#include <ramp/registry.h>\n\
                    #define RAMP_ROW(id, NAME, name, source, idea) \\\n\
                    ramp-row id\n\
                    RAMP_ALGORITHMS(RAMP_ROW)\n";

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
    for id in clang.ids() {
        let object = clang.compile(&id);
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
    fs::write(clang.output.join("objects.rs"), table).expect("OUT_DIR is writable");
}

/// Whether an algorithm's header sets a pacing rate.
fn paces(id: &str) -> bool {
    let header = format!("include/ramp/{id}.h");
    let text = fs::read_to_string(&header).unwrap_or_else(|error| panic!("{header}: {error}"));
    text.contains("pacing_bytes_per_s = ")
}

struct Clang {
    program: String,
    architecture: String,
    output: PathBuf,
}

impl Clang {
    fn ids(&self) -> Vec<String> {
        let source = self.output.join("rows.c");
        fs::write(&source, ROWS).expect("OUT_DIR is writable");
        // The types come from hosted C here: only the names of the rows are wanted.
        let text = self.run(&["-E", "-P", "-I", "include"], &source, None);
        let words: Vec<_> = text.split_whitespace().collect();
        let ids: Vec<_> =
            words.windows(2).filter(|pair| pair[0] == "ramp-row").map(|pair| pair[1].to_owned()).collect();
        assert!(!ids.is_empty(), "include/ramp/registry.h has no rows");
        ids
    }

    fn compile(&self, id: &str) -> PathBuf {
        assert!(id.len() <= 10, "{id}: the kernel's names hold 15 characters, ramp_ among them");
        let algorithm = format!("-DALGORITHM={id}");
        let mut options = vec![algorithm.as_str()];
        if paces(id) {
            options.push("-DRAMP_PACES");
        }
        self.compile_source("bpf/startup.bpf.c", id, &options)
    }

    fn compile_source(&self, source: &str, name: &str, options: &[&str]) -> PathBuf {
        let object = self.output.join(format!("{name}.bpf.o"));
        let system = format!("/usr/include/{}-linux-gnu", self.architecture);
        // mcpu=v3: atomics that return a value (Linux 5.12).
        let arguments = [
            "--target=bpf",
            "-mcpu=v3",
            "-g",
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
        self.run(&[&arguments[..], options].concat(), Path::new(source), Some(&object));
        object
    }

    /// Its standard output.
    fn run(&self, arguments: &[&str], source: &Path, object: Option<&Path>) -> String {
        let mut command = Command::new(&self.program);
        command.args(arguments).arg(source);
        if let Some(object) = object {
            command.arg("-o").arg(object);
        }
        let result = command.output().unwrap_or_else(|error| {
            panic!("{}: {error}. Building ramp-linux needs clang and libbpf's headers (Debian: clang libbpf-dev)", self.program)
        });
        assert!(
            result.status.success(),
            "{command:?}\n{}\nIf headers are missing: Debian's libbpf-dev and linux-libc-dev hold them",
            String::from_utf8_lossy(&result.stderr)
        );
        String::from_utf8(result.stdout).expect("the registry is ASCII")
    }
}
