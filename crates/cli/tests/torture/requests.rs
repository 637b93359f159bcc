//! Everybody who can connect to the exporter.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use std::{fs, io, thread};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use crate::bench::{Bench, finish, shell, text};
use crate::tally::Tally;

const PATIENCE: Duration = Duration::from_secs(20);
/// Resident, in kB: the command itself takes eight.
const MEMORY_KB: u64 = 64 << 10;
const SCRAPE: &str = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";

pub(crate) fn requests(bench: &Bench, rng: &mut Pcg64Mcg, tally: &mut Tally) {
    let port: u16 = 9641;
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let arguments = ["export", "--listen", &address.to_string()];
    let mut child = bench.command(&arguments).spawn().expect("nsenter");
    let process = child.id();
    // It is there when it answers.
    let scrape = || bench.within("", || answer(address, SCRAPE.as_bytes()));
    while scrape().is_err() {
        if child.try_wait().expect("its state").is_some() {
            let said = finish(child, &arguments).map(|output| text(&output.stderr));
            return tally.tried("the exporter's start", Err(said.unwrap_or_else(|error| error)));
        }
    }
    while tally.goes_on() {
        let all: Vec<_> = (0..40).map(|_| (request(rng), rng.random_bool(0.5))).collect();
        tally.count("requests", all.len() as u64);
        let held = bench.within("", || {
            thread::scope(|scope| {
                let mut held = Vec::new();
                for (request, answered) in &all {
                    if *answered {
                        // Whatever it is: the server closes.
                        scope.spawn(|| drop(answer(address, request)));
                    } else if let Ok(mut stream) = TcpStream::connect(address) {
                        let _ = stream.set_write_timeout(Some(Duration::from_millis(50)));
                        let _ = stream.write_all(request);
                        held.push(stream);
                    }
                }
                held
            })
        });
        let outcome = scrape().map_err(|error| format!("a scrape: {error}")).and_then(|said| {
            let good = said.starts_with("HTTP/1.1 200 ") && said.contains("# TYPE ramp_attached gauge");
            if good { Ok(()) } else { Err(format!("a scrape is answered {said}")) }
        });
        let memory = memory(process);
        tally.most("kB at most", memory);
        let outcome = outcome.and_then(|()| {
            if memory < MEMORY_KB { Ok(()) } else { Err(format!("it has taken {memory} kB")) }
        });
        tally.tried("a scrape beside 40 others", outcome);
        drop(held);
    }
    let _held: Vec<_> =
        bench.within("", || (0..30).filter_map(|_| TcpStream::connect(address).ok()).collect());
    shell(&format!("kill -INT {process}"));
    let ended = finish(child, &arguments);
    tally.tried(
        "Ctrl-C",
        ended.and_then(|output| {
            if output.status.success() { Ok(()) } else { Err(format!("it ends with {}", output.status)) }
        }),
    );
}

/// Sends it all, and reads until the server closes.
fn answer(address: SocketAddr, request: &[u8]) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let sent = stream.write_all(request);
    let mut said = Vec::new();
    let read = stream.read_to_end(&mut said);
    if said.is_empty() {
        sent?;
        read?;
    }
    Ok(String::from_utf8_lossy(&said).into_owned())
}

fn request(rng: &mut Pcg64Mcg) -> Vec<u8> {
    let with = |field: &str| format!("GET /metrics HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n").into_bytes();
    match rng.random_range(0..12) {
        0 => with(&format!("Content-Length: {}", rng.random::<u64>())),
        1 => with("Content-Length: 5000"),
        2 => with("Content-Length: 5\r\nExpect: 100-continue"),
        3 => with("Transfer-Encoding: chunked"),
        4 => with(&format!("A: {}", "x".repeat(rng.random_range(1000..1_000_000)))),
        5 => with(&"a: b\r\n".repeat(rng.random_range(1..20_000))),
        6 => SCRAPE.repeat(rng.random_range(2..3000)).into_bytes(),
        7 => SCRAPE.as_bytes()[..rng.random_range(0..SCRAPE.len())].to_vec(),
        8 => (0..rng.random_range(1..4000)).map(|_| rng.random()).collect(),
        9 => format!(
            "{} /../{} HTTP/1.1\r\n\r\n",
            ["PUT", "POST", "HEAD", "GET"][rng.random_range(0..4)],
            "../".repeat(50)
        )
        .into_bytes(),
        10 => {
            let mut bytes = SCRAPE.as_bytes().to_vec();
            let at = rng.random_range(0..bytes.len());
            bytes[at] = rng.random();
            bytes
        }
        _ => SCRAPE.as_bytes().to_vec(),
    }
}

/// The most that it has had.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(u64::MAX)
}
