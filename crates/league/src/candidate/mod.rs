//! Algorithms that are not in the registry: a header, compiled into a shared object that another process loads and plays.

mod apart;
mod child;
mod confine;
mod wire;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, PoisonError};

use rampcc::Algorithm;
use rampcc_experiment::{Code, ExperimentError, Result, Row, hexadecimal, write_whole};
use rampcc_scenario::Arm;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

pub use apart::Apart;
use apart::Processes;
pub use child::serve_candidate;
#[doc(hidden)]
pub use wire::said_again;

/// The file and the settings of `FILE.h` or `FILE.h:NAME=VALUE,…`; `None` if `text` names no header.
pub fn header(text: &str) -> Option<(&str, Option<&str>)> {
    // A directory may be called as a header is, or with a colon.
    let name = text.rfind('/').map_or(0, |slash| slash + 1);
    let end = text[name..].find(':').map_or(text.len(), |colon| name + colon);
    let named = text[name..end].rsplit_once('.').is_some_and(|(_, extension)| extension == "h");
    named.then(|| (&text[..end], text.get(end + 1..)))
}

/// A row from `FILE.h` or `FILE.h:NAME=VALUE,…`. The file defines `struct ramp_STEM`, its table of parameters and its three
/// functions, as a header of the core does, and may define `RAMP_STEM_TRAITS`; `taken` are labels that it may not have.
pub fn candidate(text: &str, apart: &Apart, taken: &[String]) -> Result<Row> {
    let (file, settings) = header(text).unwrap_or((text, None));
    let (object, mut code) = compile(Path::new(file), &apart.compiler)?;
    let processes = Processes::new(file.to_owned(), apart.clone(), object, code.digest.clone());
    let algorithm = processes.describe()?;
    code.player = Some(processes);
    let mut arm = Arm::new(algorithm);
    for setting in settings.into_iter().flat_map(|all| all.split(',')) {
        let Some((name, value)) = setting.split_once('=') else {
            return Err(input(format!("{text}: `{setting}` has no `=`"), "FILE.h:NAME=VALUE,…"));
        };
        arm = arm.with(name.trim(), value.trim())?;
    }
    if taken.contains(&arm.label) {
        let name = Path::new(file).file_name().map(|name| name.to_string_lossy().into_owned());
        arm.label = format!("{} ({})", arm.label, name.unwrap_or_default());
    }
    Ok(Row { code: Some(code), ..arm.into() })
}

/// Rows for all of `texts`, to be played with `rows`.
pub fn candidates(texts: &[String], apart: &Apart, rows: &[Row]) -> Result<Vec<Row>> {
    let mut taken: Vec<String> = rows.iter().map(|row| row.label.clone()).collect();
    let mut found = Vec::new();
    for text in texts {
        let row = candidate(text, apart, &taken)?;
        taken.push(row.label.clone());
        found.push(row);
    }
    Ok(found)
}

fn code(text: &[u8]) -> Code {
    let digest = hexadecimal(&Sha256::digest(text)[..12]);
    Code { text: String::from_utf8_lossy(text).into(), digest, player: None }
}

fn input(message: String, help: &str) -> ExperimentError {
    ExperimentError::Input { message, help: Some(help.to_owned()) }
}

/// The shared object, and the source that it was made from.
fn compile(header: &Path, compiler: &str) -> Result<(Vec<u8>, Code)> {
    let wrong = |cause: String| {
        let message = format!("{} cannot be read: {cause}", header.display());
        input(message, "a C header that defines an algorithm, FILE.h[:NAME=VALUE,…]")
    };
    let header = fs::canonicalize(header).map_err(|cause| wrong(cause.to_string()))?;
    if header.is_dir() {
        return Err(wrong("it is a directory".to_owned()));
    }
    if fs::metadata(&header).is_ok_and(|file| file.len() == 0) {
        return Err(wrong("it is empty".to_owned()));
    }
    let stem = header.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if !stem.starts_with(|c: char| c.is_ascii_lowercase()) || !stem.chars().all(plain) {
        return Err(input(
            format!("{}: its name is not that of an algorithm", header.display()),
            "small letters, digits and _, as in `reach.h`, which defines `struct ramp_reach`",
        ));
    }
    let place = scratch()?;
    let registry = registry(stem, &header);
    for (name, text) in
        rampcc::SOURCES.iter().copied().chain([("registry/ramp/registry.h", registry.as_str())])
    {
        let path = place.path().join(name);
        let folder = path.parent().unwrap_or(place.path());
        fs::create_dir_all(folder).map_err(file("create", folder))?;
        write_whole(&path, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    }
    let run = |more: &[&OsStr]| {
        let include = |folder: &str| format!("-I{}", place.path().join(folder).display());
        let output = Command::new(compiler)
            .args([include("registry"), include("include"), include("include/ramp")])
            .args(["-std=c99", "-O2", "-fPIC", "-Wall", "-Wextra"])
            .args(more)
            .arg(place.path().join("src/shim.c"))
            .output()
            .map_err(|cause| {
                let message = format!("cannot run the C compiler `{compiler}`: {cause}");
                input(message, "a candidate is compiled; install a C compiler, or name one with CC=…")
            })?;
        if output.status.success() { Ok(output.stdout) } else { Err(not_compiled(&header, stem, &output)) }
    };
    let code = code(&run(&["-E".as_ref(), "-P".as_ref()])?);
    let object = place.path().join("candidate.so");
    let linked = WHOLE.map(OsStr::new);
    run(&[&linked[..], &["-shared".as_ref(), "-o".as_ref(), object.as_os_str()]].concat())?;
    Ok((fs::read(&object).map_err(file("read", &object))?, code))
}

/// A function that nothing defines is an error of the compiler or the linker; otherwise its first call would end the process.
const WHOLE: [&str; 2] = ["-Werror=implicit-function-declaration", "-Wl,-z,defs"];

/// The version of the contract for which a header says that it is written; the first version did not ask.
fn written_for(text: &str) -> u32 {
    let said = text.lines().find_map(|line| {
        let mut words = line.trim_start().strip_prefix('#')?.split_whitespace();
        let defines = words.next() == Some("define") && words.next() == Some("RAMP_WRITTEN_FOR");
        words.next().filter(|_| defines)?.parse().ok()
    });
    said.unwrap_or(1)
}

fn not_compiled(header: &Path, stem: &str, output: &Output) -> ExperimentError {
    let told = String::from_utf8_lossy(&output.stderr);
    let version = fs::read_to_string(header).map_or(rampcc::CONTRACT, |text| written_for(&text));
    if version != rampcc::CONTRACT && told.contains("of ramp's contract") {
        return input(
            format!(
                "{} is written for version {version} of ramp's contract, and this ramp supports version {}",
                header.display(),
                rampcc::CONTRACT
            ),
            &format!(
                "a header that defines RAMP_WRITTEN_FOR {} and keeps that contract (include/ramp/interface.h)",
                rampcc::CONTRACT
            ),
        );
    }
    let told: Vec<&str> = told.lines().take(40).collect();
    let upper = stem.to_ascii_uppercase();
    input(
        format!("{} does not compile:\n{}", header.display(), told.join("\n")),
        &format!(
            "it has to define RAMP_{upper}_PARAMETERS, struct ramp_{stem}, ramp_{stem}_init, ramp_{stem}_on_ack and \
             ramp_{stem}_on_event (docs/guide/algorithm.md)"
        ),
    )
}

/// Candidates that other processes sent, by their source.
static SENT: Mutex<BTreeMap<String, (Arc<Processes>, &'static Algorithm)>> = Mutex::new(BTreeMap::new());

/// The algorithm that another process calls a candidate, compiled here from its [`Code::text`], once.
pub(crate) fn sent(text: &str, apart: &Apart) -> Result<(&'static Algorithm, Code)> {
    let mut code = code(text.as_bytes());
    let mut known = SENT.lock().unwrap_or_else(PoisonError::into_inner);
    let (processes, algorithm) = if let Some(known) = known.get(&code.digest) {
        known.clone()
    } else {
        let object = compile_sent(text, &apart.compiler)?;
        let name = format!("of digest {}", code.digest);
        let processes = Processes::new(name, apart.clone(), object, code.digest.clone());
        let made = (Arc::clone(&processes), processes.describe()?);
        known.insert(code.digest.clone(), made.clone());
        made
    };
    code.player = Some(processes);
    Ok((algorithm, code))
}

fn compile_sent(text: &str, compiler: &str) -> Result<Vec<u8>> {
    let place = scratch()?;
    let (source, object) = (place.path().join("candidate.i"), place.path().join("candidate.so"));
    write_whole(&source, |out| std::io::Write::write_all(out, text.as_bytes()))?;
    let output = Command::new(compiler)
        .args(["-std=c99", "-O2", "-fPIC", "-w", "-x", "cpp-output", "-shared"])
        .args(WHOLE)
        .arg("-o")
        .args([&object, &source])
        .output();
    let told = match output {
        Ok(output) if output.status.success() => return fs::read(&object).map_err(file("read", &object)),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(cause) => cause.to_string(),
    };
    let told = told.lines().next().unwrap_or("it says not why");
    Err(input(
        format!("a worker cannot compile a candidate with `{compiler}`: {told}"),
        "workers need a C compiler, as here; CC names one",
    ))
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

/// A directory of this user's alone, under a name that cannot be foreseen. It goes away with the value.
pub(crate) fn scratch() -> Result<TempDir> {
    let place = tempfile::Builder::new()
        .prefix("ramp-candidate-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir();
    place.map_err(file("create a directory in", &std::env::temp_dir()))
}

fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ExperimentError {
    move |cause| ExperimentError::File { action, path: path.to_path_buf(), cause }
}

#[cfg(test)]
mod tests {
    use super::{header, written_for};

    #[test]
    fn a_header_says_for_which_contract_it_is_written() {
        assert_eq!(written_for("/* x */\n# define RAMP_WRITTEN_FOR 3 /* the next */\n"), 3);
        assert_eq!(written_for("#define RAMP_WRITTEN_FOR_ALL 3\n#include <ramp/window.h>\n"), 1);
    }

    #[test]
    fn a_header_may_have_settings_and_any_directory() {
        assert_eq!(header("mine.h"), Some(("mine.h", None)));
        assert_eq!(
            header("/tmp/a.hB/mine.h:gain=3,cap=.5"),
            Some(("/tmp/a.hB/mine.h", Some("gain=3,cap=.5")))
        );
        assert_eq!(header("at:9/mine.h"), Some(("at:9/mine.h", None)));
        assert_eq!(header("reach:cap=2"), None);
        assert_eq!(header("mine.h/reach"), None);
    }
}
