//! Rows of a comparison: algorithms of the registry, and congestion controls that a backend has of its own.

use std::fmt::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rampcc::{Parameter, Traits};
use rampcc_backend::{Backend, BackendError, Clock, Control, Played};
use rampcc_lab::About;
use rampcc_scenario::{Arm, Scenario};
use rampcc_trace::Observer;

use crate::error::{ExperimentError, Result};
use crate::run::Run;

/// One row.
#[derive(Clone, Debug)]
pub struct Row {
    /// As tables call it.
    pub label: String,
    /// Algorithm or congestion control of the flows under test.
    pub steering: Steering,
    /// True if a group brought it, such as the default one: where it cannot be played it is left out.
    pub brought: bool,
    /// The algorithm's source, if it is not in the registry.
    pub code: Option<Code>,
}

/// Source of an algorithm that is not in the registry.
#[derive(Clone, Debug)]
pub struct Code {
    /// All of it, headers included, as the compiler's preprocessor leaves it.
    pub text: Arc<str>,
    /// Of the text.
    pub digest: String,
    /// Who plays it; `None`: this process.
    pub player: Option<Arc<dyn Player>>,
}

/// Plays runs of a row apart from this process, whose memory and rights are not for a stranger's code.
pub trait Player: fmt::Debug + Send + Sync {
    /// As [`Backend::run`]: the observer gets the same calls.
    fn play(
        &self,
        run: &Run<'_>,
        observer: &mut dyn Observer,
        interrupted: &AtomicBool,
    ) -> Result<Played, BackendError>;
}

/// Algorithm or congestion control of the flows under test.
#[derive(Clone, Debug)]
pub enum Steering {
    /// An algorithm of the registry.
    Core(Arm),
    /// A congestion control of a backend's own.
    Own(&'static Control),
}

impl Row {
    /// From `[LABEL=]ALGORITHM[:NAME=VALUE,…]`, or `[LABEL=]` and a control that one of the backends has of its own.
    pub fn parse(text: &str, backends: &[&dyn Backend]) -> Result<Self> {
        let (label, name) = match text.split_once('=') {
            Some((label, name)) if !label.contains(':') => (label.trim(), name.trim()),
            _ => (text.trim(), text.trim()),
        };
        if label.is_empty() && text.contains('=') {
            return Err(ExperimentError::input(format!("`{text}`: there is no label before `=`")));
        }
        if name.is_empty() {
            return Err(ExperimentError::input(format!("`{text}`: there is no algorithm")));
        }
        // A row that is called as another algorithm would be read as that.
        let own = name.split(':').next().unwrap_or(name).trim();
        let other = rampcc::algorithm(label)
            .is_some_and(|known| rampcc::algorithm(own).is_none_or(|own| own.id != known.id));
        if label != text.trim() && label != own && (other || control(label, backends).is_some()) {
            return Err(ExperimentError::input_help(
                format!("`{text}`: `{label}` is the name of another algorithm"),
                "expected a label of your own, as in `late=hystart:low_window=64`",
            ));
        }
        if let Some(control) = control(name, backends) {
            let steering = Steering::Own(control);
            return Ok(Self { label: label.to_owned(), steering, brought: false, code: None });
        }
        Ok(Arm::parse(text)?.into())
    }

    /// The row as `backend` plays it: a control that it lacks, by the algorithm of the same name if there is one.
    #[must_use]
    pub fn on(&self, backend: &dyn Backend) -> Self {
        let foreign = self.control().filter(|control| !backend.controls().contains(control));
        match (foreign, self.simulated()) {
            (Some(control), Some(simulated)) if simulated.is_called(control.name) => simulated,
            _ => self.clone(),
        }
    }

    fn is_called(&self, id: &str) -> bool {
        matches!(&self.steering, Steering::Core(arm) if arm.algorithm.id == id)
    }

    /// The same in the simulator; `None`: the simulator has nothing like it.
    pub fn simulated(&self) -> Option<Self> {
        let Steering::Own(control) = self.steering else { return Some(self.clone()) };
        let by_traits = || Some(rampcc::having(control.simulated_by?).next()?.id);
        let arm = Arm::parse(control.like.or_else(by_traits)?).ok()?;
        Some(Self { steering: Steering::Core(arm), ..self.clone() })
    }

    /// Full description of the algorithm of the flows under test, independent of the row's label: the algorithm with the
    /// value of every parameter, from any source, and its code if the registry has it not.
    pub fn steering(&self, scenario: &Scenario) -> String {
        match &self.steering {
            Steering::Core(_) => {
                let steering = self.scenario(scenario).steering;
                let mut text = steering.algorithm.id.to_owned();
                for (parameter, value) in steering.algorithm.parameters.iter().zip(steering.parameters) {
                    write!(text, " {}={value}", parameter.name).expect("a string grows");
                }
                for set in steering.sender.words() {
                    write!(text, " {set}").expect("a string grows");
                }
                if let Some(code) = &self.code {
                    write!(text, " code={}", code.digest).expect("a string grows");
                }
                text
            }
            Steering::Own(control) if control.definition.is_empty() => {
                format!("{} {}", control.owner, control.name)
            }
            Steering::Own(control) => format!("{} {} {}", control.owner, control.name, control.definition),
        }
    }

    /// What it is.
    pub fn about(&self, scenario: &Scenario) -> About {
        match &self.steering {
            Steering::Core(arm) if self.code.is_some() => About::Header { id: arm.algorithm.id.to_owned() },
            Steering::Core(_) => {
                let steering = self.scenario(scenario).steering;
                let parameters = steering.algorithm.parameters.iter().zip(steering.parameters);
                let unusual = parameters.filter(|(parameter, value)| parameter.default != *value);
                let settings = unusual.map(|(parameter, value)| format!("{}={value}", parameter.name));
                let sender = steering.sender.words().into_iter();
                let settings = settings.chain(sender).collect();
                About::Algorithm { id: steering.algorithm.id.to_owned(), settings }
            }
            Steering::Own(control) => About::Own {
                owner: control.owner.to_owned(),
                name: control.name.to_owned(),
                definition: control.definition.to_owned(),
            },
        }
    }

    /// Parameters that differ from those of its algorithm on hosts of the scenario's profile, because the scenario or the row says so.
    pub fn departures(&self, scenario: &Scenario) -> Option<String> {
        let Steering::Core(_) = self.steering else { return None };
        let steering = self.scenario(scenario).steering;
        let usual = steering.algorithm.parameters_in(scenario.profile.environment());
        let parameters = steering.algorithm.parameters.iter().zip(steering.parameters).zip(usual);
        let other: Vec<String> = parameters
            .filter(|((_, value), usual)| value != usual)
            .map(|((parameter, value), _)| {
                format!("{}={}", parameter.name, parameter_value(parameter, value))
            })
            .filter(|said| self.label.split([' ', ',']).all(|word| word != said))
            .collect();
        (!other.is_empty()).then(|| format!("{} plays with {}", self.label, other.join(", ")))
    }

    /// True if it knows the path.
    pub fn yardstick(&self) -> bool {
        matches!(&self.steering, Steering::Core(arm) if arm.algorithm.traits.has(Traits::KNOWS_PATH))
    }

    /// Why `backend` does not play it whatever the path, such as the first of its needs that is not met; `None`: it does.
    pub fn unmet(&self, backend: &dyn Backend) -> Option<String> {
        let Steering::Core(arm) = &self.steering else { return None };
        if self.code.is_some() && backend.clock() == Clock::Real {
            return Some("a header outside the registry is not compiled for the kernel".to_owned());
        }
        if !arm.sender.is_empty() && backend.clock() == Clock::Real {
            return Some(format!("a row's own {} is simulated only", arm.sender.words().join(" and ")));
        }
        let lacking = arm.algorithm.unmet(backend.lacks()).next()?;
        let need = lacking.need.words().next().unwrap_or_default();
        Some(format!("what needs `{need}` is not played there, since {}", lacking.reason))
    }

    /// The backend's own control that steers the flows under test; `None`: an algorithm of the registry does.
    pub fn control(&self) -> Option<&'static Control> {
        match self.steering {
            Steering::Core(_) => None,
            Steering::Own(control) => Some(control),
        }
    }

    /// The scenario as this row plays it.
    pub fn scenario(&self, scenario: &Scenario) -> Scenario {
        match &self.steering {
            Steering::Core(arm) => scenario.with_arm(arm),
            Steering::Own(_) => scenario.clone(),
        }
    }
}

impl From<Arm> for Row {
    fn from(arm: Arm) -> Self {
        Self { label: arm.label.clone(), steering: Steering::Core(arm), brought: false, code: None }
    }
}

/// A value of a parameter as people write it: choices by their names.
fn parameter_value(p: &Parameter, value: u64) -> String {
    let choice = p
        .unit
        .strip_prefix("choice:")
        .and_then(|choices| usize::try_from(value).ok().and_then(|index| choices.split('|').nth(index)));
    choice.map_or_else(|| value.to_string(), str::to_owned)
}

/// A control that one of the backends has of its own, by its name.
pub fn control(name: &str, backends: &[&dyn Backend]) -> Option<&'static Control> {
    backends.iter().flat_map(|backend| backend.controls()).find(|control| control.name == name)
}

#[cfg(test)]
mod tests {
    use rampcc_backend::Play;
    use rampcc_lab::LeftOut;
    use rampcc_sim::Simulator;

    use super::*;
    use crate::playable::{Asked, playable};

    fn scenario(settings: &str) -> Scenario {
        let text = format!("{settings}\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n");
        Scenario::parse("test", &text, None).unwrap()
    }

    #[test]
    fn labels_are_kept() {
        let row = Row::parse("late=hystart:low_window=64", &[]).unwrap();
        assert_eq!(row.label, "late");
        assert!(matches!(row.steering, Steering::Core(_)));
        assert!(Row::parse("ideal", &[]).unwrap().yardstick());
        assert!(Row::parse("nosuch", &[]).is_err());
        let own = Row::parse("hystart=hystart:low_window=64", &[]).unwrap();
        assert_eq!(own.label, "hystart", "its own name");
        let error = Row::parse("ideal=hystart", &[]).unwrap_err().to_string();
        assert!(error.contains("`ideal` is the name of another algorithm"), "{error}");
    }

    #[test]
    fn what_is_not_in_the_table_is_told_wherever_it_comes_from() {
        let told = |row: &str, settings: &str| Row::parse(row, &[]).unwrap().departures(&scenario(settings));
        assert_eq!(told("best", ""), None);
        assert_eq!(told("hystart:low_window=1", ""), None, "the label says it");
        assert_eq!(told("paced", ""), None, "what the profile's hosts have is on the algorithm's page");
        assert_eq!(told("paced", "profile = 'era'"), None);
        let set = "[algorithm.paced]\nmax_overshoot = 0\n";
        assert_eq!(told("paced", set).unwrap(), "paced plays with max_overshoot=0");
        assert_eq!(told("x=paced:max_overshoot=0", "").unwrap(), "x plays with max_overshoot=0");
        assert_eq!(told("x=best:track=every-round", "").unwrap(), "x plays with track=every-round");
    }

    #[test]
    fn a_candidates_code_is_part_of_what_steers_it_and_stays_out_of_the_kernel() {
        let hystart = Row::parse("hystart", &[]).unwrap();
        let code = |digest: &str| Code { text: "".into(), digest: digest.to_owned(), player: None };
        let of = |digest| Row { code: Some(code(digest)), ..hystart.clone() };
        let steering = [hystart.clone(), of("1"), of("2")].map(|row| row.steering(&scenario("")));
        assert_eq!(steering[1], format!("{} code=1", steering[0]));
        assert_ne!(steering[1], steering[2]);
        assert_eq!(
            playable(&[of("1")], &Simulator, Asked { named: true, alone: true }).unwrap().here.len(),
            1
        );
        let error = playable(&[of("1")], &Other, Asked { named: true, alone: true }).unwrap_err().to_string();
        assert!(error.contains("hystart: a header outside the registry"), "{error}");
        let own = Row::parse("quick", &[&Other]).unwrap();
        let rows = playable(&[own, of("1")], &Other, Asked { named: true, alone: false }).unwrap();
        assert!(rows.here.len() == 1 && rows.here[0].code.is_none());
        assert!(rows.without().unwrap().contains("hystart: a header"));
    }

    /// A backend with a control of its own, which plays nothing.
    struct Other;

    static OWN: Control = Control {
        name: "quick",
        owner: "other",
        backend: "other",
        meaning: "a control for this test",
        simulated_by: Some(Traits::STANDARD),
        like: None,
        definition: "",
    };

    static LACKS: [rampcc::Lacking; 1] =
        [rampcc::Lacking { need: Traits::PACES, reason: "its packets leave as they come" }];

    impl Backend for Other {
        fn lacks(&self) -> &'static [rampcc::Lacking] {
            &LACKS
        }
        fn name(&self) -> &'static str {
            "other"
        }
        fn identity(&self) -> String {
            "other".to_owned()
        }
        fn clock(&self) -> Clock {
            Clock::Real
        }
        fn controls(&self) -> &'static [Control] {
            std::slice::from_ref(&OWN)
        }
        fn obstacle(&self, control: Option<&Control>) -> Option<String> {
            control.is_none().then(|| "it has the core not".to_owned())
        }
        fn check(&self, _: &Scenario, _: Option<&Control>) -> Result<(), Vec<String>> {
            Ok(())
        }
        fn run(&self, _: &Play<'_>, _: &mut dyn Observer, _: &AtomicBool) -> Result<Played, BackendError> {
            Err(BackendError::Failed("it plays nothing".to_owned()))
        }
    }

    #[test]
    fn a_control_of_a_backends_own_is_a_row_there_alone() {
        let backends: [&dyn Backend; 2] = [&Simulator, &Other];
        let row = |text| Row::parse(text, &backends).unwrap();
        let plain = row("plain=quick");
        assert_eq!((plain.label.as_str(), plain.control()), ("plain", Some(&OWN)));
        assert_eq!(
            plain.simulated().unwrap().steering(&scenario("")),
            row("slow_start").steering(&scenario(""))
        );
        let rows = [row("best"), row("quick")];
        let simulated = playable(&rows, &Simulator, Asked { named: true, alone: false }).unwrap();
        assert_eq!((simulated.here.len(), simulated.without()), (1, None));
        let error = playable(&rows, &Simulator, Asked { named: true, alone: true }).unwrap_err();
        assert!(error.is_input() && error.to_string().contains("`quick`"), "{error}");
        let error = playable(&rows, &Other, Asked { named: true, alone: true }).unwrap_err();
        assert_eq!(error.to_string(), "other cannot be given best");
        let brought = [Row { brought: true, ..row("best") }];
        let own = playable(&brought, &Other, Asked { named: false, alone: true }).unwrap();
        assert_eq!((own.here[0].label.as_str(), own.here.len()), ("quick", 1));
        assert_eq!(own.without().as_deref(), Some("without best: it has the core not"));
        let left_out = LeftOut { rows: vec!["best".to_owned()], why: "it has the core not".to_owned() };
        assert_eq!(own.left_out, [left_out]);
    }

    #[test]
    fn a_row_whose_needs_are_not_met_is_refused_by_name_or_left_out_of_a_group() {
        let row = |text| Row::parse(text, &[&Simulator, &Other]).unwrap();
        let told = "paced: what needs `pacing` is not played there, since its packets leave as they come";
        let error =
            playable(&[row("paced"), row("quick")], &Other, Asked { named: true, alone: true }).unwrap_err();
        assert!(error.is_input(), "{error}");
        assert_eq!(error.to_string(), format!("other cannot play {told}"));
        let brought = Row { brought: true, ..row("paced") };
        for (rows, alone) in [([brought.clone(), row("quick")], true), ([row("paced"), row("quick")], false)]
        {
            let left = playable(&rows, &Other, Asked { named: true, alone }).unwrap();
            assert_eq!((left.here.len(), left.here[0].label.as_str()), (1, "quick"));
            assert_eq!(left.without().unwrap(), format!("without {told}"));
        }
        let alone = playable(&[brought], &Other, Asked { named: true, alone: false }).unwrap_err();
        assert_eq!(alone.to_string(), format!("other cannot play {told}"), "nothing is left");
        assert!(playable(&[row("paced")], &Simulator, Asked { named: true, alone: true }).is_ok());
    }

    /// A backend with a control that is called as an algorithm.
    struct Namesake;

    static NAMESAKE: Control =
        Control { name: "bbr", simulated_by: Some(Traits::OF_BBR), backend: "namesake", ..OWN };

    impl Backend for Namesake {
        fn name(&self) -> &'static str {
            "namesake"
        }
        fn identity(&self) -> String {
            "namesake".to_owned()
        }
        fn controls(&self) -> &'static [Control] {
            std::slice::from_ref(&NAMESAKE)
        }
        fn check(&self, _: &Scenario, _: Option<&Control>) -> Result<(), Vec<String>> {
            Ok(())
        }
        fn run(&self, _: &Play<'_>, _: &mut dyn Observer, _: &AtomicBool) -> Result<Played, BackendError> {
            Err(BackendError::Failed("it plays nothing".to_owned()))
        }
    }

    #[test]
    fn a_control_that_is_called_as_an_algorithm_is_that_algorithm_elsewhere() {
        let backends: [&dyn Backend; 2] = [&Simulator, &Namesake];
        let row = Row::parse("x=bbr", &backends).unwrap();
        assert_eq!(row.control(), Some(&NAMESAKE));
        let own =
            playable(std::slice::from_ref(&row), &Namesake, Asked { named: true, alone: true }).unwrap();
        assert_eq!(own.here[0].control(), Some(&NAMESAKE));
        let simulated = playable(&[row], &Simulator, Asked { named: true, alone: true }).unwrap();
        let first = &simulated.here[0];
        assert_eq!((first.label.as_str(), first.control(), simulated.without()), ("x", None, None));
        assert!(first.steering(&scenario("")).starts_with("bbr "));
        // With a parameter it is the algorithm everywhere.
        let row = Row::parse("bbr:full_bw_cnt=4", &backends).unwrap();
        assert_eq!(row.control(), None);
    }
}
