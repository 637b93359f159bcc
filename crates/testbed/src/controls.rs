//! Congestion control of each flow, and loading those that the kernel lacks.

use std::fmt;

use rampcc::Traits;
use rampcc_scenario::{FlowConfig, Scenario};
use rampcc_system::capabilities::{BPF, missing};
use rampcc_tcp::Avoidance;

use crate::kinds::kinds;
use crate::row::Row;
use crate::{Result, TestbedError};

/// Reason for which rows that need BPF are not available here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This build has no BPF programs.
    NotBuilt,
    /// Capabilities are missing.
    Capabilities(Vec<&'static str>),
    /// Privileges do not reach outside a user namespace.
    UserNamespace,
    /// The kernel does not describe its types.
    NoBtf,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBuilt => f.write_str(
                "this build has no BPF programs: build ramp with `--features linux` (it needs clang and libbpf's, libelf's \
                 and zlib's headers), or `make linux`",
            ),
            Self::Capabilities(missing) => write!(
                f,
                "loading BPF programs needs {}, which this process does not have: run as root, or give it CAP_BPF, \
                 CAP_NET_ADMIN and CAP_PERFMON",
                missing.join(" and ")
            ),
            Self::UserNamespace => f.write_str(
                "loading BPF programs needs CAP_BPF, CAP_NET_ADMIN and CAP_PERFMON of the host; those of a user \
                 namespace do not count: run as root",
            ),
            Self::NoBtf => f.write_str(
                "this kernel carries no BTF (/sys/kernel/btf/vmlinux), without which BPF programs cannot be fitted to it",
            ),
        }
    }
}

/// Obstacle to BPF programs of this process; `None`: none that is known beforehand.
pub fn obstacle() -> Option<Obstacle> {
    if cfg!(not(feature = "bpf")) {
        return Some(Obstacle::NotBuilt);
    }
    let read = |path| std::fs::read_to_string(path).unwrap_or_default();
    // The initial user namespace maps every number to itself.
    let map = read("/proc/self/uid_map");
    if map.split_whitespace().collect::<Vec<_>>() != ["0", "0", "4294967295"] {
        return Some(Obstacle::UserNamespace);
    }
    let missing = missing(&BPF);
    if !missing.is_empty() {
        return Some(Obstacle::Capabilities(missing));
    }
    (!std::path::Path::new("/sys/kernel/btf/vmlinux").exists()).then_some(Obstacle::NoBtf)
}

/// Of the whole machine.
const HYSTART: &str = "/sys/module/tcp_cubic/parameters/hystart";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Steered {
    /// The kernel's own.
    Own(Row),
    /// The flow's algorithm, from BPF.
    Core,
}

/// What steers `flow`. A flow that is not under test and asks for what a Linux host is without us has just that.
pub(crate) fn steered(flow: &FlowConfig, row: Row) -> Steered {
    if flow.under_test {
        return if row == Row::Core { Steered::Core } else { Steered::Own(row) };
    }
    let sender = &flow.sender;
    let as_it_comes =
        sender.parameters == sender.startup.default_parameters() && sender.abc_limit_packets == 0;
    let kernels = match sender.avoidance_in_use() {
        Avoidance::Cubic => Some((Traits::OF_CUBIC, Row::Cubic)),
        Avoidance::Reno => Some((Traits::STANDARD, Row::Reno)),
        Avoidance::Bbr => Some((Traits::OF_BBR, Row::Bbr)),
        Avoidance::Vegas | Avoidance::Westwood | Avoidance::Bbr3 => None,
    };
    match kernels {
        Some((of, row)) if as_it_comes && sender.startup.traits.has(of) => Steered::Own(row),
        _ => Steered::Core,
    }
}

/// The congestion controls of a run, in the kernel as long as this lives.
pub(crate) struct Controls {
    /// Of each flow, and of each `[[traffic]]` of web sessions after them.
    pub(crate) steered: Vec<Steered>,
    /// What each flow sets as `TCP_CONGESTION`.
    pub(crate) names: Vec<String>,
    #[cfg(feature = "bpf")]
    pub(crate) loaded: Vec<rampcc_linux::Loaded>,
    /// Which of `loaded` steers each flow.
    #[cfg(feature = "bpf")]
    pub(crate) loaded_of: Vec<Option<usize>>,
    /// CUBIC without HyStart.
    #[cfg(feature = "bpf")]
    _plain: Option<rampcc_linux::PlainCubic>,
}

impl Controls {
    /// Loads what the flows of `scenario` need.
    pub(crate) fn new(scenario: &Scenario, row: Row) -> Result<Self> {
        let kinds = kinds(scenario);
        let steered: Vec<Steered> = kinds.iter().map(|kind| steered(kind, row)).collect();
        let bpf = steered.iter().any(|s| match s {
            Steered::Core => true,
            Steered::Own(row) => row.needs_bpf(),
        });
        if bpf && let Some(obstacle) = obstacle() {
            return Err(TestbedError::Obstacle(obstacle));
        }
        if let Some(flow) = steered.iter().position(|s| *s == Steered::Own(Row::Cubic)) {
            let parameter = std::fs::read_to_string(HYSTART).unwrap_or_default();
            if parameter.trim() == "0" {
                let flow = kinds[flow].name.clone();
                let problem = format!("the kernel's CUBIC has HyStart off ({HYSTART} is 0)");
                return Err(TestbedError::Steering { flow, problem });
            }
        }
        Self::load(&kinds, steered)
    }

    #[cfg(not(feature = "bpf"))]
    #[expect(clippy::unnecessary_wraps, reason = "with BPF it can fail")]
    fn load(_: &[FlowConfig], steered: Vec<Steered>) -> Result<Self> {
        let name = |steered: &Steered| match steered {
            Steered::Own(row) => row.name().to_owned(),
            Steered::Core => String::new(),
        };
        Ok(Self { names: steered.iter().map(name).collect(), steered })
    }

    #[cfg(feature = "bpf")]
    fn load(kinds: &[FlowConfig], steered: Vec<Steered>) -> Result<Self> {
        let (mut loaded, mut known, mut plain) = (Vec::new(), Vec::<Settings>::new(), None);
        let (mut names, mut loaded_of) = (Vec::new(), Vec::new());
        let failed = |id: &str, cause| TestbedError::Load { name: id.to_owned(), cause: Box::new(cause) };
        for (flow, steered) in kinds.iter().zip(&steered) {
            match steered {
                Steered::Own(row @ Row::CubicWithoutHystart) => {
                    let name = registered_name("cubic_ss", 0);
                    if plain.is_none() {
                        let load = rampcc_linux::load_cubic_without_hystart(&name);
                        plain = Some(load.map_err(|cause| failed(row.name(), cause))?);
                    }
                    names.push(name);
                    loaded_of.push(None);
                }
                Steered::Own(row) => {
                    names.push(row.name().to_owned());
                    loaded_of.push(None);
                }
                Steered::Core => {
                    let settings = settings(flow);
                    let index = if let Some(index) = known.iter().position(|known| same(known, &settings)) {
                        index
                    } else {
                        let Settings { algorithm, options } = &settings;
                        let name = Some(registered_name(algorithm.id, known.len()));
                        let options = rampcc_linux::Options { name, ..options.clone() };
                        let load = rampcc_linux::load(algorithm, &options);
                        loaded.push(load.map_err(|cause| failed(algorithm.id, cause))?);
                        known.push(settings);
                        known.len() - 1
                    };
                    names.push(loaded[index].name().to_owned());
                    loaded_of.push(Some(index));
                }
            }
        }
        Ok(Self { steered, names, loaded, loaded_of, _plain: plain })
    }
}

#[cfg(feature = "bpf")]
struct Settings {
    algorithm: &'static rampcc::Algorithm,
    options: rampcc_linux::Options,
}

/// Whether one load serves both.
#[cfg(feature = "bpf")]
fn same(a: &Settings, b: &Settings) -> bool {
    a.algorithm.id == b.algorithm.id && a.options == b.options
}

/// Names are the whole machine's: this one tells the algorithm, the process and the load apart, in 15 bytes.
#[cfg(feature = "bpf")]
fn registered_name(id: &str, number: usize) -> String {
    const DIGITS: &[u8; 62] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let digit = |value: usize| char::from(DIGITS[value % DIGITS.len()]);
    let mut process = std::process::id() as usize;
    let mut tag = String::new();
    for _ in 0..4 {
        tag.push(digit(process));
        process /= DIGITS.len();
    }
    let id: String = id.chars().take(9).collect();
    format!("{id}.{tag}{}", digit(number))
}

/// How a flow's algorithm gets what the scenario says.
#[cfg(feature = "bpf")]
fn settings(flow: &FlowConfig) -> Settings {
    let sender = &flow.sender;
    let algorithm = sender.startup;
    let mut options = rampcc_linux::Options::new(algorithm);
    // As the scenario has them, profile and all, and so as the simulator plays.
    options.parameters = sender.parameters;
    options.abc_limit_packets = sender.abc_limit_packets;
    options.delayed_acks = sender.delayed_acks;
    options.hint = sender.hint;
    options.avoidance = match sender.avoidance {
        Avoidance::Reno => rampcc_linux::Avoidance::Reno,
        // The others have been refused.
        Avoidance::Cubic | Avoidance::Vegas | Avoidance::Westwood | Avoidance::Bbr | Avoidance::Bbr3 => {
            rampcc_linux::Avoidance::Cubic
        }
    };
    options.record = if sender.sampled { rampcc_linux::Record::All } else { rampcc_linux::Record::Exits };
    options.ring_bytes = RING_BYTES;
    Settings { algorithm, options }
}

/// Tens of thousands of ACKs.
#[cfg(feature = "bpf")]
const RING_BYTES: u32 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_beside_those_under_test_are_what_a_linux_host_is() {
        let text = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n\
            [[flow]]\nsize = '1 MB'\n\
            [[flow]]\nalgorithm = 'hystart'\nsize = '1 MB'\n\
            [[flow]]\nalgorithm = 'best'\nsize = '1 MB'\n\
            [[flow]]\nalgorithm = 'slow_start'\ncongestion-control = 'reno'\nsize = '1 MB'\n\
            [[flow]]\nalgorithm = 'bbr'\nsize = '1 MB'\n";
        let scenario = Scenario::parse("test", text, None).expect("the text is a scenario");
        let all = |row| scenario.flows.iter().map(|flow| steered(flow, row)).collect::<Vec<_>>();
        let others =
            [Steered::Own(Row::Cubic), Steered::Core, Steered::Own(Row::Reno), Steered::Own(Row::Bbr)];
        assert_eq!(all(Row::Core), [&[Steered::Core], &others[..]].concat());
        assert_eq!(all(Row::Bbr), [&[Steered::Own(Row::Bbr)], &others[..]].concat());
    }

    /// `--set algorithm.paced.max_overshoot=0` was dropped, being the table's.
    #[cfg(feature = "bpf")]
    #[test]
    fn the_kernel_is_told_what_the_simulator_plays() {
        let path = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n";
        for text in [
            path.to_owned(),
            format!("profile = 'era'\n{path}"),
            format!("{path}[algorithm.paced]\nmax_overshoot = 0\ntolerance = 0\n"),
        ] {
            let scenario = Scenario::parse("test", &text, None).expect("the text is a scenario");
            for algorithm in rampcc::algorithms().iter().filter(|a| a.runs_without(rampcc::LINUX_LACKS)) {
                let arm = rampcc_scenario::Arm::parse(algorithm.id).expect("an arm");
                let steered = scenario.with_arm(&arm);
                let Settings { options, .. } = settings(&steered.flows[0]);
                assert_eq!(options.parameters, steered.steering.parameters, "{}: {text}", algorithm.id);
            }
        }
        let arm = rampcc_scenario::Arm::parse("paced:max_overshoot=0").expect("an arm");
        let scenario = Scenario::parse("test", path, None).expect("the text is a scenario");
        let Settings { algorithm: paced, options } = settings(&scenario.with_arm(&arm).flows[0]);
        let told = |name| paced.parameters.iter().position(|p| p.name == name).map(|i| options.parameters[i]);
        assert_eq!((told("tolerance"), told("max_overshoot")), (Some(50), Some(0)));
    }

    #[cfg(feature = "bpf")]
    #[test]
    fn registered_names_fit_the_kernel_and_differ() {
        let names: std::collections::BTreeSet<String> =
            (0..60).map(|number| registered_name("slow_start", number)).collect();
        assert_eq!(names.len(), 60);
        assert!(names.iter().all(|name| name.len() <= 15 && name.starts_with("slow_star.")));
    }
}
