//! The places that are remembered, written and read by all processors at once. The program is run by the kernel's own test
//! of programs; nothing is attached.

use std::path::Path;
use std::process::Command;
use std::thread;

use libbpf_rs::{MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};

use crate::support::ready::unobstructed;
use crate::support::{NO_COMPILER, ready, small};

/// That write, and as many that read.
const THREADS: usize = 2;
const RUNS: u32 = 500_000;

/// `hammer.bpf.c` in the kernel.
fn load() -> Object {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let place = std::env::temp_dir().join(format!("ramp-hammer-{}", std::process::id()));
    std::fs::create_dir_all(&place).expect("a directory");
    let object = place.join("hammer.bpf.o");
    let system = format!("/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let compiled = Command::new("clang")
        .args(["--target=bpf", "-mcpu=v3", "-g", "-O2", "-Wall", "-Werror", "-DRAMP_BPF", "-I", "include"])
        .args(["-I", "bpf", "-idirafter", &system, "-c", "tests/kernel/hammer.bpf.c", "-o"])
        .arg(&object)
        .current_dir(crate_root)
        .status();
    assert!(compiled.expect("clang").success(), "hammer.bpf.c compiles");
    let bytes = std::fs::read(&object).expect("the object");
    std::fs::remove_dir_all(&place).expect("it is ours");
    let open = ObjectBuilder::default().open_memory(&bytes).expect("an object");
    open.load().expect("it loads")
}

#[test]
fn what_is_remembered_of_a_place_is_always_what_somebody_wrote() {
    let Some(()) = ready().and_then(|()| unobstructed(small().then_some(NO_COMPILER))) else { return };
    let object = load();
    thread::scope(|scope| {
        for name in ["writes", "reads"].iter().cycle().take(2 * THREADS) {
            let object = &object;
            scope.spawn(move || {
                let program = object.progs_mut().find(|program| program.name() == *name).expect(name);
                let packet = [0; 64];
                let input = ProgramInput { data_in: Some(&packet), repeat: RUNS, ..ProgramInput::default() };
                program.test_run(input).expect("it runs");
            });
        }
    });
    let map = object.maps().find(|map| map.name() == ".bss.seen").expect("its counts");
    let counts = map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).expect("counts").expect("one element");
    let counts: Vec<u64> =
        counts.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("a word"))).collect();
    let [whole, refused, mixtures, taken] = counts[..] else { panic!("{counts:?}") };
    eprintln!("{whole} whole, {refused} refused, {mixtures} mixtures, {taken} taken");
    assert_eq!(mixtures, 0, "taken for what somebody wrote");
    let read = whole + refused;
    // On a busy machine those that read may be done before anybody writes: then they find nothing.
    assert!(read <= THREADS as u64 * u64::from(RUNS) && whole > 0);
    assert!(taken > 0 && taken <= whole);
}
