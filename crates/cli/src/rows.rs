//! Rows of a comparison: algorithms of the registry, and congestion controls that a kernel has of itself.

use std::fmt::Write as _;

use ramp_scenario::{Arm, Scenario};

use crate::backend::Backend;
use crate::error::CliError;
use crate::explain::parameter_value;
use crate::kernel::{self, KernelRow};
use crate::scenario_args::YARDSTICK;

/// One row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// As tables call it.
    pub(crate) label: String,
    /// What steers the flows under test.
    pub(crate) steering: Steering,
}

/// What steers the flows under test.
#[derive(Clone, Debug)]
pub(crate) enum Steering {
    /// An algorithm of the registry.
    Core(Arm),
    /// A congestion control of the kernel's own.
    Kernel(KernelRow),
}

impl Row {
    /// From `[LABEL=]ALGORITHM[:NAME=VALUE,…]`, or `[LABEL=]` and one of the kernel's own.
    pub(crate) fn parse(text: &str) -> Result<Self, CliError> {
        let (label, name) = match text.split_once('=') {
            Some((label, name)) if !label.contains(':') => (label.trim(), name.trim()),
            _ => (text.trim(), text.trim()),
        };
        if label.is_empty() && text.contains('=') {
            return Err(CliError::input(format!("`{text}`: there is no label before `=`")));
        }
        if name.is_empty() {
            return Err(CliError::input(format!("`{text}`: there is no algorithm")));
        }
        if let Some(row) = kernel::row(name) {
            return Ok(Self { label: label.to_owned(), steering: Steering::Kernel(row) });
        }
        Ok(Arm::parse(text)?.into())
    }

    /// The same in the simulator; `None`: the simulator has nothing like it.
    pub(crate) fn simulated(&self) -> Option<Self> {
        let Steering::Kernel(row) = self.steering else { return Some(self.clone()) };
        let arm = Arm::parse(kernel::simulated_by(row)?).ok()?;
        Some(Self { label: self.label.clone(), steering: Steering::Core(arm) })
    }

    /// What steers the flows under test in full, whatever the row is called: the algorithm with the value of every
    /// parameter, wherever the value comes from.
    pub(crate) fn steering(&self, scenario: &Scenario) -> String {
        match &self.steering {
            Steering::Core(_) => {
                let steering = self.scenario(scenario).steering;
                let mut text = steering.algorithm.id.to_owned();
                for (parameter, value) in steering.algorithm.parameters.iter().zip(steering.parameters) {
                    write!(text, " {}={value}", parameter.name).expect("a string grows");
                }
                text
            }
            Steering::Kernel(row) => format!("kernel {}", kernel::name(*row)),
        }
    }

    /// What it plays with that is not in its algorithm's table, whoever says so: the profile, the scenario, the row.
    pub(crate) fn departures(&self, scenario: &Scenario) -> Option<String> {
        let Steering::Core(_) = self.steering else { return None };
        let steering = self.scenario(scenario).steering;
        let parameters = steering.algorithm.parameters.iter().zip(steering.parameters);
        let other: Vec<String> = parameters
            .filter(|(parameter, value)| *value != parameter.default)
            .map(|(parameter, value)| format!("{}={}", parameter.name, parameter_value(parameter, value)))
            .collect();
        (!other.is_empty()).then(|| format!("{} plays with {}", self.label, other.join(", ")))
    }

    /// Whether it knows the path.
    pub(crate) fn yardstick(&self) -> bool {
        matches!(&self.steering, Steering::Core(arm) if arm.algorithm.id == YARDSTICK)
    }

    /// The scenario as this row plays it.
    pub(crate) fn scenario(&self, scenario: &Scenario) -> Scenario {
        match &self.steering {
            Steering::Core(arm) => scenario.with_arm(arm),
            Steering::Kernel(_) => scenario.clone(),
        }
    }
}

impl From<Arm> for Row {
    fn from(arm: Arm) -> Self {
        Self { label: arm.label.clone(), steering: Steering::Core(arm) }
    }
}

/// Those of the rows that `backend` can play, and what must be said of the others. `named`: the user asked for each.
pub(crate) fn playable(
    rows: &[Row],
    backend: Backend,
    named: bool,
    alone: bool,
) -> Result<(Vec<Row>, Option<String>), CliError> {
    let own = |row: &&Row| matches!(row.steering, Steering::Kernel(_));
    match backend {
        Backend::Sim => {
            if let Some(row) = rows.iter().find(own).filter(|_| alone) {
                return Err(CliError::input_help(
                    format!(
                        "`{}` is a congestion control of the kernel's own, which the simulator does not have",
                        row.label
                    ),
                    "play it with --on linux; the simulator's `hystart` is what Linux's CUBIC does, `slow_start` the same \
                     without HyStart",
                ));
            }
            Ok((rows.iter().filter(|row| !own(row)).cloned().collect(), None))
        }
        Backend::Linux => {
            let mut rows = rows.to_vec();
            if !named {
                rows.extend(kernel::own_rows());
            }
            let Some(obstacle) = kernel::obstacle() else { return Ok((rows, None)) };
            let (without, with): (Vec<Row>, Vec<Row>) =
                rows.into_iter().partition(|row| match &row.steering {
                    Steering::Core(_) => false,
                    Steering::Kernel(row) => !kernel::needs_bpf(*row),
                });
            if with.is_empty() {
                return Ok((without, None));
            }
            let labels: Vec<&str> = with.iter().map(|row| row.label.as_str()).collect();
            if named || without.is_empty() {
                return Err(CliError::Kernel {
                    message: format!("the kernel cannot be given {}", labels.join(", ")),
                    help: Some(obstacle),
                });
            }
            Ok((without, Some(format!("without {}: {obstacle}", labels.join(", ")))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_kept() {
        let row = Row::parse("late=hystart:low_window=64").unwrap();
        assert_eq!(row.label, "late");
        assert!(matches!(row.steering, Steering::Core(_)));
        assert!(Row::parse("ideal").unwrap().yardstick());
        assert!(Row::parse("nosuch").is_err());
    }

    #[test]
    fn what_is_not_in_the_table_is_told_wherever_it_comes_from() {
        let told = |row: &str, settings: &str| {
            let text = format!("{settings}\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n");
            let scenario = Scenario::parse("test", &text, None).unwrap();
            Row::parse(row).unwrap().departures(&scenario)
        };
        assert_eq!(told("best", ""), None);
        assert_eq!(told("paced", "").unwrap(), "paced plays with initial_train=10, max_overshoot=256");
        assert_eq!(
            told("paced", "profile = 'era'").unwrap(),
            "paced plays with compression=1000, longest_gap=1000"
        );
        let set = "[algorithm.paced]\nmax_overshoot = 0\ninitial_train = 0\n";
        assert_eq!(told("paced", set), None);
        assert_eq!(told("x=paced:max_overshoot=0", "").unwrap(), "x plays with initial_train=10");
        assert_eq!(told("x=best:track=every-round", "").unwrap(), "x plays with track=every-round");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernels_own_are_rows() {
        for (text, label) in [("cubic", "cubic"), ("plain=cubic_no_hystart", "plain"), ("bbr", "bbr")] {
            let row = Row::parse(text).unwrap();
            assert_eq!(row.label, label);
            assert!(matches!(row.steering, Steering::Kernel(_)) && !row.yardstick(), "{text}");
        }
        let rows = [Row::parse("best").unwrap(), Row::parse("cubic").unwrap()];
        let (simulated, _) = playable(&rows, Backend::Sim, true, false).unwrap();
        assert_eq!(simulated.len(), 1);
        let error = playable(&rows, Backend::Sim, true, true).unwrap_err();
        assert!(error.to_string().contains("`cubic`"), "{error}");
    }
}
