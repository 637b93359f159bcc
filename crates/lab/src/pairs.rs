//! Rows against each other, and how many claims that makes.

use crate::comparison::{ArmSummary, Finding, Pair};
use crate::statistics::{How, Paired, compare, holm, runs_for_ranks, runs_for_t, sd};
use crate::{Context, JudgeOptions};

/// A claim must be this unlikely by chance.
const LEVEL: f64 = 0.05;

#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// By seed.
    pub(crate) values: Vec<Option<f64>>,
    /// Whether its mean describes nothing, so that ranks must decide.
    pub(crate) bimodal: bool,
    /// Whether some values were cut off.
    pub(crate) cut_off: bool,
}

impl Row {
    fn new(arm: &ArmSummary, id: &str) -> Option<Self> {
        let summary = arm.metric(id)?;
        Some(Self {
            values: summary.known_or_least(),
            bimodal: summary.modes.is_some(),
            cut_off: !summary.at_least.is_empty(),
        })
    }

    /// The same values in every run.
    fn is_twin_of(&self, other: &Self) -> bool {
        let bits = |row: &Self| row.values.iter().map(|value| value.map(f64::to_bits)).collect::<Vec<_>>();
        bits(self) == bits(other)
    }
}

/// One row against the reference, with what its claim is corrected for.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) test: Paired,
    /// Corrected.
    pub(crate) p: Option<f64>,
    /// What a p value must be below before correction, were it the smallest that is still undecided.
    pub(crate) level: f64,
}

/// All reported pairs of one metric: contenders against each of the `references`, and everything against the yardstick.
pub(crate) fn pairs(
    id: &str,
    arms: &[ArmSummary],
    references: [Option<&str>; 2],
    yardstick: Option<&str>,
    options: &JudgeOptions,
) -> Vec<Pair> {
    let having = |yardsticks: bool| -> Vec<(&str, Row)> {
        let arms = arms.iter().filter(move |arm| arm.yardstick == yardsticks);
        arms.filter_map(|arm| Some((arm.label.as_str(), Row::new(arm, id)?))).collect()
    };
    let contenders = having(false);
    let mut pairs = Vec::new();
    let [leader, baseline] = references;
    for reference in [leader, baseline.filter(|baseline| Some(*baseline) != leader)].into_iter().flatten() {
        let Some(at) = contenders.iter().position(|(label, _)| *label == reference) else { continue };
        let rows: Vec<&Row> = contenders.iter().map(|(_, row)| row).collect();
        let claims = claims(&rows, at, options.margin, options.context.chance);
        for ((label, row), claim) in contenders.iter().zip(claims) {
            let Some(claim) = claim else { continue };
            let mut pair = pair(id, [*label, reference], &claim);
            pair.at_least = row.cut_off && !rows[at].cut_off;
            pair.runs_needed = runs_needed(&pair, &claim, [row, rows[at]], options);
            pairs.push(pair);
        }
    }
    if let Some((reference, against)) = having(true).iter().find(|(label, _)| Some(*label) == yardstick) {
        for (label, row) in &contenders {
            let claims = claims(&[against, row], 0, options.margin, options.context.chance);
            if let Some(Some(claim)) = claims.into_iter().nth(1) {
                pairs.push(Pair { at_least: row.cut_off, ..pair(id, [*label, *reference], &claim) });
            }
        }
    }
    pairs
}

/// Every row against the one at `reference`, by position; `None` for that row itself and where no seed has both.
///
/// As many claims are corrected for (Holm 1979) as are made: one for each group of rows with the same values in every run. That
/// is Hsu's multiple comparison with the best (1984): a row is called worse than the best where it is worse than the best one
/// seen, at a level divided by the number of claims; whichever row was seen to be the best, the chance that the truly best
/// one is called worse is then at most the level. Rows that are exactly as good as the best have no such protection.
pub(crate) fn claims(rows: &[&Row], reference: usize, margin: f64, chance: bool) -> Vec<Option<Claim>> {
    let against = rows[reference];
    let tests: Vec<Option<Paired>> = (rows.iter().enumerate())
        .map(|(i, row)| {
            let ranks = row.bimodal || against.bimodal;
            let mut test = compare(&row.values, &against.values, &How { margin, chance, ranks })
                .filter(|_| i != reference)?;
            if row.cut_off || against.cut_off {
                // Who knows how close they would have come.
                test.p_equivalence = None;
            }
            Some(test)
        })
        .collect();
    // The first of each group speaks for it; twins of the reference claim nothing.
    let speaker = |i: usize| (0..=i).find(|first| rows[*first].is_twin_of(rows[i])).unwrap_or(i);
    let speakers: Vec<usize> = (0..rows.len()).map(speaker).collect();
    let claimed: Vec<Option<f64>> = (tests.iter().enumerate())
        .map(|(i, test)| test.as_ref()?.p.filter(|_| speakers[i] == i && !rows[i].is_twin_of(against)))
        .collect();
    let corrected = holm(&claimed);
    let undecided = corrected.iter().flatten().filter(|p| **p >= LEVEL).count().max(1);
    let level = LEVEL / undecided as f64;
    (tests.into_iter().enumerate())
        .map(|(i, test)| {
            let test = test?;
            let p = if rows[i].is_twin_of(against) { test.p } else { corrected[speakers[i]] };
            Some(Claim { test, p, level })
        })
        .collect()
}

fn pair(id: &str, [arm, against]: [&str; 2], claim: &Claim) -> Pair {
    let test = &claim.test;
    Pair {
        metric: id.to_owned(),
        arm: arm.to_owned(),
        against: against.to_owned(),
        n: test.n,
        difference: test.difference,
        difference_interval: test.difference_interval,
        ratio: test.ratio,
        ratio_interval: test.ratio_interval,
        p: claim.p,
        test: test.test,
        p_equivalence: test.p_equivalence,
        at_least: false,
        runs_needed: None,
        finding: finding(test, claim.p),
    }
}

/// What two p values allow to say.
pub(crate) fn finding(test: &Paired, p: Option<f64>) -> Finding {
    match p {
        _ if test.p_equivalence.is_some_and(|p| p < LEVEL) => Finding::Equivalent,
        Some(p) if p < LEVEL && test.centre < 0.0 => Finding::Lower,
        Some(p) if p < LEVEL && test.centre > 0.0 => Finding::Higher,
        _ => Finding::CannotTell,
    }
}

/// About how many runs would decide this pair, more than there are.
fn runs_needed(pair: &Pair, claim: &Claim, rows: [&Row; 2], options: &JudgeOptions) -> Option<u32> {
    if pair.finding != Finding::CannotTell || pair.n < 2 || !options.context.chance {
        return None;
    }
    let both: Vec<(f64, f64)> =
        rows[0].values.iter().zip(&rows[1].values).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let positive = pair.ratio.is_some();
    let differences: Vec<f64> =
        both.iter().map(|(a, b)| if positive { libm::log(*a) - libm::log(*b) } else { a - b }).collect();
    let scale = both.iter().map(|(_, b)| b.abs()).sum::<f64>() / both.len() as f64;
    let margin = if positive { libm::log1p(options.margin) } else { options.margin * scale };
    let needed = if pair.test == crate::Test::SignedRank {
        runs_for_ranks(&differences, claim.level)
    } else {
        let cut_off = rows.iter().any(|row| row.cut_off);
        let centre = differences.iter().sum::<f64>() / differences.len() as f64;
        runs_for_t(centre, sd(&differences)?, if cut_off { 0.0 } else { margin }, claim.level)
    }?;
    // As many as there are do not decide.
    Some(about(needed.max(pair.n + pair.n.div_ceil(5))))
}

/// Two digits, rounded up.
fn about(n: u32) -> u32 {
    let step = 10_u32.pow(n.max(1).ilog10().saturating_sub(1));
    n.div_ceil(step) * step
}

/// How pairs were judged, a sentence each.
pub(crate) fn method(margin: f64, context: &Context) -> Vec<String> {
    if !context.chance {
        return vec!["Nothing on this path is left to chance, so one run is all of them and every difference is certain.".to_owned()];
    }
    vec![
        "Differences are paired t tests, on logarithms where all values are positive, or Wilcoxon's signed-rank test, exact, where \
         one of two rows is bimodal, or sign tests where a difference is the same in every run."
            .to_owned(),
        "p values are corrected by Holm over the claims made: each row against the leader (and, apart from that, against the \
         baseline), rows with the same values in every run counted once; not over metrics. This is Hsu's multiple comparison with \
         the best: the chance that the row that is truly best is called worse than another is at most 5 %, although the leader \
         was picked after seeing the runs. It does not hold for several rows that are exactly equally good: of nine such rows \
         with ten runs, some row is called worse in up to 15 % of comparisons, unless their equivalence shows."
            .to_owned(),
        format!(
            "\"Under {0:.0} %\" means that two one-sided tests at 5 %, each for itself, put the true difference within {0:.0} % either \
             way; otherwise, where no difference shows either, the runs do not decide. How many would is a power calculation (80 %) \
             with the difference and spread that were seen.",
            margin * 100.0
        ),
        "A download that the end of the run cut off counts as having lasted until then (restricted means), so its row is at least \
         that much slower."
            .to_owned(),
    ]
}

#[cfg(test)]
mod tests;
