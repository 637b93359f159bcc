//! Writes the playground: one file that needs no other. Usage: page ENGINE.wasm PLAYGROUND.html [site]; with `site` it links to what
//! is next to it there.

use std::io::Write;
use std::path::Path;
use std::{env, fs};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use flate2::Compression;
use flate2::write::GzEncoder;
use rampcc_experiment::VERSION;
use rampcc_lab::report::html::{Page, live_script};

const BODY: &str = include_str!("../assets/body.html");
const SITE: &str = include_str!("../assets/site.html");
const STYLE: &str = include_str!("../assets/playground.css");
const ENGINE: &str = include_str!("../assets/engine.js");
const WORKER: &str = include_str!("../assets/worker.js");
const SCRIPTS: [&str; 5] = [
    include_str!("../assets/ask.js"),
    include_str!("../assets/draw.js"),
    include_str!("../assets/players.js"),
    include_str!("../assets/race.js"),
    include_str!("../assets/page.js"),
];
const SECTIONS: [(&str, &str); 5] =
    [("path", "Path"), ("rows", "Rows"), ("race", "Race"), ("results", "Answer"), ("command", "Command")];

#[expect(clippy::print_stdout, reason = "a command line")]
fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (engine, page, more) = match arguments.as_slice() {
        [engine, page, place] if place == "site" => (engine, page, SITE),
        [engine, page] | [engine, page, _] => (engine, page, ""),
        _ => panic!("usage: page ENGINE.wasm PLAYGROUND.html [site]"),
    };
    let module = without_names(&fs::read(engine).expect("a module of WebAssembly"));
    let packed = packed(&module);
    let html = page_of(&BASE64_STANDARD.encode(&packed), more);
    let page = Path::new(page);
    fs::create_dir_all(page.parent().expect("a file")).expect("a directory for the page");
    fs::write(page, &html).expect("the page may be written");
    println!(
        "{}: {:.2} MB; the engine in it {:.2} MB, {:.2} MB packed",
        page.display(),
        html.len() as f64 / 1e6,
        module.len() as f64 / 1e6,
        packed.len() as f64 / 1e6
    );
}

fn page_of(engine: &str, more: &str) -> String {
    let body = format!(
        "{BODY}{more}<p class=\"note small\">Charts over time: uPlot, © Leon Sorokin, MIT licence.</p>\n\
         <script type=\"text/plain\" id=\"worker\">{ENGINE}{WORKER}</script>\n\
         <script type=\"text/plain\" id=\"engine\">{engine}</script>\n"
    );
    Page {
        version: VERSION,
        title: "Playground: which start-up algorithm is fastest on your path?",
        sections: &SECTIONS,
        style: STYLE,
        body: &body,
        json: "{\"arms\":[]}",
        script: &(live_script() + &SCRIPTS.concat()),
        plays: true,
    }
    .html()
}

/// A module without its custom sections: names for debuggers.
fn without_names(module: &[u8]) -> Vec<u8> {
    const HEAD: usize = 8;
    let mut kept = module[..HEAD].to_vec();
    let mut rest = &module[HEAD..];
    while let Some((&id, after)) = rest.split_first() {
        let (length, digits) = leb128(after);
        let end = 1 + digits + length;
        if id != 0 {
            kept.extend(&rest[..end]);
        }
        rest = &rest[end..];
    }
    kept
}

/// A number of variable length, and how many bytes it takes.
fn leb128(bytes: &[u8]) -> (usize, usize) {
    let digits = bytes.iter().take_while(|byte| **byte & 0x80 != 0).count() + 1;
    let number = bytes[..digits].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    (number, digits)
}

fn packed(module: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(module).and_then(|()| encoder.finish()).expect("memory takes everything")
}
