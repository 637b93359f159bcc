//! The columns of a comparison's table, as `docs/guide/compare.md` explains them.

/// Heading and meaning, in Markdown.
pub(crate) const COLUMNS: [(&str, &str); 9] = [
    (
        "download time",
        "mean over the runs ± half of its 95 % interval, or its ends; the smallest and largest run where an interval of few runs would reach below zero; `≥ 103 s, 2 of 10 done`: runs that the time limit cut off count as lasting until the limit; `*`: two modes, so that the mean describes neither. A note names rows whose skewness is beyond 1.5, as losses make it: their interval is too narrow for 95 %. Five runs or fewer cannot show a tail, so theirs may be too narrow without a note",
    ),
    (
        "vs leader",
        "`leader`: the shortest mean, and of rows within a thousandth of it the one that queues and loses least; a certain difference, in percent or as a factor: the geometric mean of the ratios run by run, which need not be the ratio of the two means shown (a note names rows for which the two differ); `+2.7 %, under 5 %`: an equivalence test puts the true difference below the margin, 5 %; `+12 %, uncertain`: the runs do not decide; `+0.0 %, the same runs`: the row does what the leader does in every run; `+12 %, the same in every run`: they do not vary, but are too few for a proof (a sign test needs six); `≥`: the row has runs that did not finish",
    ),
    ("left start-up", "when the algorithm decided to leave, counted from the opening of the flow"),
    ("because of", "the most frequent reason"),
    (
        "window at exit / BDP",
        "the bandwidth-delay product (BDP) is the rate times the round-trip time: a window of 1 fills the path, 1 and the buffer's share fill both. With `--on program` the column is `in flight at exit / BDP`: nothing shows the window of a program, so the payload in flight on the wire stands for it",
    ),
    (
        "lost in start-up",
        "data packets of a flow, until the losses of start-up were repaired, as a rule after the exit; the mean where a run has several flows under test",
    ),
    (
        "start-up used",
        "payload that a flow delivered in start-up over what the path could have carried meanwhile; the mean where there are several, which share that",
    ),
    ("queue peak", "longest queueing delay at the bottleneck"),
    (
        "carries",
        "share of the neighbouring paths on which the row is within 5 % of the fastest contender; paths on which no row has a result do not count, and the verdict says how many ([how far an answer carries](#how-far-an-answer-carries))",
    ),
];

/// The column that a reader calls so: its heading, or a word of it.
pub(crate) fn column(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.to_lowercase().replace(['-', '_'], " ").replace("in flight at exit", "window at exit");
    let plain = |heading: &str| heading.to_lowercase().replace('-', " ");
    let exact = COLUMNS.iter().find(|(heading, _)| plain(heading) == name);
    let word = || COLUMNS.iter().find(|(heading, _)| name == "leader" && plain(heading) == "vs leader");
    exact.or_else(word).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_says_the_same() {
        let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/compare.md");
        let guide = std::fs::read_to_string(guide).unwrap();
        for (heading, meaning) in COLUMNS {
            assert!(guide.contains(&format!("| {heading} | {meaning} |")), "{heading}");
        }
        let table = guide.split_once("| column | meaning |").unwrap().1;
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|')).count();
        assert_eq!(rows, COLUMNS.len());
    }

    #[test]
    fn a_column_goes_by_its_heading() {
        for name in [
            "carries",
            "leader",
            "vs leader",
            "Queue-Peak",
            "start-up used",
            "because of",
            "in flight at exit / BDP",
        ] {
            assert!(column(name).is_some(), "{name}");
        }
        assert_eq!(column("hystart"), None);
    }
}
