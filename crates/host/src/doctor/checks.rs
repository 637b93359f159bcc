//! Judgement of what was found: no looking here.

use caps::Capability;

use super::facts::KFUNCS;
use super::{Check, Facts, State};
use crate::privileges::NEEDED;

/// Below this a buffer is smaller than what Linux comes with.
const USUAL_BUFFER_BYTES: u64 = 4 << 20;
/// Of socket memory besides the algorithm's own state: our bookkeeping, and the kernel's.
const OVERHEAD_BYTES: usize = 512;

/// Those that need no program in the verifier.
pub(super) fn at_once(facts: &Facts) -> Vec<Check> {
    let mut checks = vec![kernel(facts), btf(facts), struct_ops(facts), jit(facts)];
    checks.extend(config(facts));
    checks.extend([
        lockdown(facts),
        functions(facts),
        capabilities(facts),
        netns_capability(facts),
        timing_capability(facts),
    ]);
    checks
}

/// What came of loading, and what only matters after it.
pub(super) fn once_tried(facts: &Facts) -> Vec<Check> {
    vec![
        programs(facts),
        pins(facts),
        directories(facts),
        control_groups(facts),
        socket_memory(facts),
        locked_memory(facts),
        unprivileged(facts),
        default_control(facts),
        allowed_controls(facts),
        buffer(facts, "tcp_wmem", "send"),
        buffer(facts, "tcp_rmem", "receive"),
        metrics(facts),
        idle(facts),
    ]
}

fn check(name: &'static str, state: State, found: impl Into<String>) -> Check {
    Check { name, state, found: found.into(), meaning: String::new(), mend: String::new() }
}

impl Check {
    fn means(self, meaning: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), ..self }
    }

    fn mend(self, mend: impl Into<String>) -> Self {
        Self { mend: mend.into(), ..self }
    }
}

fn kernel(facts: &Facts) -> Check {
    let mut numbers = facts.release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let found = format!("Linux {}", facts.release);
    if version >= (6, 4) {
        check("kernel", State::Ok, found)
    } else if version >= (6, 1) {
        check("kernel", State::Degraded, found).means(
            "congestion controls are registered without a link (Linux 6.4): attaching works, `compare` and `trial` \
             leave theirs behind when they are killed",
        )
    } else {
        check("kernel", State::Missing, found)
            .means("the programs call functions that BPF has from Linux 6.1 on")
            .mend("boot Linux 6.1 or later")
    }
}

fn btf(facts: &Facts) -> Check {
    if facts.btf {
        check("BTF", State::Ok, "/sys/kernel/btf/vmlinux")
    } else {
        check("BTF", State::Missing, "no /sys/kernel/btf/vmlinux")
            .means("programs cannot be fitted to a kernel that does not describe its types")
            .mend("boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as all large distributions build theirs")
    }
}

fn struct_ops(facts: &Facts) -> Check {
    if facts.struct_ops {
        return check("struct_ops", State::Ok, "the kernel takes congestion controls in BPF");
    }
    let row = check("struct_ops", State::Missing, "the kernel's BTF has none for tcp_congestion_ops");
    if facts.btf {
        row.means("this kernel takes no congestion controls in BPF")
            .mend("boot a kernel with CONFIG_BPF_SYSCALL=y, CONFIG_BPF_JIT=y and CONFIG_DEBUG_INFO_BTF=y")
    } else {
        row.means("without BTF it cannot be seen whether this kernel takes congestion controls in BPF")
            .mend("see BTF")
    }
}

fn jit(facts: &Facts) -> Check {
    match facts.sysctl("net/core/bpf_jit_enable") {
        Some("0") => check("JIT", State::Missing, "net.core.bpf_jit_enable = 0")
            .means("congestion controls in BPF are machine code only")
            .mend("sysctl -w net.core.bpf_jit_enable=1"),
        Some(value) => check("JIT", State::Ok, format!("net.core.bpf_jit_enable = {value}")),
        None => check("JIT", State::Ok, "not shown in this network namespace"),
    }
}

/// Options, what they are for, and what their absence is.
const OPTIONS: [(&str, State, &str); 6] = [
    ("BPF_SYSCALL", State::Missing, "there are no BPF programs"),
    ("BPF_JIT", State::Missing, "there are no congestion controls in BPF"),
    ("DEBUG_INFO_BTF", State::Missing, "programs cannot be fitted to this kernel"),
    ("TCP_CONG_CUBIC", State::Missing, "nothing takes over after start-up"),
    ("CGROUP_BPF", State::Degraded, "--scope cgroup and `trial` do not work"),
    ("NET_SCH_FQ", State::Ok, "packets are paced by TCP itself, which is as good"),
];

fn config(facts: &Facts) -> Vec<Check> {
    let Some(config) = &facts.config else {
        return vec![
            check("configuration", State::Ok, "not shown (/proc/config.gz, /boot/config-*)")
                .means("judged by what the kernel does, below"),
        ];
    };
    let absent = |(name, _, _): &&(&'static str, State, &'static str)| !config.contains_key(*name);
    let (missing, present): (Vec<_>, Vec<_>) = OPTIONS.iter().partition(absent);
    let names: Vec<_> = present.iter().map(|(name, _, _)| *name).collect();
    let mut checks = Vec::new();
    if !names.is_empty() {
        checks.push(check("configuration", State::Ok, names.join(", ")));
    }
    for (name, state, meaning) in missing {
        checks.push(if state == State::Ok {
            check("configuration", state, format!("works without CONFIG_{name}")).means(meaning)
        } else {
            check("configuration", state, format!("CONFIG_{name} is not set"))
                .means(meaning)
                .mend(format!("boot a kernel with CONFIG_{name}=y"))
        });
    }
    checks
}

fn lockdown(facts: &Facts) -> Check {
    match facts.lockdown.as_deref() {
        None => check("lockdown", State::Ok, "not in this kernel, or not shown"),
        Some("confidentiality") => check("lockdown", State::Missing, "confidentiality")
            .means("BPF programs may not read the kernel's memory, and these read sockets")
            .mend("boot with lockdown=integrity or none"),
        Some(mode) => check("lockdown", State::Ok, mode),
    }
}

fn functions(facts: &Facts) -> Check {
    let missing: Vec<_> = KFUNCS.into_iter().filter(|name| !facts.kfuncs.contains(*name)).collect();
    if missing.is_empty() {
        return check("functions", State::Ok, format!("all {} of CUBIC's (cubictcp_*)", KFUNCS.len()));
    }
    let row = check("functions", State::Missing, format!("no {}", missing.join(", ")))
        .means("the kernel's CUBIC takes over after start-up, and cannot be called");
    let module =
        facts.config.as_ref().and_then(|config| config.get("TCP_CONG_CUBIC")).is_some_and(|v| v == "m");
    row.mend(if module { "modprobe tcp_cubic" } else { "boot a kernel with CONFIG_TCP_CONG_CUBIC=y and BTF" })
}

fn capabilities(facts: &Facts) -> Check {
    let missing: Vec<_> = NEEDED.into_iter().filter(|c| !facts.holds(*c)).map(|c| c.to_string()).collect();
    let names = NEEDED.map(|capability| capability.to_string()).join(", ");
    if missing.is_empty() {
        return check("capabilities", State::Ok, names);
    }
    check("capabilities", State::Missing, format!("no {}", missing.join(", ")))
        .means("loading and attaching take all three, of the host itself: a user namespace's do not count")
        .mend("run with sudo, or: setpriv --ambient-caps +bpf,+net_admin,+perfmon --inh-caps +bpf,+net_admin,+perfmon")
}

fn netns_capability(facts: &Facts) -> Check {
    if facts.holds(Capability::CAP_SYS_ADMIN) {
        return check("CAP_SYS_ADMIN", State::Ok, "held");
    }
    check("CAP_SYS_ADMIN", State::Degraded, "not held")
        .means("--scope netns, and mounting a BPF file system, take it; all else works without")
        .mend("for --scope netns: run as root")
}

fn timing_capability(facts: &Facts) -> Check {
    if facts.holds(Capability::CAP_SYS_NICE) {
        return check("CAP_SYS_NICE", State::Ok, "held");
    }
    check("CAP_SYS_NICE", State::Degraded, "not held")
        .means("`compare --on linux` emulates paths at normal priority, so more of its runs are refused")
        .mend("for compare --on linux: run as root")
}

fn programs(facts: &Facts) -> Check {
    if facts.loads.is_empty() {
        return check("programs", State::Missing, "not tried, for want of capabilities")
            .mend("see capabilities");
    }
    let failed: Vec<_> =
        facts.loads.iter().filter_map(|(id, result)| result.as_ref().err().map(|e| (id, e))).collect();
    let Some((_, first)) = failed.first() else {
        let found = match facts.loads.as_slice() {
            [(id, _)] => format!("{id} loads"),
            all => format!("all {} algorithms load", all.len()),
        };
        return check("programs", State::Ok, found);
    };
    let state = if failed.len() == facts.loads.len() { State::Missing } else { State::Degraded };
    let ids: Vec<_> = failed.iter().map(|(id, _)| id.as_str()).collect();
    check("programs", state, format!("not loaded: {}", ids.join(", "))).means(first.as_str()).mend(
        "the checks above name causes; ramp attach ALGORITHM --verifier-log shows all that the kernel says",
    )
}

fn pins(facts: &Facts) -> Check {
    let (path, is_bpffs) = &facts.pins;
    let usual = path.starts_with(crate::bpffs::USUAL);
    match is_bpffs {
        Some(true) => check("BPF file system", State::Ok, format!("mounted, for {}", path.display())),
        _ if usual && facts.host_mounts && facts.holds(Capability::CAP_SYS_ADMIN) => {
            check("BPF file system", State::Ok, "not mounted; attach mounts it")
        }
        _ if usual && facts.host_mounts => check("BPF file system", State::Missing, "not mounted")
            .means("attachments would not outlive the command")
            .mend("as root: mount -t bpf bpf /sys/fs/bpf"),
        _ if usual => check("BPF file system", State::Missing, "not mounted in this mount namespace")
            .means("what is mounted here is gone with its last process")
            .mend(
                "run outside (--scope netns NAME instead of ip netns exec), or name the host's own by --pins",
            ),
        _ => check("BPF file system", State::Missing, format!("{} is in none", path.display()))
            .mend(format!("mount -t bpf bpf {}", path.parent().unwrap_or(path).display())),
    }
}

fn directories(facts: &Facts) -> Check {
    if facts.closed.is_empty() {
        return check("directories", State::Ok, "pins and records can be written");
    }
    let paths: Vec<_> = facts.closed.iter().map(|path| path.display().to_string()).collect();
    let (pins, others): (Vec<_>, Vec<_>) =
        facts.closed.iter().partition(|path| path.starts_with(crate::bpffs::USUAL));
    let mut mends: Vec<_> =
        others.iter().map(|path| format!("install -d -o USER {}", path.display())).collect();
    if !pins.is_empty() {
        mends.push(crate::error::FOR_A_USER.to_owned());
    }
    check("directories", State::Missing, format!("this user may not write {}", paths.join(" and ")))
        .means("what is attached is kept there")
        .mend(format!("as root: {}", mends.join("; ")))
}

fn control_groups(facts: &Facts) -> Check {
    match &facts.cgroup2 {
        Some(path) => check("control groups", State::Ok, format!("version 2 at {}", path.display())),
        None => check("control groups", State::Degraded, "version 2 is not mounted")
            .means("--scope cgroup and `trial` do not work")
            .mend("mount -t cgroup2 cgroup2 /sys/fs/cgroup"),
    }
}

fn socket_memory(facts: &Facts) -> Check {
    const NAME: &str = "socket memory";
    let wanted = facts.state_bytes + OVERHEAD_BYTES;
    let Some(limit) = facts.sysctl("net/core/optmem_max").and_then(|text| text.parse::<usize>().ok()) else {
        return check(NAME, State::Ok, "its limit is not shown here");
    };
    let found = format!("net.core.optmem_max = {limit} bytes, of which a connection takes up to {wanted}");
    if limit >= wanted {
        return check(NAME, State::Ok, found);
    }
    check(NAME, State::Degraded, found)
        .means("connections without room for their state run as plain CUBIC")
        .mend("sysctl -w net.core.optmem_max=131072")
}

fn locked_memory(facts: &Facts) -> Check {
    // Since Linux 5.11 BPF memory is charged to the memory control group instead.
    let found = facts.memlock_bytes.map_or("unlimited".into(), |bytes| format!("{} kB", bytes >> 10));
    check("locked memory", State::Ok, found).means("of no concern to BPF since Linux 5.11")
}

fn unprivileged(facts: &Facts) -> Check {
    let value = facts.sysctl("kernel/unprivileged_bpf_disabled").unwrap_or("not shown");
    check("unprivileged BPF", State::Ok, format!("kernel.unprivileged_bpf_disabled = {value}"))
        .means("any value suits ramp, which needs capabilities in any case")
}

fn default_control(facts: &Facts) -> Check {
    const NAME: &str = "default control";
    let name = facts.sysctl("net/ipv4/tcp_congestion_control").unwrap_or("not shown");
    let found = format!("net.ipv4.tcp_congestion_control = {name}");
    if facts.unrecorded.is_some() {
        return check(NAME, State::Missing, found)
            .means("it is ramp's, but what it replaced is on no record here: attaching would take it for the original")
            .mend("detach it where it was attached, or: sysctl -w net.ipv4.tcp_congestion_control=cubic");
    }
    if name == "cubic" || crate::attach::is_ours(name) {
        return check(NAME, State::Ok, found);
    }
    check(NAME, State::Degraded, found).means(format!(
        "after start-up an attached algorithm goes on as CUBIC, while connections here run {name}: attaching changes \
         more than the start-up"
    ))
}

fn allowed_controls(facts: &Facts) -> Check {
    let list = |name| facts.sysctl(name).unwrap_or("not shown").to_owned();
    let found = format!(
        "allowed {}; available {}",
        list("net/ipv4/tcp_allowed_congestion_control"),
        list("net/ipv4/tcp_available_congestion_control")
    );
    check("other controls", State::Ok, found).means("ramp's are allowed to everyone once they are attached")
}

fn buffer(facts: &Facts, name: &'static str, which: &str) -> Check {
    let limit = facts
        .sysctl(&format!("net/ipv4/{name}"))
        .and_then(|text| text.split_whitespace().last()?.parse::<u64>().ok());
    let Some(limit) = limit else { return check(name, State::Ok, "not shown here") };
    // About half of a buffer is payload, the rest the kernel's bookkeeping (tcp_adv_win_scale of 1).
    let mbit_at_100ms = limit / 2 * 8 / 100_000;
    let found = format!("net.ipv4.{name} up to {limit} bytes: about {mbit_at_100ms} Mbit/s at 100 ms");
    if limit >= USUAL_BUFFER_BYTES {
        return check(name, State::Ok, found);
    }
    check(name, State::Degraded, found)
        .means(format!("a {which} buffer below the path's BDP ends start-up's gain before the path does"))
        .mend(format!("sysctl -w net.ipv4.{name}=\"4096 131072 {}\"", 4 * USUAL_BUFFER_BYTES))
}

fn metrics(facts: &Facts) -> Check {
    let value = facts.sysctl("net/ipv4/tcp_no_metrics_save").unwrap_or("not shown");
    let found = format!("net.ipv4.tcp_no_metrics_save = {value}");
    if value == "1" {
        return check("metrics cache", State::Ok, found);
    }
    check("metrics cache", State::Degraded, found)
        .means(
            "plain connections take slow-start thresholds over from earlier ones to the same host, ramp's do not: in \
             a `trial`, the arms differ by that too",
        )
        .mend("sysctl -w net.ipv4.tcp_no_metrics_save=1; ip tcp_metrics flush")
}

fn idle(facts: &Facts) -> Check {
    let value = facts.sysctl("net/ipv4/tcp_slow_start_after_idle").unwrap_or("not shown");
    let row = check("idle restart", State::Ok, format!("net.ipv4.tcp_slow_start_after_idle = {value}"));
    if value == "1" {
        row.means("after an idle period the window shrinks and grows again below its old threshold; start-up is not run again")
    } else {
        row
    }
}

#[cfg(test)]
mod tests {
    use super::super::{can_attach, diagnose};
    use super::*;

    /// A host on which everything works.
    fn sound() -> Facts {
        let sysctls = [
            ("net/core/bpf_jit_enable", "1"),
            ("net/core/optmem_max", "131072"),
            ("kernel/unprivileged_bpf_disabled", "2"),
            ("net/ipv4/tcp_congestion_control", "cubic"),
            ("net/ipv4/tcp_rmem", "4096 131072 6291456"),
            ("net/ipv4/tcp_wmem", "4096 16384 4194304"),
            ("net/ipv4/tcp_no_metrics_save", "1"),
            ("net/ipv4/tcp_slow_start_after_idle", "0"),
        ];
        Facts {
            release: "6.12.9-amd64".into(),
            btf: true,
            struct_ops: true,
            config: Some(OPTIONS.iter().map(|(name, _, _)| ((*name).to_owned(), "y".to_owned())).collect()),
            lockdown: Some("none".into()),
            capabilities: [NEEDED.as_slice(), &[Capability::CAP_SYS_ADMIN, Capability::CAP_SYS_NICE]]
                .concat(),
            sysctls: sysctls.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            kfuncs: KFUNCS.map(str::to_owned).into(),
            memlock_bytes: Some(8 << 20),
            pins: ("/sys/fs/bpf/ramp".into(), Some(true)),
            closed: Vec::new(),
            unrecorded: None,
            host_mounts: true,
            cgroup2: Some("/sys/fs/cgroup".into()),
            loads: vec![("best".into(), Ok(())), ("paced".into(), Ok(()))],
            state_bytes: 2_000,
        }
    }

    #[test]
    fn a_sound_host_has_nothing_to_mend() {
        let checks = diagnose(&sound());
        assert!(can_attach(&checks));
        for check in checks {
            assert_eq!((check.state, check.mend.as_str()), (State::Ok, ""), "{check:?}");
        }
    }

    /// What is broken, which check sees it, how bad it is, and a word of the remedy.
    type Case = (fn(&mut Facts), &'static str, State, &'static str);

    #[test]
    fn every_ailment_is_found_by_its_check_and_no_other_gets_worse() {
        let cases: [Case; 22] = [
            (
                |f| f.unrecorded = Some("ramp_best".into()),
                "default control",
                State::Missing,
                "tcp_congestion_control=cubic",
            ),
            (
                |f| f.closed.push("/run/ramp".into()),
                "directories",
                State::Missing,
                "install -d -o USER /run/ramp",
            ),
            (|f| f.release = "5.15.0".into(), "kernel", State::Missing, "6.1"),
            (|f| f.release = "6.1.0-28".into(), "kernel", State::Degraded, ""),
            (|f| f.btf = false, "BTF", State::Missing, "CONFIG_DEBUG_INFO_BTF"),
            (|f| f.struct_ops = false, "struct_ops", State::Missing, "CONFIG_BPF_JIT"),
            (|f| set(f, "net/core/bpf_jit_enable", "0"), "JIT", State::Missing, "bpf_jit_enable=1"),
            (|f| without(f, "BPF_JIT"), "configuration", State::Missing, "CONFIG_BPF_JIT"),
            (|f| without(f, "CGROUP_BPF"), "configuration", State::Degraded, "CONFIG_CGROUP_BPF"),
            (|f| f.lockdown = Some("confidentiality".into()), "lockdown", State::Missing, "lockdown="),
            (|f| f.kfuncs.clear(), "functions", State::Missing, "CONFIG_TCP_CONG_CUBIC"),
            (|f| drop_capability(f, Capability::CAP_PERFMON), "capabilities", State::Missing, "perfmon"),
            (|f| drop_capability(f, Capability::CAP_SYS_ADMIN), "CAP_SYS_ADMIN", State::Degraded, "root"),
            (|f| drop_capability(f, Capability::CAP_SYS_NICE), "CAP_SYS_NICE", State::Degraded, "root"),
            (|f| f.loads[1].1 = Err("no memory".into()), "programs", State::Degraded, "--verifier-log"),
            (|f| f.loads.clear(), "programs", State::Missing, "capabilities"),
            (|f| (f.pins.1, f.host_mounts) = (None, false), "BPF file system", State::Missing, "--pins"),
            (|f| f.cgroup2 = None, "control groups", State::Degraded, "mount -t cgroup2"),
            (|f| set(f, "net/core/optmem_max", "1500"), "socket memory", State::Degraded, "optmem_max"),
            (|f| set(f, "net/ipv4/tcp_congestion_control", "bbr"), "default control", State::Degraded, ""),
            (|f| set(f, "net/ipv4/tcp_wmem", "4096 16384 65536"), "tcp_wmem", State::Degraded, "tcp_wmem="),
            (
                |f| set(f, "net/ipv4/tcp_no_metrics_save", "0"),
                "metrics cache",
                State::Degraded,
                "no_metrics_save=1",
            ),
        ];
        for (ail, name, state, remedy) in cases {
            let mut facts = sound();
            ail(&mut facts);
            let checks = diagnose(&facts);
            let worst = checks.iter().filter(|check| check.name == name).max_by_key(|check| check.state);
            let worst = worst.expect("its check");
            assert_eq!(worst.state, state, "{worst:?}");
            assert!(worst.mend.contains(remedy), "{worst:?}");
            assert!(!worst.meaning.is_empty() || !worst.mend.is_empty(), "{worst:?}");
            assert_eq!(can_attach(&checks), state < State::Missing, "{worst:?}");
            let others = checks.iter().filter(|check| check.name != name);
            assert!(others.into_iter().all(|check| check.state == State::Ok), "{name}: {checks:?}");
        }
    }

    #[test]
    fn without_a_bpf_file_system_attaching_mounts_it_where_it_may() {
        let mut facts = sound();
        facts.pins.1 = Some(false);
        assert!(can_attach(&diagnose(&facts)));
        drop_capability(&mut facts, Capability::CAP_SYS_ADMIN);
        assert!(!can_attach(&diagnose(&facts)));
    }

    fn set(facts: &mut Facts, name: &str, value: &str) {
        facts.sysctls.insert(name.to_owned(), value.to_owned());
    }

    fn without(facts: &mut Facts, option: &str) {
        facts.config.as_mut().expect("it is shown").remove(option);
    }

    fn drop_capability(facts: &mut Facts, dropped: Capability) {
        facts.capabilities.retain(|capability| *capability != dropped);
    }
}
