//! `--on program`: servers and clients as rows, well behaved and not.
#![cfg(target_os = "linux")]

mod apart;
#[path = "../../../linux/tests/support/ready.rs"]
mod ready;
#[path = "../support/mod.rs"]
mod support;
mod wire;

use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use support::{Place, said, stderr, words};

/// One at a time: runs in real time have the machine for themselves.
static ALONE: Mutex<()> = Mutex::new(());

/// The machine, if this user may emulate paths at all, and has the test's server.
fn ready() -> Option<MutexGuard<'static, ()>> {
    let python = ready::program_path("python3").is_none().then(|| "python3 is missing".to_owned());
    let obstacle = (!ready::root()).then(|| "not root".to_owned());
    ready::unobstructed(obstacle.or_else(ready::no_tun).or(python).as_deref())
        .map(|()| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

const PATH: [&str; 9] =
    ["--rate", "20mbit", "--rtt", "40ms", "--buffer", "1bdp", "--size", "300kB", "--exact"];
const SERVER: &str = "python3 -m http.server {port} --bind {address} --directory {dir}";

fn compare<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["compare", "--on", "program"], &PATH[..], more].concat()
}

fn runs(place: &Place, directory: &str) -> usize {
    fs::read_dir(place.path(directory).join("runs")).map_or(0, |runs| {
        runs.flatten().filter(|run| run.path().extension().is_some_and(|kind| kind == "json")).count()
    })
}

/// Processes whose command line has this word.
fn with_word(word: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| {
        let line = fs::read(process.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(word)).collect()
}

#[test]
fn a_server_is_a_row_with_what_the_path_saw_and_found_again() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_row");
    let server = format!("own={SERVER}");
    let arguments = compare(&["--row", "python", "--row", &server, "--runs", "2", "--out", "out", "--json"]);
    let output = place.patiently(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let arms = found["arms"].as_array().unwrap();
    assert_eq!(arms.len(), 2);
    for arm in arms {
        let metric = |id: &str| arm["metrics"][id]["mean"].as_f64().unwrap_or_else(|| panic!("{id}: {arm}"));
        // 300 kB at 19.3 Mbit/s take 124 ms, plus a handshake and several round trips of 40 ms.
        assert!((0.2..2.0).contains(&metric("download_time")), "{arm}");
        assert!(metric("queue_peak") > 0.0 && metric("unfinished") == 0.0);
        assert!(arm["steering"].as_str().is_none_or(|text| text.contains("http.server")));
    }
    let again = place.ramp(&arguments);
    assert!(stderr(&again).contains("4 of 4 runs were finished already"), "{}", stderr(&again));
    // Another command is another row, whatever it is called.
    let other = format!("own=exec {SERVER}");
    let arguments = compare(&["--row", "python", "--row", &other, "--runs", "2", "--out", "other"]);
    assert!(place.patiently(&arguments).status.success());
    let keys: Vec<Value> = fs::read_dir(place.path("other/runs"))
        .unwrap()
        .map(|run| serde_json::from_slice(&fs::read(run.unwrap().path()).unwrap()).unwrap())
        .collect();
    assert!(keys.iter().any(|run| run["steering"].as_str().unwrap().contains("exec python3")));
    assert!(keys.iter().all(|run| run["steering"].as_str().unwrap().contains("files=")));
}

#[test]
fn programs_and_kernel_rows_meet_on_the_same_draws() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_linux");
    let mut arguments = vec!["compare", "--on", "linux,program"];
    arguments.extend(PATH);
    arguments.extend(["-a", "reno", "--row", "python", "--runs", "2", "--out", "out", "--json"]);
    let output = place.patiently(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let both: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(both["sides"], serde_json::json!(["linux", "program"]));
    let rows: Vec<&str> =
        both["rows"].as_array().unwrap().iter().map(|row| row["label"].as_str().unwrap()).collect();
    assert!(rows.contains(&"reno") && rows.contains(&"python") && rows.len() == 2, "{rows:?}");
}

#[test]
fn what_programs_do_wrong_is_one_sentence_and_counts_for_nothing() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_wrong");
    let script = |name: &str, text: &str| place.write(name, text).to_string_lossy().into_owned();
    let short = script(
        "short.py",
        "import http.server, sys\n\
         class H(http.server.BaseHTTPRequestHandler):\n  \
           def do_GET(self):\n    \
             self.send_response(200); self.send_header('Content-Length', '1000'); self.end_headers()\n    \
             self.wfile.write(bytes(1000))\n\
         http.server.HTTPServer((sys.argv[1], int(sys.argv[2])), H).serve_forever()\n",
    );
    let ssh = script(
        "ssh.py",
        "import socket, sys\n\
         s = socket.create_server((sys.argv[1], int(sys.argv[2])))\n\
         while True:\n  \
           c, _ = s.accept(); c.sendall(b'SSH-2.0-no\\r\\n\\r\\n'); c.recv(1000)\n",
    );
    let mute = script(
        "mute.py",
        "import socket, sys\n\
         s = socket.create_server((sys.argv[1], int(sys.argv[2])))\n\
         while True:\n  \
           c, _ = s.accept(); c.recv(1000); c.close()\n",
    );
    let fork = script("fork.py", "import os, time\nif os.fork() == 0:\n  time.sleep(98.765)\n");
    let away = format!("a=python3 {fork}");
    let (short, ssh, mute) =
        [short, ssh, mute].map(|file| format!("a=python3 {file} {{address}} {{port}}")).into();
    let served = format!("a={SERVER}");
    let elsewhere = "a=python3 -m http.server 8000 --bind 127.0.0.1";
    let (other, udp) = (
        "python3 -c 'import sys, urllib.request as u; u.urlopen(\"{url}\").read()'",
        "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.3); \
         s.sendto(b\"x\", (\"{address}\", {port})); s.recv(9)'",
    );
    let cases: [(&str, Option<&str>, &[&str]); 21] = [
        ("a=true; nosuchserver", None, &["the shell does not find the server's command", "nosuchserver"]),
        ("a=exit 3", None, &["ended before it was ready with exit status 3"]),
        ("a=echo broken >&2; exit 1", None, &["exit status 1; its last words: broken"]),
        (&away, None, &["exit status 0; it must stay in the foreground"]),
        ("a=kill -9 $$", None, &["ended before it was ready with signal 9"]),
        ("a=sleep 98.765", None, &["after 10 s nothing listens at 10.77.0.1:8443; it listens nowhere"]),
        (elsewhere, None, &["nothing listens at 10.77.0.1:8443; it listens at 127.0.0.1:8000 (TCP)"]),
        (
            "a=yes 0123456789012345678901234567890123456789",
            None,
            &["wrote more than 16 MB to its standard output"],
        ),
        ("a=exec < /dev/tty", None, &["ended before it was ready", "it needs a terminal", "/dev/tty"]),
        (&short, None, &["the server sent 1000 bytes of 300000"]),
        (&ssh, None, &["the server does not speak HTTP/1.1"]),
        (&mute, None, &["the server closed the connection without an answer"]),
        (&served, Some("true; nosuchclient {url}"), &["the shell does not find the client's command"]),
        (
            &served,
            Some("echo no such object >&2; exit 7"),
            &["the client ended with exit status 7; its last words: no such object"],
        ),
        (&served, Some("kill -9 $$"), &["the client ended with signal 9; its last words: Killed"]),
        (
            &served,
            Some("yes 0123456789012345678901234567890123456789"),
            &["the client wrote more than 16 MB to its standard output"],
        ),
        (
            &ssh,
            Some(other),
            &[
                "the client ended with exit status 1",
                "the server speaks another protocol: what it sends first is neither HTTP nor TLS, but `SSH-2.0-",
            ],
        ),
        (&served, Some(udp), &["the client asked by UDP, and the server sent not one byte in answer"]),
        (&served, Some("exit 7"), &["exit status 7, and said nothing; the client sent not one packet"]),
        (&served, Some("stty sane"), &["the client ended with exit status 1", "it needs a terminal"]),
        (&served, Some("true"), &["the client ended well, but only 0 of 300000 bytes crossed the path"]),
    ];
    for (number, (row, client, expected)) in cases.into_iter().enumerate() {
        let out = format!("out-{number}");
        let client = client.map_or_else(Vec::new, |client| vec!["--client", client]);
        let output =
            place.ramp(&compare(&[&["--row", row, "--runs", "1", "--out", &out], &client[..]].concat()));
        let text = said(&output);
        assert_eq!(output.status.code(), Some(1), "{row}: {text}");
        for words in ["run a, seed 1 failed: row `a`:"].iter().chain(expected) {
            assert!(text.contains(words), "{row} does not say `{words}`: {text}");
        }
        assert_eq!(runs(&place, &out), 0, "{row} counts");
    }
    let limited = "[slow]\nserver = 'python3 -m http.server {port} --bind {address} --directory {dir}'\n\
                   client = 'sleep 98.765'\nlimit-s = 1\n";
    place.write("limited.toml", limited);
    let output =
        place.ramp(&compare(&words("--programs limited.toml --row slow --runs 1 --out out-limited")));
    let text = said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("row `slow`: the client had not ended after its limit of 1 s"), "{text}");
    assert_eq!(runs(&place, "out-limited"), 0);
    for word in [
        "sleep 98.765",
        "fork.py",
        "ssh.py",
        "mute.py",
        "short.py",
        "0123456789012345678901234567890123456789",
    ] {
        assert_eq!(with_word(word), [""; 0], "{word} is still there");
    }
}

#[test]
fn bad_requests_are_refused_before_anything_is_written() {
    let place = Place::new("programs_input");
    place.write("control.toml", &format!("[a]\nserver = '{SERVER}'\ncongestion-control = 'nosuch'\n"));
    place.write("absent.toml", "[a]\nserver = 'nosuchserver'\nneeds = { nosuchserver = 'a test' }\n");
    place.write("bad.toml", "[a]\nserver = 'x'\ncolour = 'red'\n");
    let server = format!("a={SERVER}");
    let cases: [(&[&str], &[&str]); 14] = [
        (
            &["compare", "--on", "program", "--row", "a=nosuchserver {port}"],
            &["row `a`: the shell does not find `nosuchserver`"],
        ),
        (
            &["compare", "--on", "program", "--row", "a=./nosuchserver"],
            &["does not find `./nosuchserver`, the server's"],
        ),
        (
            &["compare", "--on", "program", "--row", &server, "--client", "nosuchclient {url}"],
            &["row `a`: the shell does not find `nosuchclient`, the client's command"],
        ),
        (
            &["compare", "--on", "program", "--programs", "control.toml", "--row", "a"],
            &["row `a`: this kernel has no congestion control `nosuch`; it has ", "reno"],
        ),
        (
            &["compare", "--on", "program", "--programs", "absent.toml", "--row", "a"],
            &[
                "no row has all of its programs installed",
                "without a: `nosuchserver` is not installed (a test)",
            ],
        ),
        (&["compare", "--on", "program"], &["the rows that --row names", "caddy-h3"]),
        (&["compare", "--row", "python"], &["--row is for --on program"]),
        (&["compare", "--on", "program", "--row", "pythn"], &["no row `pythn`; did you mean `python`?"]),
        (&["compare", "--on", "program", "--row", "a={hots}"], &["no template `{hots}`", "{address}"]),
        (&["compare", "--on", "program", "--row", "best=x"], &["the name of an algorithm"]),
        (&["compare", "--on", "program", "--row", "reno=x"], &["the name of a congestion control"]),
        (&["compare", "--on", "program", "--row", "a=x", "--row", "a=y"], &["the row `a` twice"]),
        (
            &["compare", "--on", "program", "--programs", "bad.toml", "--row", "a"],
            &["bad.toml", "line 3", "unknown field `colour`", "`server`"],
        ),
        (&["run", "--on", "program", "geo-jitter"], &["program"]),
    ];
    for (arguments, expected) in cases {
        place.fails(2, arguments, expected);
    }
    assert!(!place.path("ramp-results").exists(), "something was written");
}

/// A gate's answer about programs is one, whatever it is, and its paths are twelve; what fails is no answer.
#[test]
fn a_gate_plays_two_programs_on_twelve_paths() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_gate");
    let asked = ["gate", "--a", "python", "--b", SERVER, "--pairs", "2", "--json", "--markdown", "gate.md"];
    let output = place.ramp(&asked);
    // Two pairs never suffice.
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let gate: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&gate["verdict"], &gate["pairs"]), (&"cannot_tell".into(), &2.into()), "{gate}");
    assert_eq!((&gate["old"], &gate["new"]), (&"python".into(), &"b".into()), "{gate}");
    let paths: std::collections::BTreeSet<&str> =
        gate["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
    assert!(paths.len() == 12 && paths.iter().all(|path| path.starts_with("league:fresh-")), "{gate}");
    assert!(place.read("gate.md").contains("league:fresh-"), "{}", place.read("gate.md"));
    if let Some(worst) = gate["worst"].as_object() {
        assert!(paths.contains(worst["path"].as_str().unwrap()), "{gate}");
    }
    for (words, expected) in [
        (&["--a", "python", "--b", "exit 3"][..], "ended before it was ready with exit status 3"),
        (&["--a", "python"], "--b is missing"),
        (&["--a", "python", "--b", "x {hots}"], "no template `{hots}`"),
        (&["hystart", "best", "--a", "python"], "--a"),
        (&["--b", "python"], "--a"),
        (&["--a", "python", "--b", "python", "--for", "soon"], "a number with s, m or h"),
    ] {
        let output = place.ramp(&[&["gate"], words].concat());
        let text = said(&output);
        assert!(output.status.code() == Some(2) && text.contains(expected), "{words:?}: {text}");
    }
}

/// The simulator's nearest rows stand for programs on neighbouring paths.
#[test]
fn how_far_an_answer_carries_is_played_by_the_nearest_rows() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_like");
    let row = |name: &str, before: &str, like: &str| {
        format!("[{name}]\nserver = '{before}{SERVER}'\nlike = '{like}'\n")
    };
    place.write("rows.toml", &(row("one", "", "slow_start") + &row("other", "exec ", "hystart")));
    let mut arguments = vec!["compare", "--on", "program"];
    arguments.extend(PATH.into_iter().filter(|word| *word != "--exact"));
    arguments.extend(words(
        "--uncertain path.rtt=20ms..80ms --programs rows.toml --row one --row other --runs 2 --out out",
    ));
    let output = place.patiently(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8(output.stdout).unwrap();
    let carries = |name: &str| {
        let line = table.lines().find(|line| line.starts_with(name));
        line.is_some_and(|line| line.contains(" % "))
    };
    assert!(table.contains("carries") && carries("one ") && carries("other "), "{table}");
}
