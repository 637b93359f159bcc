//! What a stack's author adds with the crate: no runtime, no simulator, and of tools a C compiler alone.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Names of everything that a build without tests needs.
fn tree(features: &str, edges: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--package", "rampcc-quic", "--no-default-features"]);
    cargo.args(["--features", features, "--edges", edges, "--prefix", "none", "--format", "{p}"]);
    cargo.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let output = cargo.output().expect("cargo runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn a_stacks_author_gets_no_runtime_and_no_simulator() {
    let alone = tree("", "normal");
    assert_eq!(alone, ["libm", "rampcc", "rampcc-avoidance", "rampcc-quic"].map(str::to_owned).into());
    let built = tree("", "normal,build");
    let tools: Vec<&str> = built.difference(&alone).map(String::as_str).collect();
    assert_eq!(tools, ["cc", "find-msvc-tools", "shlex"], "the C core is built by `cc` alone");
    for stack in ["noq", "quinn"] {
        let with = tree(stack, "normal");
        assert!(with.contains(&format!("{stack}-proto")), "{with:?}");
        let own: Vec<&String> = with.iter().filter(|name| name.starts_with("rampcc")).collect();
        assert_eq!(own, ["rampcc", "rampcc-avoidance", "rampcc-quic"], "with {stack}");
        for unwanted in ["tokio", "async-std", "smol", "mio", "rustls", "ring", "aws-lc-rs"] {
            assert!(!with.contains(unwanted), "{stack} brings {unwanted}: {with:?}");
        }
    }
}
