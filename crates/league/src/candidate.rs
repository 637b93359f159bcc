//! Algorithms that are not in the registry: a header, compiled into a shared object and loaded.
#![expect(unsafe_code, reason = "the algorithm comes from a shared object")]

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use libloading::Library;
use rampcc::Algorithm;
use rampcc_experiment::{Code, ExperimentError, Row, write_whole};
use rampcc_scenario::Arm;
use sha2::{Digest, Sha256};

use crate::log::hexadecimal;

/// A header, compiled.
#[derive(Debug)]
struct Candidate {
    algorithm: &'static Algorithm,
    code: Code,
}

/// A row from `FILE.h` or `FILE.h:NAME=VALUE,…`. The file defines `struct ramp_STEM`, its table of parameters and its three
/// functions, as a header of the core does, and may define `RAMP_STEM_TRAITS`; `taken` are labels that it may not have.
pub fn candidate(text: &str, (compiler, taken): (&str, &[String])) -> Result<Row, ExperimentError> {
    let (file, settings) = match text.split_once(".h:") {
        Some((stem, settings)) => (format!("{stem}.h"), Some(settings)),
        None => (text.to_owned(), None),
    };
    let candidate = compile(Path::new(&file), compiler)?;
    let algorithm = candidate.algorithm;
    let mut arm = Arm { label: algorithm.id.to_owned(), algorithm, set: Vec::new() };
    for setting in settings.into_iter().flat_map(|all| all.split(',')) {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(input(format!("--candidate {text}: `{setting}` has no `=`"), "FILE.h:NAME=VALUE,…"));
        };
        arm = arm.with(name.trim(), value.trim())?;
    }
    if taken.contains(&arm.label) {
        let name = Path::new(&file).file_name().map(|name| name.to_string_lossy().into_owned());
        arm.label = format!("{} ({})", arm.label, name.unwrap_or_default());
    }
    Ok(Row { code: Some(candidate.code), ..arm.into() })
}

/// Rows for all of `texts`, to stand beside `rows`, compiled with `compiler`.
pub fn candidates(texts: &[String], compiler: &str, rows: &[Row]) -> Result<Vec<Row>, ExperimentError> {
    let mut taken: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    let mut found = Vec::new();
    for text in texts {
        let row = candidate(text, (compiler, &taken))?;
        taken.push(row.label.clone());
        found.push(row);
    }
    Ok(found)
}

fn code(text: &[u8]) -> Code {
    let digest = hexadecimal(&Sha256::digest(text)[..12]);
    Code { text: String::from_utf8_lossy(text).into(), digest }
}

fn input(message: String, help: &str) -> ExperimentError {
    ExperimentError::Input { message, help: Some(help.to_owned()) }
}

fn compile(header: &Path, compiler: &str) -> Result<Candidate, ExperimentError> {
    let header = fs::canonicalize(header).map_err(|cause| ExperimentError::Request {
        field: "candidate",
        problem: format!("names a file that cannot be read, {}: {cause}", header.display()),
        help: Some("a C header that defines an algorithm, FILE.h[:NAME=VALUE,…]".to_owned()),
    })?;
    let stem = header.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !stem.starts_with(|c: char| c.is_ascii_lowercase()) || !stem.chars().all(plain) {
        return Err(input(
            format!("{}: its name is not that of an algorithm", header.display()),
            "small letters, digits and _, as in `reach.h`, which defines `struct ramp_reach`",
        ));
    }
    let place = Scratch::new()?;
    let registry = registry(stem, &header);
    for (name, text) in
        rampcc::SOURCES.iter().copied().chain([("registry/ramp/registry.h", registry.as_str())])
    {
        let path = place.0.join(name);
        let folder = path.parent().unwrap_or(&place.0);
        fs::create_dir_all(folder).map_err(file("create", folder))?;
        write_whole(&path, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    let run = |more: &[&str]| {
        let include = |folder: &str| format!("-I{}", place.0.join(folder).display());
        let output = Command::new(compiler)
            .args([include("registry"), include("include"), include("include/ramp")])
            .args(["-std=c99", "-O2", "-fPIC", "-Wall", "-Wextra"])
            .args(more)
            .arg(place.0.join("src/shim.c"))
            .output()
            .map_err(|cause| {
                let message = format!("cannot run the C compiler `{compiler}`: {cause}");
                input(message, "a candidate is compiled; install a C compiler, or name one with CC=…")
            })?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let told = String::from_utf8_lossy(&output.stderr);
        let told: Vec<&str> = told.lines().take(40).collect();
        let upper = stem.to_ascii_uppercase();
        Err(input(
            format!("{} does not compile:\n{}", header.display(), told.join("\n")),
            &format!(
                "it has to define RAMP_{upper}_PARAMETERS, struct ramp_{stem}, ramp_{stem}_init, ramp_{stem}_on_ack and \
                 ramp_{stem}_on_event (docs/guide/algorithm.md)"
            ),
        ))
    };
    let code = code(&run(&["-E", "-P"])?);
    let object = place.0.join("candidate.so");
    run(&["-shared", "-o", &object.to_string_lossy()])?;
    let algorithm = load(&object).map_err(|error| {
        input(format!("{} cannot be loaded: {error}", header.display()), "a shared object of this machine")
    })?;
    Ok(Candidate { algorithm, code })
}

/// The algorithm of a shared object, which stays loaded.
fn load(object: &Path) -> Result<&'static Algorithm, libloading::Error> {
    // SAFETY: the object has nothing that runs when it is loaded.
    let library: &'static Library = Box::leak(Box::new(unsafe { Library::new(object) }?));
    // SAFETY: both are what `shim.c` defines under these names, and the library stays.
    let algorithms = unsafe {
        let rows = library.get::<*const c_void>(b"ramp_algorithm_rows\0")?;
        let count = library.get::<*const usize>(b"ramp_algorithm_count\0")?;
        rampcc::foreign_algorithms(*rows, **count)
    };
    let algorithms: &'static [Algorithm] = Box::leak(algorithms.into_boxed_slice());
    Ok(&algorithms[0])
}

/// Algorithms that other processes sent, by their source.
static SENT: Mutex<BTreeMap<String, &'static Algorithm>> = Mutex::new(BTreeMap::new());

/// The algorithm that another process calls a candidate, compiled here from its [`Code::text`], once.
pub(crate) fn sent(text: &str, compiler: &str) -> Result<(&'static Algorithm, Code), ExperimentError> {
    let code = code(text.as_bytes());
    let mut known = SENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(algorithm) = known.get(&code.digest) {
        return Ok((algorithm, code));
    }
    let place = Scratch::new()?;
    let (source, object) = (place.0.join("candidate.i"), place.0.join("candidate.so"));
    write_whole(&source, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    let output = Command::new(compiler)
        .args(["-std=c99", "-O2", "-fPIC", "-w", "-x", "cpp-output", "-shared", "-o"])
        .args([&object, &source])
        .output();
    let told = match output {
        Ok(output) if output.status.success() => String::new(),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(cause) => cause.to_string(),
    };
    let algorithm =
        Some(load(&object)).filter(|_| told.is_empty()).and_then(Result::ok).ok_or_else(|| {
            let told = told.lines().next().unwrap_or("it cannot be loaded").to_owned();
            input(
                format!("a worker cannot compile a candidate with `{compiler}`: {told}"),
                "workers need a C compiler, as here; CC names one",
            )
        })?;
    known.insert(code.digest.clone(), algorithm);
    Ok((algorithm, code))
}

/// A registry of one row, found before ramp's own.
fn registry(stem: &str, header: &Path) -> String {
    let upper = stem.to_ascii_uppercase();
    let file = header.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "#ifndef RAMP_REGISTRY_H\n#define RAMP_REGISTRY_H\n#include <ramp/traits.h>\n#include \"{file}\"\n\
         #ifndef RAMP_{upper}_TRAITS\n#define RAMP_{upper}_TRAITS (RAMP_PACES | RAMP_READS_RATE)\n#endif\n\
         #define RAMP_ALGORITHMS(X) X({stem}, {upper}, RAMP_{upper}_TRAITS, \"{stem}\", \"candidate\", \"a candidate\")\n\
         #define RAMP_OVERRIDES(X)\n#endif\n"
    )
}

/// A directory that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, ExperimentError> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("ramp-candidate-{}-{number}", std::process::id()));
        // Not one that somebody else has laid out.
        fs::create_dir(&place).map_err(file("create", &place))?;
        Ok(Self(place))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ExperimentError {
    move |cause| ExperimentError::File { action, path: path.to_path_buf(), cause }
}
