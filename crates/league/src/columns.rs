//! What the league's tables show: headings and their meanings, for the tables, the page and `ramp explain`.

/// A heading and what its column shows.
pub type Column = (&'static str, &'static str);

/// Of the first table, without a row's name and the sizes.
pub const TIME: [Column; 12] = [
    (
        "place",
        "rank by × ideal; a range: a row and those right below it that other paths may put before it, up to the first that they may not",
    ),
    (
        "× ideal",
        "download time over that of `ideal`, which knows the path: geometric mean over paths and sizes",
    ),
    (
        "vs first",
        "how much longer than the first row, 95 % interval over paths drawn from the same ranges; tied: it holds 0",
    ),
    ("median", "the same ratio to `ideal`, not exceeded by half of the paths and sizes"),
    ("95 %", "the same ratio, not exceeded by 95 % of the paths and sizes"),
    (
        "worst",
        "the largest of these ratios; *: the end of a run cut off some downloads, so it is at least that",
    ),
    (
        "clean paths, × bound",
        "where nothing but the queue moves: download time over what no sender can beat that learns from ACKs, 95th percentile",
    ),
    ("extra RTTs", "round trips more than `ideal`, median"),
    ("> 2×", "share of paths and sizes where it takes over twice as long as `ideal`"),
    ("fastest", "share where no other row is faster by more than 0.1 %"),
    ("within 5 %", "share where it is within 5 % of the fastest row"),
    ("slower than slow start", "share where it takes over 5 % longer than slow start"),
];

/// Of the second table, without a row's name.
pub const COST: [Column; 11] = [
    ("lost in start-up", "packets over those that pipe and buffer hold together, mean"),
    ("95 %", "lost in start-up, 95th percentile over the paths"),
    ("worst", "lost in start-up, the largest"),
    ("lost", "payload lost over the file, mean"),
    ("sent again", "payload retransmitted over the file, mean"),
    ("queue", "queueing delay not exceeded for 95 % of a download, median over the paths"),
    ("95 % of paths", "the same, not exceeded on 95 % of them"),
    (
        "running flow's losses",
        "in the first 20 round trips of the download, beyond those that it has without it, over what pipe and buffer hold, mean",
    ),
    ("95 %", "the running flow's losses, 95th percentile over the paths"),
    ("its goodput", "the running flow's, against that without the download"),
    (
        "two together",
        "two downloads that begin together, on four links of the league's own whatever paths are played: larger over smaller share after 1, 3 and 10 s, medians",
    ),
];

/// Of the third table, without a row's name.
pub const AMONG: [Column; 9] = [
    TIME[1],
    ("its own mean", "completion time of its own flows, mean"),
    ("others' mean", "completion time of the other flows, mean"),
    ("95 %", "the same, 95th percentile"),
    ("seeds", "the lowest and the highest of that percentile over the seeds"),
    ("99 %", "the same, 99th percentile"),
    ("drops", "packets dropped"),
    ("20 starts: drops", "packets dropped where 20 downloads start within two round trips"),
    ("front", "yes: no row is both as fast and as gentle to others (95 %)"),
];

/// Headings, a row's name first.
pub(crate) fn head(columns: &[Column]) -> Vec<String> {
    std::iter::once("algorithm")
        .chain(columns.iter().map(|(heading, _)| *heading))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{COST, Column, TIME};

    #[test]
    fn constants_in_words_are_those_of_the_code() {
        let says =
            |columns: &[Column], words: &str| columns.iter().any(|(_, meaning)| meaning.contains(words));
        let rtts = format!("in the first {} round trips", rampcc_lab::metric::EARLY_RTTS);
        assert!(says(&COST, &rtts), "{rtts}");
        let near = format!("within {:.0} % of the fastest", 100.0 * crate::judge::NEAR);
        assert!(says(&TIME, &near), "{near}");
    }
}
