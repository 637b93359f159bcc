//! Records made by others.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};

use crate::bench::{Bench, finish, shell, text};
use crate::tally::Tally;

const NOBODY: u32 = 65_534;

/// Makes something at a path; the other is a file that must stay as it is.
type Plant = fn(&Path, &Path);

/// What is no record of ours in its place: the copy next to the pins must do.
const PLANTS: [(&str, Plant); 8] = [
    ("a pipe", |path, _| drop(shell(&format!("mkfifo {}", path.display())))),
    ("a link to a file", |path, victim| symlink(victim, path).expect("a link")),
    ("a link without an end", |path, _| symlink("/dev/zero", path).expect("a link")),
    ("a socket", |path, _| drop(UnixListener::bind(path).expect("a socket"))),
    ("a long file", |path, _| fs::write(path, vec![b' '; 1 << 20]).expect("a file")),
    ("an empty file", |path, _| fs::write(path, "").expect("a file")),
    ("a file of everybody's", |path, _| {
        fs::write(path, "{}").expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("its owner may");
    }),
    ("a file of nobody's", |path, _| {
        fs::write(path, "{}").expect("a file");
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    }),
];

pub(crate) fn records(bench: &Bench, rng: &mut Pcg64Mcg, tally: &mut Tally) {
    let victim = bench.root.join("victim");
    fs::write(&victim, "whole").expect("a file");
    while tally.goes_on() {
        for (name, plant) in PLANTS {
            if tally.enough() {
                return;
            }
            let outcome = attached(bench).and_then(|record| {
                fs::remove_file(&record).map_err(|error| error.to_string())?;
                plant(&record, &victim);
                looked_at(bench)?;
                bench.restored()
            });
            tally.count("planted", 1);
            tally.tried(&format!("{name} as the record"), outcome.and_then(|()| whole(&victim)));
        }
        for _ in 0..20 {
            if tally.enough() {
                return;
            }
            let outcome = attached(bench).and_then(|record| {
                let own = fs::read(&record).map_err(|error| error.to_string())?;
                let changed = changed(&own, rng);
                fs::write(&record, &changed).map_err(|error| error.to_string())?;
                let judged = looked_at(bench).and_then(|()| bench.run(&["detach"]).map(drop));
                // It may have said what was not so, and been believed. Its own record undoes the attachment.
                if record.exists() || bench.pins().join(record.file_stem().expect("a key")).exists() {
                    fs::write(&record, &own).map_err(|error| error.to_string())?;
                    bench.run(&["detach"])?;
                }
                shell(&format!(
                    "ip netns exec {} sysctl -qw net.ipv4.tcp_congestion_control=reno",
                    bench.netns
                ));
                let _ = fs::remove_dir_all(bench.records());
                judged?;
                bench.restored().map_err(|error| format!("{error}\nafter {}", text(&changed)))
            });
            tally.count("changed", 1);
            tally.tried("a changed record", outcome.and_then(|()| whole(&victim)));
        }
    }
}

/// The record of a new attachment.
fn attached(bench: &Bench) -> Result<PathBuf, String> {
    let output = finish(bench.attach("best", &bench.scopes()[1]).spawn().expect("nsenter"), &["attach"])?;
    if !output.status.success() {
        return Err(format!("attach: {}", text(&output.stderr)));
    }
    let mut files = fs::read_dir(bench.records()).expect("records").flatten().map(|entry| entry.path());
    files.find(|path| path.extension().is_some_and(|e| e == "json")).ok_or_else(|| "no record".to_owned())
}

/// Every reader, none of which hangs, panics, or passes control characters on.
fn looked_at(bench: &Bench) -> Result<(), String> {
    for arguments in [&["status"][..], &["status", "--json"], &["export"], &["watch", "--once"]] {
        let output = bench.run(arguments)?;
        let said = [output.stdout, output.stderr].concat();
        if said.iter().any(|byte| byte.is_ascii_control() && *byte != b'\n') {
            return Err(format!("{arguments:?} passes control characters on: {}", text(&said)));
        }
    }
    Ok(())
}

fn whole(victim: &Path) -> Result<(), String> {
    let now = text(&fs::read(victim).expect("the victim"));
    if now == "whole" { Ok(()) } else { Err(format!("the file behind the link is now {now:?}")) }
}

/// A value of it changed, or some of its bytes.
fn changed(own: &[u8], rng: &mut Pcg64Mcg) -> Vec<u8> {
    if rng.random_bool(0.6)
        && let Ok(mut record) = serde_json::from_slice::<Value>(own)
    {
        let paths = leaves(&record, "");
        let path = &paths[rng.random_range(0..paths.len())];
        *record.pointer_mut(path).expect("it is there") = hostile(rng);
        return serde_json::to_vec(&record).expect("JSON");
    }
    let mut bytes = own.to_vec();
    for _ in 0..rng.random_range(1..8) {
        let at = rng.random_range(0..bytes.len().max(1));
        match rng.random_range(0..4) {
            _ if bytes.is_empty() => bytes.push(b'{'),
            0 => bytes[at] ^= 1 << rng.random_range(0..8),
            1 => bytes.truncate(at),
            2 => bytes.insert(at, rng.random()),
            _ => drop(bytes.remove(at)),
        }
    }
    bytes
}

fn leaves(value: &Value, path: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| leaves(value, &format!("{path}/{name}"))).collect()
        }
        Value::Array(all) if !all.is_empty() => all
            .iter()
            .enumerate()
            .flat_map(|(index, value)| leaves(value, &format!("{path}/{index}")))
            .collect(),
        _ => vec![path.to_owned()],
    }
}

fn hostile(rng: &mut Pcg64Mcg) -> Value {
    let values = [
        json!(null),
        json!(0),
        json!(-1),
        json!(u64::MAX),
        json!(1e300),
        json!(""),
        json!("../../../etc/passwd"),
        json!("/dev/zero"),
        json!("bbr"),
        json!("no_such_control"),
        json!("\u{1b}[2J\u{7}\r\nroot"),
        json!("x".repeat(20_000)),
        json!([[[[[[]]]]]]),
        json!({ "a": [1, 2, 3] }),
        json!(vec![u64::MAX; 500]),
    ];
    values[rng.random_range(0..values.len())].clone()
}
