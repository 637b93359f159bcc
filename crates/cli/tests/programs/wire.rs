//! What the path sees of programs.

use serde_json::Value;

use super::{SERVER, compare, ready, said};
use crate::support::{Place, stderr};

fn only_run(place: &Place, directory: &str) -> Value {
    let all = place.files(&format!("{directory}/runs"));
    let mut runs = all.iter().filter_map(|(_, bytes)| serde_json::from_slice::<Value>(bytes).ok());
    let run = runs.find(|run| run["metrics"].is_object()).expect("a run");
    assert!(runs.all(|other| !other["metrics"].is_object()), "two runs in {directory}");
    run
}

/// Marks that a sender would let the path set, several connections, and UDP that leaves in bursts of the kernel's making.
#[test]
fn the_path_sees_whatever_programs_speak() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_speak");
    place.write(
        "bursts.py",
        "import socket, sys, time\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         s.setsockopt(socket.SOL_UDP, 103, 1200)\n\
         s.bind((sys.argv[1], int(sys.argv[2])))\n\
         _, client = s.recvfrom(100)\n\
         left = int(sys.argv[3])\n\
         while left > 0:\n  \
           s.sendto(bytes(12000), client); left -= 12000; time.sleep(0.01)\n\
         time.sleep(60)\n",
    );
    place.write(
        "hears.py",
        "import socket, sys\n\
         s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         s.sendto(b'x', (sys.argv[1], int(sys.argv[2])))\n\
         left = int(sys.argv[3])\n\
         while left > 0:\n  left -= len(s.recv(2000))\n",
    );
    place.write(
        "rows.toml",
        "[marked]\n\
         server = 'python3 -m http.server {port} --bind {address} --directory {dir}'\n\
         client = 'echo 1 > /proc/sys/net/ipv4/tcp_ecn; exec python3 -c \"import urllib.request as u; u.urlopen(\\\"{url}\\\").read()\"'\n\
         [several]\n\
         server = 'python3 -m http.server {port} --bind {address} --directory {dir}'\n\
         client = 'python3 -c \"import urllib.request as u; [u.urlopen(\\\"{url}\\\").read() for _ in range(3)]\"'\n\
         [bursts]\n\
         server = 'python3 bursts.py {address} {port} {bytes}'\n\
         client = 'python3 hears.py {address} {port} {bytes}'\n\
         listens = 'udp'\n\
         ",
    );
    for row in ["marked", "several", "bursts"] {
        let out = format!("out-{row}");
        let arguments = compare(&["--programs", "rows.toml", "--row", row, "--runs", "1", "--out", &out]);
        let output = place.patiently(&arguments);
        assert!(output.status.success(), "{row}: {}", stderr(&output));
    }
    let wire = |row: &str, what: &str| {
        let run = only_run(&place, &format!("out-{row}"));
        run["emulation"]["wire"][what].as_u64().unwrap_or_else(|| panic!("{row}: {run}"))
    };
    // 300 kB are more than 200 packets, of TCP with marks all but the handshake's.
    assert!(wire("marked", "ecn_packets") > 200 && wire("several", "ecn_packets") == 0);
    assert_eq!(["marked", "several", "bursts"].map(|row| wire(row, "connections")), [1, 3, 1]);
    assert_eq!(wire("bursts", "burst_packets"), 10);
}

/// The same server and client over both versions of IP, as ramp's own client has it and as another one.
#[test]
fn ipv6_changes_nothing_but_its_headers() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_ipv6");
    let client = "python3 -c \"import urllib.request as u; u.urlopen(\\\"{url}\\\").read()\"";
    let row = |name: &str, more: &str| format!("[{name}]\nserver = '{SERVER}'\n{more}\n");
    let clients = format!("client = '{client}'");
    let rows = row("four", "")
        + &row("six", "ipv6 = true")
        + &row("other-four", &clients)
        + &row("other-six", &format!("{clients}\nipv6 = true"));
    place.write("rows.toml", &rows);
    let rows = ["four", "six", "other-four", "other-six"];
    let named = rows.iter().flat_map(|row| ["--row", row]);
    let arguments: Vec<&str> = compare(&["--programs", "rows.toml", "--runs", "3", "--out", "out", "--json"])
        .into_iter()
        .chain(named)
        .collect();
    let output = place.patiently(&arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let seconds = |row: &str| {
        let arm = found["arms"].as_array().unwrap().iter().find(|arm| arm["label"] == row);
        let mean = arm.and_then(|arm| arm["metrics"]["download_time"]["mean"].as_f64());
        mean.unwrap_or_else(|| panic!("{row}: {found}"))
    };
    for (four, six) in [("four", "six"), ("other-four", "other-six")] {
        // Twenty bytes of 1500 are 1.4 %; the rest is this machine's chance.
        let ratio = seconds(six) / seconds(four);
        assert!((0.93..1.1).contains(&ratio), "{ratio}: {found}");
    }
    let wrong = ["--row", "a=sleep {address}:{port}", "--ipv6", "--runs", "1", "--out", "wrong"];
    let output = place.ramp(&compare(&wrong));
    let text = said(&output);
    assert!(output.status.code() == Some(2) && text.contains("write {host} for {address}"), "{text}");
    let small = ["--row", "python", "--ipv6", "--set", "sender.mss=1000 B", "--runs", "1", "--out", "wrong"];
    let output = place.ramp(&compare(&small));
    let text = said(&output);
    assert!(output.status.code() == Some(2) && text.contains("IPv6 needs 1280 at least"), "{text}");
    assert!(!place.path("wrong").exists(), "something was written");
}

/// Queues that mark do so to packets of senders that ask for it, whatever version of IP carries them; others they drop.
#[test]
fn links_mark_instead_of_dropping_where_a_sender_lets_them() {
    let Some(_alone) = ready() else { return };
    let place = Place::new("programs_ecn");
    let row = |name: &str, more: &str| {
        format!("[{name}]\nserver = '{SERVER}'\ncongestion-control = 'cubic'\n{more}\n")
    };
    place.write("rows.toml", &(row("four", "") + &row("six", "ipv6 = true")));
    let path = "size = '3 MB'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\nbuffer = '8 bdp'\n\
                queue = { kind = 'codel', ecn = true }\n";
    place.write("path.toml", path);
    let play = |row: &str, ecn: &str, out: &str| {
        let mut arguments =
            vec!["compare", "--on", "program", "--programs", "rows.toml", "--row", row, "path.toml"];
        arguments.extend(["--exact", "--set", ecn, "--runs", "1", "--out", out]);
        let output = place.patiently(&arguments);
        assert!(output.status.success(), "{row}: {}", stderr(&output));
        let run = only_run(&place, out);
        let wire = |what: &str| run["emulation"]["wire"][what].as_u64().unwrap_or_else(|| panic!("{run}"));
        let dropped = run["metrics"]["lost_packets"].as_f64().unwrap_or_else(|| panic!("{run}"));
        (wire("ecn_packets"), wire("marked_packets"), dropped)
    };
    for row in ["four", "six"] {
        let (capable, marked, dropped) = play(row, "sender.ecn=true", &format!("on-{row}"));
        assert!(capable > 2000 && marked > 0 && dropped == 0.0, "{row}: {capable} {marked} {dropped}");
        let (capable, marked, dropped) = play(row, "sender.ecn=false", &format!("off-{row}"));
        assert!(capable == 0 && marked == 0 && dropped > 0.0, "{row}: {capable} {marked} {dropped}");
    }
    // The same of the kernel's own rows.
    let lost = |ecn: &str, out: &str| {
        let arguments = ["compare", "--on", "linux", "-a", "reno", "path.toml", "--exact", "--set", ecn];
        let output = place.patiently(&[&arguments[..], &["--runs", "1", "--out", out]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        only_run(&place, out)["metrics"]["lost_packets"].as_f64()
    };
    assert_eq!(lost("sender.ecn=true", "kernel-on"), Some(0.0));
    assert!(lost("sender.ecn=false", "kernel-off").is_some_and(|lost| lost > 0.0));
}
