//! The commands for a live host: what they say, and with which exit code.
#![cfg(target_os = "linux")]

#[cfg(feature = "linux")]
#[path = "../../linux/tests/support/ready.rs"]
mod ready;
mod support;

#[cfg(not(feature = "linux"))]
#[test]
fn without_the_algorithms_for_the_kernel_the_commands_say_how_to_build_them() {
    use support::{Place, stderr};

    let place = Place::new("host_absent");
    for command in
        [&["attach", "best", "--scope", "system"][..], &["status"], &["detach"], &["doctor", "--json"]]
    {
        let output = place.ramp(command);
        assert_eq!(output.status.code(), Some(1), "{command:?}");
        assert!(stderr(&output).contains("--features linux"), "{command:?}: {}", stderr(&output));
    }
    let report = place.ramp(&["doctor", "--json"]).stdout;
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["can_attach"], false);
    let states = report["checks"].as_array().expect("checks").iter().map(|check| &check["state"]);
    let states: Vec<_> = states.collect();
    assert_eq!(states.len(), 6);
    // What no look at the host shows comes first: what this build itself cannot do, and how to get it.
    let build = &report["checks"][0];
    assert!(
        build["state"] == "missing"
            && build["meaning"].as_str().is_some_and(|text| text.contains("cannot attach"))
    );
    assert!(build["mend"].as_str().is_some_and(|text| text.contains("--features linux")), "{build}");
    assert!(states.iter().all(|state| *state == "ok" || *state == "missing"), "{states:?}");
    let text = String::from_utf8(place.ramp(&["doctor"]).stdout).expect("text");
    for name in [
        "this build",
        "cannot attach",
        "kernel",
        "BTF",
        "control groups",
        "capabilities",
        "build tools",
        "-> cargo",
    ] {
        assert!(text.contains(name), "{text}");
    }
}

#[cfg(feature = "linux")]
mod with_the_kernel {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};

    use serde_json::Value;

    use crate::ready::{program_path, unobstructed};
    use crate::support::{Place, stderr};

    #[test]
    fn bad_input_names_what_is_wrong_and_what_is_allowed() {
        let place = Place::new("host_input");
        let cases: [(&[&str], &[&str]); 21] = [
            (&["attach", "best"], &["--yes", "every new TCP connection of system", "cgroup"]),
            (&["attach", "best", "--scope", "route", "default"], &["--yes", "route default"]),
            (&["attach"], &["which algorithm", "best"]),
            (&["attach", "bset"], &["bset", "best"]),
            (&["attach", "ideal"], &["know its path"]),
            (&["attach", "best", "--scope", "host"], &["host", "cgroup PATH"]),
            (&["attach", "best", "--scope", "cgrp", "/x"], &["no scope `cgrp`", "did you mean `cgroup`"]),
            (&["attach", "best", "--scope", "netns"], &["which", "netns NAME"]),
            (&["attach", "best", "--scope", "netns", "no-such"], &["no-such"]),
            (&["attach", "--scope", "system", "best", "paced"], &["one algorithm"]),
            (&["attach", "best", "--scope", "cgroup", "/no/such"], &["/no/such"]),
            (&["attach", "best", "--scope", "cgroup", "/tmp"], &["/tmp", "version 2"]),
            (&["attach", "best", "--scope", "route", "ten"], &["ten", "10.0.0.0/8"]),
            (&["attach", "best", "--set", "threshold=1"], &["threshold=1", "algorithm.best."]),
            (&["attach", "best", "--set", "algorithm.best.threshold=2 potatoes"], &["potatoes"]),
            (
                &["attach", "best", "--set", "algorithm.paced.initial_train=1"],
                &["paced", "not the algorithm"],
            ),
            (&["detach", "--scope", "nowhere"], &["nowhere", "system"]),
            (&["detach", "--unit", ""], &["--unit", "1 to 255 bytes"]),
            (&["detach", "--unit", "best", "--scope", "system"], &["--unit", "--scope"]),
            (&["attach", "best", "--yes", "--unit", "a\u{1b}[2J"], &["--unit", "1 to 255 bytes"]),
            (&["status", "--jsno"], &["--jsno"]),
        ];
        let before = place.files(".");
        for (arguments, expected) in cases {
            place.fails(2, arguments, expected);
        }
        assert_eq!(place.files("."), before);
    }

    #[test]
    fn doctor_says_in_json_and_by_its_exit_code_whether_attaching_can_work() {
        let place = Place::new("host_doctor");
        let output = place.ramp(&["doctor", "--json"]);
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let works = report["can_attach"].as_bool().expect("it says");
        assert_eq!(output.status.code(), Some(i32::from(!works)), "{}", stderr(&output));
        let checks = report["checks"].as_array().expect("checks");
        let missing = checks.iter().any(|check| check["state"] == "missing");
        assert_eq!(missing, !works);
        for check in checks {
            let text = |key: &str| check[key].as_str().expect("text").to_owned();
            assert!(["ok", "degraded", "missing"].contains(&text("state").as_str()), "{check}");
            assert!(!text("check").is_empty() && !text("found").is_empty(), "{check}");
            assert!(
                text("state") == "ok" || !text("meaning").is_empty() || !text("mend").is_empty(),
                "{check}"
            );
        }
        assert_eq!(place.ramp(&["doctor"]).status.code(), output.status.code());
    }

    #[test]
    fn doctor_says_what_a_kernel_without_btf_lacks() {
        let Some(()) = crate::ready::ready() else { return };
        let hide = "mount -t tmpfs none /sys/kernel/btf && exec \"$0\" doctor --json";
        let output = Command::new("unshare")
            .args(["--mount", "sh", "-c", hide, env!("CARGO_BIN_EXE_ramp")])
            .output()
            .expect("unshare");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["can_attach"], false);
        let checks = report["checks"].as_array().expect("checks");
        for (name, mend) in [
            ("BTF", "CONFIG_DEBUG_INFO_BTF=y"),
            ("struct_ops", "see BTF"),
            ("functions", "CONFIG_TCP_CONG_CUBIC"),
        ] {
            let check = checks.iter().find(|check| check["check"] == name).expect("its check");
            assert_eq!(check["state"], "missing", "{check}");
            assert!(check["mend"].as_str().expect("text").contains(mend), "{check}");
            assert!(stderr(&output).contains(name), "{}", stderr(&output));
        }
    }

    #[test]
    fn doctor_tells_nobody_which_capabilities_are_missing() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_nobody");
        let executable = live.root.join("ramp");
        fs::copy(env!("CARGO_BIN_EXE_ramp"), &executable).expect("a copy that nobody may read");
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]);
        let output = command.arg(&executable).args(["doctor", "--json"]).output().expect("setpriv");
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("checks");
        let capabilities = checks.iter().find(|check| check["check"] == "capabilities").expect("its check");
        assert_eq!(capabilities["state"], "missing");
        for name in ["CAP_BPF", "CAP_NET_ADMIN", "CAP_PERFMON"] {
            assert!(capabilities["found"].as_str().expect("text").contains(name), "{capabilities}");
        }
        assert!(stderr(&output).contains("capabilities"), "{}", stderr(&output));
    }

    #[test]
    fn attach_status_and_detach_from_the_command_line() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_live");
        let scope = ["--scope", "netns", &live.netns];
        let attach = |more: &[&str]| live.succeed(&[&["attach", "best"], &scope[..], more].concat());
        let before = live.default();
        assert!(live.succeed(&["status"]).contains("Nothing is attached"));

        let said = attach(&["--set", "algorithm.best.threshold=2MB/s"]);
        let name = said.split(' ').next().expect("its name").to_owned();
        assert!(said.contains(&format!("Before: {before}.")), "{said}");
        assert_eq!(live.default(), name);
        assert!(
            attach(&["--set", "algorithm.best.threshold=2MB/s"]).contains("already; nothing has changed")
        );

        let status: Value = serde_json::from_str(&live.succeed(&["status", "--json"])).expect("JSON");
        let first = &status[0];
        assert_eq!(first["scope"], format!("netns {}", live.netns));
        assert_eq!((first["in_force"].as_bool(), first["algorithm"].as_str()), (Some(true), Some("best")));
        assert_eq!(first["settings"]["threshold"], 2_000_000);
        assert_eq!(
            (&first["congestion_control"], &first["replaced"]),
            (&name.clone().into(), &before.clone().into())
        );
        assert_eq!(
            (&first["counters"]["opened"], &first["counters"]["exits"]["bandwidth"]),
            (&0.into(), &0.into())
        );
        let text = live.succeed(&["status"]);
        for word in [name.as_str(), "in force", "threshold=2000000", "UTC", before.as_str()] {
            assert!(text.contains(word), "{word}: {text}");
        }

        assert!(attach(&[]).contains("takes over on"));
        let said = live.succeed(&[&["detach"], &scope[..]].concat());
        assert!(said.contains(&format!("restored: {before}")), "{said}");
        assert_eq!(live.default(), before);
        assert!(live.succeed(&["detach"]).contains("Nothing is attached"));
        let again = live.ramp(&[&["detach"], &scope[..]].concat());
        assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
        assert!(stderr(&again).contains("nothing is attached"), "{}", stderr(&again));
    }

    #[test]
    fn what_is_attached_has_its_own_modes_whatever_the_umask() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_umask");
        for umask in ["000", "077"] {
            let ramp = format!(
                "umask {umask}; exec {} attach best --scope netns {} --pins {p}/bpf/ramp --records {p}/records",
                env!("CARGO_BIN_EXE_ramp"),
                live.netns,
                p = live.root.display()
            );
            run("sh", &["-c", &ramp]);
            let listed = |path: &str| {
                let path = live.root.join(path);
                let all = run("find", &[&path.to_string_lossy(), "-printf", "%y %m %f\n"]);
                all.lines().map(str::to_owned).collect::<Vec<_>>()
            };
            for line in listed("records").iter().chain(&listed("bpf/ramp")) {
                let (kind, rest) = line.split_once(' ').expect("a kind");
                let mode = rest.split(' ').next().expect("a mode");
                let wanted = match (kind, rest) {
                    ("d", _) => "755",
                    (_, rest) if rest.ends_with(" lock") => "600",
                    (_, rest) if Path::new(rest).extension().is_some_and(|extension| extension == "json") => {
                        "644"
                    }
                    // Pins are as the kernel makes them; their directories are root's.
                    _ => mode,
                };
                assert_eq!(mode, wanted, "umask {umask}: {line}");
            }
            live.succeed(&["detach"]);
        }
    }

    #[test]
    fn what_was_done_is_done_even_if_nobody_can_be_told() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_full");
        let before = live.default();
        let full = |words: &[&str]| {
            let mut command = live.command(words);
            command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").expect("the device"));
            let output = command.output().expect("ramp");
            assert_eq!(output.status.code(), Some(0), "{words:?}: {}", stderr(&output));
            stderr(&output)
        };
        let said = full(&["attach", "best", "--scope", "netns", &live.netns]);
        assert!(said.contains(&format!("is attached to netns {}", live.netns)), "{said}");
        assert_ne!(live.default(), before);
        let said = full(&["detach"]);
        assert!(said.contains(&format!("restored: {before}")), "{said}");
        assert_eq!(live.default(), before);
    }

    #[test]
    fn what_a_unit_has_attached_goes_with_the_unit() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_unit_of");
        let before = live.default();
        let scope = ["--scope", "netns", &live.netns];
        live.succeed(&[&["attach", "best", "--unit", "shop"], &scope[..]].concat());
        let status = live.succeed(&["status"]);
        assert!(status.lines().any(|line| line.split_whitespace().eq(["unit", "shop"])), "{status}");
        let status: Value = serde_json::from_str(&live.succeed(&["status", "--json"])).expect("JSON");
        assert_eq!(status[0]["unit"], "shop");
        assert_eq!(live.succeed(&["detach", "--unit", "other"]), "Nothing is attached by unit other.\n");
        assert_ne!(live.default(), before);
        assert!(live.succeed(&["detach", "--unit", "shop"]).contains(&format!("restored: {before}")));
        assert_eq!(live.default(), before);
        live.succeed(&["detach", "--unit", "shop"]);
    }

    #[test]
    fn a_second_service_does_not_take_the_place_of_the_first() {
        let Some(()) = crate::ready::ready() else { return };
        let live = Live::new("host_second");
        let scope = ["--scope", "netns", &live.netns, "--no-replace"];
        live.succeed(&[&["attach", "best"], &scope[..]].concat());
        let name = live.default();
        assert!(live.succeed(&[&["attach", "best"], &scope[..]].concat()).contains("nothing has changed"));
        let refused = live.ramp(&[&["attach", "hystart"], &scope[..]].concat());
        assert_eq!(refused.status.code(), Some(1), "{}", stderr(&refused));
        assert!(stderr(&refused).contains(&format!("{name} is attached")), "{}", stderr(&refused));
        assert_eq!(live.default(), name);
        live.succeed(&["detach"]);
    }

    #[test]
    fn names_and_records_of_others_command_no_terminal() {
        let mounts = fs::read_to_string("/proc/mounts").expect("mounts");
        let mut mounts = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let cgroup2 = mounts.find(|words| words[2] == "cgroup2").map(|words| PathBuf::from(words[1]));
        let Some(()) = crate::ready::ready()
            .and_then(|()| unobstructed(cgroup2.is_none().then_some("no cgroup2 is mounted")))
        else {
            return;
        };
        let live = Live::new("host_escape");
        let group = format!("ramp-{}-\x1b]0;owned\x07", std::process::id());
        let group = cgroup2.expect("it is mounted").join(group);
        fs::create_dir(&group).expect("a control group");
        let path = group.to_string_lossy().into_owned();
        let scope = ["--scope", "cgroup", &path];
        let mut said = live.succeed(&[&["attach", "best"], &scope[..]].concat());
        said += &live.succeed(&["status"]);
        said += &live.succeed(&["status", "--json"]);
        // A record's date may be anything, and older versions had nothing else.
        let record = fs::read_dir(live.root.join("records")).expect("records").flatten().map(|e| e.path());
        for file in record.filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
            let text = fs::read_to_string(&file).expect("a record").replace("since_boot_s", "since");
            let (head, tail) = text.split_once("\"since_s\": ").expect("its age");
            let rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
            fs::write(&file, format!("{head}\"since_s\": {}{rest}", u64::MAX)).expect("a record");
        }
        let status = live.succeed(&["status"]);
        assert!(status.contains("584554051223-11-09"), "{status}");
        said += &status;
        said += &live.succeed(&[&["detach"], &scope[..]].concat());
        fs::remove_dir(&group).expect("it is empty");
        let gone = live.ramp(&[&["detach"], &scope[..]].concat());
        assert_eq!(gone.status.code(), Some(2));
        said += &stderr(&gone);
        assert!(
            !said.contains('\x1b') && !said.contains('\x07') && said.contains("u{1b}]0;owned"),
            "{said:?}"
        );
    }

    #[test]
    fn the_systemd_unit_is_well_formed() {
        let Some(()) =
            unobstructed(program_path("systemd-analyze").is_none().then_some("no systemd-analyze"))
        else {
            return;
        };
        let place = Place::new("host_unit");
        let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/ramp-attach@.service");
        let text =
            fs::read_to_string(unit).expect("the unit").replace("/usr/bin/ramp", env!("CARGO_BIN_EXE_ramp"));
        let verify = |text: &str| {
            let unit = place.write("ramp-attach@best.service", text);
            let output = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(unit).output();
            let output = output.expect("systemd-analyze");
            (output.status.success(), stderr(&output))
        };
        let (well_formed, said) = verify(&text);
        assert!(well_formed && !said.contains("ramp-attach"), "{said}");
        let (_, said) = verify(&text.replace("RemainAfterExit=", "RemainAfterExtra="));
        assert!(said.contains("RemainAfterExtra"), "systemd-analyze sees nothing: {said}");
    }

    /// Names are the kernel's and records each directory's own, so two may choose the same name.
    #[test]
    fn replacements_at_once_each_find_a_free_name() {
        let Some(()) = crate::ready::ready() else { return };
        let replaced = |number: u32| {
            let live = Live::new(&format!("at_once_{number}"));
            let before = live.default();
            for threshold in 1..=4 {
                let setting = format!("algorithm.best.threshold={threshold}MB/s");
                let said =
                    live.succeed(&["attach", "best", "--scope", "netns", &live.netns, "--set", &setting]);
                assert_eq!(live.default(), said.split(' ').next().expect("its name"));
            }
            live.succeed(&["detach"]);
            assert_eq!(live.default(), before);
        };
        std::thread::scope(|threads| {
            let all: Vec<_> = (0..4).map(|number| threads.spawn(move || replaced(number))).collect();
            for thread in all {
                thread.join().expect("each finds its name");
            }
        });
    }

    /// A namespace, a BPF file system and a directory of records of a test's own.
    struct Live {
        root: PathBuf,
        netns: String,
    }

    impl Live {
        fn new(name: &str) -> Self {
            let netns = format!("rampc{}-{name}", std::process::id());
            let live = Self { root: Path::new("/run").join(&netns), netns };
            fs::create_dir_all(live.root.join("bpf")).expect("a mount point");
            run("mount", &["-t", "bpf", "bpf", &live.root.join("bpf").to_string_lossy()]);
            run("ip", &["netns", "add", &live.netns]);
            live
        }

        fn ramp(&self, arguments: &[&str]) -> Output {
            self.command(arguments).output().expect("ramp")
        }

        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ramp"));
            command.args(arguments).env_remove("COLUMNS").env_remove("NO_COLOR");
            command
                .arg("--pins")
                .arg(self.root.join("bpf/ramp"))
                .arg("--records")
                .arg(self.root.join("records"));
            command
        }

        fn succeed(&self, arguments: &[&str]) -> String {
            let output = self.ramp(arguments);
            assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
            String::from_utf8(output.stdout).expect("text")
        }

        fn default(&self) -> String {
            let name = "net.ipv4.tcp_congestion_control";
            run("ip", &["netns", "exec", &self.netns, "sysctl", "-n", name]).trim().to_owned()
        }
    }

    impl Drop for Live {
        fn drop(&mut self) {
            let _ = Command::new("ip").args(["netns", "del", &self.netns]).output();
            let _ = Command::new("umount").arg(self.root.join("bpf")).output();
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn run(program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program).args(arguments).output().expect(program);
        assert!(output.status.success(), "{program} {arguments:?}: {}", stderr(&output));
        String::from_utf8(output.stdout).expect("text")
    }
}
