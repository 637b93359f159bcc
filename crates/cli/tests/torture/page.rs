//! The page of the reports: a section for each series of kernels.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

const HEAD: &str = include_str!("report.md");
const SECTION: &str = "## Linux ";

/// Machines report side by side.
static WRITING: Mutex<()> = Mutex::new(());

/// The first two numbers of a release.
pub(crate) fn series(release: &str) -> &str {
    let end = release.match_indices('.').nth(1).map_or(release.len(), |(at, _)| at);
    &release[..end]
}

/// Puts a report on the page, in the place of an earlier one of that series. The newest kernel comes first.
pub(crate) fn put(path: &Path, series: &str, report: &str) {
    let _writing = WRITING.lock().expect("nobody panics while writing");
    let page = fs::read_to_string(path).unwrap_or_default();
    fs::write(path, placed(&page, series, report)).expect("the report");
}

fn placed(page: &str, series: &str, report: &str) -> String {
    let mut sections: Vec<(&str, &str)> =
        page.split(SECTION).skip(1).filter_map(|section| section.split_once('\n')).collect();
    sections.retain(|(other, _)| *other != series);
    sections.push((series, report));
    let numbers =
        |series: &str| series.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>();
    sections.sort_by_key(|(series, _)| std::cmp::Reverse(numbers(series)));
    let written =
        sections.iter().map(|(series, report)| format!("\n{SECTION}{series}\n\n{}\n", report.trim()));
    HEAD.to_owned() + &written.collect::<String>()
}

#[test]
fn a_report_takes_the_place_of_the_one_before_it() {
    let page = placed("", "6.1", "first");
    let page = placed(&page, "6.18", "second");
    let page = placed(&page, "6.12", "third\n");
    assert_eq!(series("6.12.117+deb12-cloud-amd64"), "6.12");
    assert_eq!(
        placed(&page, "6.1", "last"),
        format!("{HEAD}\n## Linux 6.18\n\nsecond\n\n## Linux 6.12\n\nthird\n\n## Linux 6.1\n\nlast\n")
    );
}
