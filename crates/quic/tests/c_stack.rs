//! The example for C stacks: it compiles without warnings, and steers the small stack next to it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What `run.c` prints.
struct Ran {
    /// When, us, why, and the window, bytes.
    exit: (u64, u64, u64),
    lost: u64,
    reductions: u64,
}

fn compiled() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("c_stack");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O1", "-I"]);
    compiler.arg(here.join("../../include")).arg("-o").arg(&program);
    compiler.args(["ramp_hystartpp.c", "run.c"].map(|file| here.join("c").join(file)));
    let output = compiler.output().expect("the core needs a C compiler, too");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn run(program: &Path, arguments: [&str; 3]) -> Ran {
    let output = Command::new(program).args(arguments).output().expect("it has just been compiled");
    let text = String::from_utf8(output.stdout).expect("text");
    let numbers: Vec<u64> =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let [at, reason, _, window, _, _, lost, reductions] = numbers[..] else { panic!("{text}") };
    Ran { exit: (at, reason, window), lost, reductions }
}

#[test]
fn a_header_in_a_c_stacks_table_steers_it() {
    let program = compiled();
    let [delay, loss] = [rampcc::ExitReason::Delay, rampcc::ExitReason::Loss].map(|reason| reason as u64);
    // 10 Mbit/s and 50 ms hold 62.5 kB; the buffer never ends, and the delay shows it.
    let deep = run(&program, ["10", "50", "1000"]);
    let (at, reason, window) = deep.exit;
    assert_eq!((reason, deep.lost, deep.reductions), (delay, 0, 0));
    assert!((62_500..1_000_000).contains(&window) && (300_000..3_000_000).contains(&at), "{window} at {at}");
    // A buffer of ten packets overflows before any delay shows, more than once, and each loss costs one reduction at the most.
    let shallow = run(&program, ["10", "50", "10"]);
    assert_eq!(shallow.exit.1, loss);
    assert!(
        shallow.reductions > 1 && shallow.reductions < shallow.lost,
        "{} of {}",
        shallow.reductions,
        shallow.lost
    );
}

/// The guide promises that it is no longer.
#[test]
fn the_example_has_at_most_200_lines() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("c/ramp_hystartpp.c"));
    assert!(text.expect("it is there").lines().count() <= 200);
}
