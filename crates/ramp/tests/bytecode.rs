//! The core as BPF bytecode, run in user space, gives the same bytes as the native build.
//!
//! Needs clang. Where it is missing the test is skipped.

use std::path::Path;
use std::process::Command;

use object::{Object, ObjectSection};
use proptest::prelude::*;
use rampcc::{Ack, Algorithm, Config, Decision, Event, Hint, HintSource, Phase, Startup, Traits, algorithms};
use support::events::{Host, Input, configs, runner, steps};
use support::pipe::{Pipe, play};
use support::{config, set};

#[path = "../../linux/tests/support/ready.rs"]
mod ready;
mod support;

/// Where the parts of the one memory block lie, in bytes: decision, configuration, ACK, event, state.
const DECISION: usize = 0;
const CONFIG: usize = DECISION + size_of::<Decision>();
const ACK: usize = CONFIG + size_of::<Config>();
const EVENT: usize = ACK + size_of::<Ack>();
const STATE: usize = EVENT + size_of::<Event>();

#[test]
fn bytecode_gives_the_same_bytes_on_recorded_start_ups() {
    if !clang_is_here() {
        return;
    }
    let mut rows_that_ended = 0;
    for algorithm in algorithms() {
        let object = Bytecode::compile(algorithm);
        let mut ended = 0;
        for (rate, rtt_us, buffer, ack_every) in [
            (100_000_000, 80_000, 1000, 1),
            (20_000_000, 40_000, 30, 2),
            (400_000_000, 20_000, 2000, 1),
            (20_000_000, 20_000, 5000, 1),
        ] {
            let mut pipe = Pipe::new(rate, rtt_us, 1000, buffer);
            pipe.ack_every = ack_every;
            pipe.limit_ns = 3_000_000_000;
            let mut config = config(algorithm, 10);
            config.hint = Hint::path(rate * rtt_us / 8_000_000, rate / 8);
            if !algorithm.traits.has(Traits::KNOWS_PATH) {
                let remembered = config.hint;
                config.hint = Hint::of(HintSource::History);
                config.hint.window_bytes = remembered.window_bytes;
                config.hint.bytes_per_s = remembered.bytes_per_s;
                config.hint.rtt_us = u32::try_from(rtt_us).expect("less than an hour");
                config.handshake_rtt_us = config.hint.rtt_us;
            }
            if algorithm.id == "best" {
                set(&mut config, algorithm, "track", 1);
            }
            let recorded = play(&pipe, algorithm, &config);
            let mut twin = Twin::new(&object, algorithm, &config);
            for ack in &recorded.acks {
                twin.handle(&Input::Ack(*ack))
                    .unwrap_or_else(|difference| panic!("{}: {difference}", algorithm.id));
            }
            ended += u32::from(twin.native.decision().phase() == Phase::Done);
        }
        rows_that_ended += usize::from(ended > 0);
    }
    // The pipe ends at the first loss, and some rows leave by nothing else.
    assert!(rows_that_ended >= 4, "{rows_that_ended} of {} rows", algorithms().len());
}

#[test]
fn bytecode_gives_the_same_bytes_on_any_events() {
    if !clang_is_here() {
        return;
    }
    for algorithm in algorithms() {
        let object = Bytecode::compile(algorithm);
        runner(24)
            .run(&(configs(algorithm), steps()), |(config, steps)| {
                let mut twin = Twin::new(&object, algorithm, &config);
                let mut host = Host::default();
                for step in &steps {
                    let event = host.event(step, twin.native.decision());
                    twin.handle(&event).map_err(TestCaseError::fail)?;
                }
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", algorithm.id));
    }
}

/// One connection, twice: native and in the virtual machine.
struct Twin<'a> {
    object: &'a Bytecode,
    native: Startup,
    memory: Vec<u8>,
}

impl<'a> Twin<'a> {
    fn new(object: &'a Bytecode, algorithm: &'static Algorithm, config: &Config) -> Self {
        let native = Startup::new(algorithm, config);
        let told = Config { hint: algorithm.admitted(config.hint), ..*config };
        let mut memory = vec![0; STATE + algorithm.state_bytes()];
        memory[CONFIG..ACK].copy_from_slice(told.bytes());
        memory[DECISION..CONFIG].copy_from_slice(Decision::new().bytes());
        object.run("init", &mut memory);
        let twin = Self { object, native, memory };
        twin.compare().expect("both begin the same");
        twin
    }

    fn handle(&mut self, input: &Input) -> Result<(), String> {
        match input {
            Input::Ack(ack) => {
                self.native.on_ack(ack);
                self.memory[ACK..EVENT].copy_from_slice(ack.bytes());
                self.object.run("on_ack", &mut self.memory);
            }
            Input::Event(event) => {
                self.native.on_event(event);
                self.memory[EVENT..STATE].copy_from_slice(event.bytes());
                self.object.run("on_event", &mut self.memory);
            }
        }
        self.compare().map_err(|difference| format!("{difference}\nafter {input:?}"))
    }

    fn compare(&self) -> Result<(), String> {
        if self.memory[DECISION..CONFIG] != *self.native.decision().bytes() {
            return Err(format!(
                "decisions differ: native {:?}, bytecode {:x?}",
                self.native.decision(),
                &self.memory[DECISION..CONFIG]
            ));
        }
        if self.memory[STATE..] != words(self.native.state()) {
            return Err("states differ".to_string());
        }
        Ok(())
    }
}

/// The three functions of one algorithm, each as the text of a section.
struct Bytecode(Vec<(&'static str, Vec<u8>)>);

impl Bytecode {
    fn compile(algorithm: &Algorithm) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let stem = format!("{}-{:?}", algorithm.id, std::thread::current().id()).replace(['(', ')'], "");
        let (source, output) = (directory.join(format!("{stem}.c")), directory.join(format!("{stem}.o")));
        std::fs::write(&source, entry_source(algorithm.id)).expect("the target directory is writable");
        let result = Command::new("clang")
            .args(["-target", "bpf", "-std=c99", "-O2", "-Wall", "-Werror", "-DRAMP_BPF", "-c", "-include"])
            .arg(root.join("tests/c/bpf_types.h"))
            .arg("-I")
            .arg(root.join("include"))
            .arg(&source)
            .arg("-o")
            .arg(&output)
            .output()
            .expect("clang runs");
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
        let bytes = std::fs::read(&output).expect("clang wrote the object");
        let object = object::File::parse(&*bytes).expect("an ELF object");
        let sections = ["init", "on_ack", "on_event"].map(|name| {
            let section = object.section_by_name(name).unwrap_or_else(|| panic!("no section {name}"));
            assert_eq!(
                section.relocations().count(),
                0,
                "{}: {name} calls something that is not inlined",
                algorithm.id
            );
            (name, section.data().expect("section data").to_vec())
        });
        assert!(
            object.section_by_name(".text").is_none_or(|text| text.size() == 0),
            "{}: functions remain outside the entries",
            algorithm.id
        );
        Self(sections.to_vec())
    }

    fn run(&self, entry: &str, memory: &mut [u8]) {
        let (_, text) = self.0.iter().find(|(name, _)| *name == entry).expect("one of the three entries");
        let machine = rbpf::EbpfVmRaw::new(Some(text)).expect("rbpf accepts the program");
        let result = machine.execute_program(memory).expect("no access outside the block or the stack");
        assert_eq!(result, 0);
    }
}

/// One section a function: the machine has no calls, so what a kernel follows once is inlined here.
fn entry_source(id: &str) -> String {
    format!(
        "#include <ramp/platform.h>
         #undef RAMP_ONCE
         #define RAMP_ONCE RAMP_FN
         #include <ramp/{id}.h>
         struct block {{
             struct ramp_decision decision;
             struct ramp_config config;
             struct ramp_ack ack;
             struct ramp_event event;
             struct ramp_{id} state;
         }};
         #define ENTRY(name) __attribute__((section(#name), used)) __u64 entry_##name(struct block *b)
         ENTRY(init) {{ ramp_{id}_init(&b->state, &b->config, &b->decision); return 0; }}
         ENTRY(on_ack) {{ ramp_{id}_on_ack(&b->state, &b->ack, &b->decision); return 0; }}
         ENTRY(on_event) {{ ramp_{id}_on_event(&b->state, &b->event, &b->decision); return 0; }}
        "
    )
}

/// False where the test cannot run.
fn clang_is_here() -> bool {
    let found = Command::new("clang").args(["--print-targets"]).output().is_ok_and(|o| o.status.success());
    ready::unobstructed((!found).then_some("clang is missing: run scripts/setup test")).is_some()
}

fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}
