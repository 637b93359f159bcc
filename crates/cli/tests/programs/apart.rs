//! Programs next to a busy loop, of a ramp that is killed, and of a user without privileges.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::{SERVER, compare, ready, with_word};
use crate::support::{Place, stderr};

/// Comparisons of a program with itself, and of these those that may say that it differs.
const ALIKE: (usize, usize) = (100, 5);

#[test]
#[ignore = "long: make programs-alike"]
fn identical_programs_beside_a_busy_loop_rarely_differ() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_alike");
    let same = format!("[same]\nserver = '{SERVER}'\nlistens = 'tcp'\n");
    place.write("same.toml", &same);
    let over = AtomicBool::new(false);
    let mut different = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        for number in 0..ALIKE.0 {
            let out = format!("out-{number}");
            let arguments = compare(&[
                "--programs",
                "same.toml",
                "--row",
                "python",
                "--row",
                "same",
                "--runs",
                "4",
                "--out",
                &out,
                "--json",
            ]);
            let output = place.patiently(&arguments);
            if !output.status.success() {
                over.store(true, Ordering::Relaxed);
                panic!("{}", stderr(&output));
            }
            let found: Value = serde_json::from_slice(&output.stdout).unwrap();
            let pair =
                found["pairs"].as_array().unwrap().iter().find(|pair| pair["metric"] == "download_time");
            let finding = pair.unwrap()["finding"].as_str().unwrap().to_owned();
            if ["lower", "higher"].contains(&finding.as_str()) {
                different.push((number, pair.unwrap()["ratio"].clone()));
            }
            let _ = writeln!(std::io::stderr(), "{number}: {finding}");
        }
        over.store(true, Ordering::Relaxed);
    });
    let _ = writeln!(
        std::io::stderr(),
        "{} of {} comparisons find a difference: {different:?}",
        different.len(),
        ALIKE.0
    );
    assert!(different.len() <= ALIKE.1, "{different:?}");
}

#[test]
fn nothing_outlives_a_ramp_that_is_killed() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_killed");
    // It leaves its process group and its session, and waits there: with its child, and its child's child.
    let stubborn = place.write(
        "stubborn.py",
        "import os, signal, sys, time\n\
         signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         if os.fork() == 0:\n  \
           os.setsid()\n  \
           os.fork()\n  \
           print('up', file=open(sys.argv[1], 'a'), flush=True)\n\
         while True:\n  time.sleep(1)\n",
    );
    let fifo = place.path("up");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let row = format!("a=python3 {} {}", stubborn.display(), fifo.display());
    let mut ramp = place.command(&compare(&["--row", &row, "--runs", "1"]));
    let mut ramp = ramp.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut up = BufReader::new(fs::File::open(&fifo).unwrap());
    let mut line = String::new();
    up.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    assert!(with_word("stubborn.py").len() >= 3);
    ramp.kill().unwrap();
    ramp.wait().unwrap();
    // The kernel ends them one after the other: the pipe's end is closed with the last that holds it.
    let left = (0..100_000).find(|_| {
        std::thread::yield_now();
        with_word("stubborn.py").is_empty()
    });
    assert!(left.is_some(), "{:?}", with_word("stubborn.py"));
}

/// The user of that name, everywhere.
const NOBODY: u32 = 65_534;

#[test]
fn somebody_without_privileges_plays_programs_in_a_user_namespace() {
    let obstacle =
        ["unshare", "setpriv", "mknod"].into_iter().find(|name| ready::program_path(name).is_none());
    let obstacle = obstacle.map(|missing| format!("{missing} is missing"));
    let Some(_alone) = ready() else { return };
    let Some(()) = ready::unobstructed(obstacle.as_deref()) else { return };
    let directory = std::env::temp_dir().join(format!("ramp-programs-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
    let program = directory.join("ramp");
    fs::copy(env!("CARGO_BIN_EXE_ramp"), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    // Everybody may open TUN devices there, as udev lets them, and whatever this machine's own device is like.
    let script = "mount -t tmpfs none /dev/net && mknod -m 666 /dev/net/tun c 10 200 && exec setpriv \"$@\"";
    let user = NOBODY.to_string();
    // A server that needs nothing of a home: the machine's Python may be in a user's home.
    let server = "a=/usr/bin/python3 -m http.server {port} --bind {address} --directory {dir}";
    let ramp = || {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            "--reuid",
            &user,
            "--regid",
            &user,
            "--clear-groups",
        ]);
        command.arg(&program).current_dir(&directory).env("COLUMNS", "400");
        command.args(compare(&["--row", server, "--runs", "1", "--out", "out"])).output().unwrap()
    };
    let mut output = ramp();
    for _ in 0..10 {
        if !stderr(&output).contains("refused") {
            break;
        }
        output = ramp();
    }
    let kept = fs::read_dir(directory.join("out/runs")).map_or(0, Iterator::count);
    fs::remove_dir_all(&directory).unwrap();
    let text = stderr(&output);
    if text.contains("does not let this user make") || text.contains("limit user.max_user_namespaces") {
        ready::unobstructed(Some("no user namespaces for this user"));
        return;
    }
    assert!(output.status.success() && kept == 1, "{text}");
}
