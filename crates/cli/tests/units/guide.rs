//! The guide's commands, as a reader would copy them.

use std::fs;
use std::path::Path;

fn guide() -> String {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/host.md");
    fs::read_to_string(guide).expect("the guide")
}

/// The blocks of code of a section of the guide, without their indentation.
pub(crate) fn blocks(section: &str) -> Vec<String> {
    let guide = guide();
    let (_, rest) = guide.split_once(&format!("{section}\n")).unwrap_or_else(|| panic!("no {section}"));
    let level = format!("\n{} ", section.split(' ').next().expect("its level"));
    let section = rest.split(&level).next().expect("a first part");
    let fenced = section.split("```\n").skip(1).step_by(2);
    fenced.map(|block| block.lines().flat_map(|line| [line.trim_start(), "\n"]).collect()).collect()
}

/// Those that install the units and start them, and those that remove them.
pub(crate) fn install_and_remove() -> [String; 2] {
    let mut commands = blocks("## As systemd units").into_iter();
    let both = [(); 2].map(|()| commands.next().expect("two blocks"));
    let (install, stop) = both[0].split_once("systemctl stop").expect("it ends by stopping");
    assert!(
        install.contains("enable --now ramp-attach@best") && stop.contains("ramp-attach@best"),
        "{both:?}"
    );
    assert!(both[1].contains("disable --now ramp-attach@best"), "{both:?}");
    [install.to_owned(), both[1].clone()]
}
