//! Rows that cannot be distinguished: the same values in every run.

use crate::comparison::ArmSummary;

/// Tells every row which others had the same value of every metric in every run, and left start-up for the same reasons.
pub(crate) fn mark(arms: &mut [ArmSummary]) {
    let same = |a: &ArmSummary, b: &ArmSummary| {
        a.label != b.label
            && a.yardstick == b.yardstick
            && a.n > 0
            && a.exits == b.exits
            && a.metrics.len() == b.metrics.len()
            && a.metrics
                .iter()
                .all(|(id, summary)| b.metric(id).is_some_and(|other| other.values == summary.values))
    };
    let alike: Vec<Vec<String>> = arms
        .iter()
        .map(|arm| arms.iter().filter(|other| same(arm, other)).map(|other| other.label.clone()).collect())
        .collect();
    for (arm, labels) in arms.iter_mut().zip(alike) {
        arm.alike = labels;
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{sample_options, sample_records};
    use crate::judge;

    #[test]
    fn rows_with_the_same_runs_know_of_each_other() {
        let mut records = sample_records();
        for mut copy in records.clone().into_iter().filter(|record| record.provenance.arm == "hystart") {
            copy.provenance.arm = "hystart low_window=16".to_owned();
            records.push(copy);
        }
        let comparison = judge(&records, &sample_options());
        let alike = |label: &str| comparison.arm(label).expect("a row").alike.clone();
        assert_eq!(alike("hystart"), ["hystart low_window=16"]);
        assert_eq!(alike("hystart low_window=16"), ["hystart"]);
        assert!(alike("best").is_empty());
        let html = crate::report::html::render(&comparison);
        assert!(!html.contains("data-value=\"hystart low_window=16\""));
        assert!(html.contains("The same in every run and shown once: hystart low_window=16."));
    }
}
