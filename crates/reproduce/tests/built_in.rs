//! The experiments that come with ramp: every file is read, and every scenario of it made; nothing is played.

use std::collections::BTreeSet;

use rampcc_reproduce::{Extent, Kind, Work, built_in, ids};
use rampcc_sim::Simulator;

#[test]
fn every_file_is_sound_and_named_for_its_experiment() {
    let experiments = built_in().unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)));
    let found: Vec<&str> = experiments.iter().map(|experiment| experiment.id.as_str()).collect();
    assert_eq!(found, ids().collect::<Vec<_>>(), "a file is named for its id");
    assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
    for experiment in &experiments {
        assert!(!experiment.title.is_empty() && !experiment.figure.is_empty(), "{}", experiment.id);
        assert_eq!(experiment.substitute.is_some(), experiment.kind == Kind::Substitute, "{}", experiment.id);
    }
}

#[test]
fn every_run_of_every_experiment_can_be_played() {
    let experiments = built_in().unwrap();
    let runs = |quick| {
        Work::plan(&experiments, Extent { quick, backend: &Simulator, variant: None })
            .unwrap_or_else(|error| panic!("{:?}", miette::Report::new(error)))
            .runs()
    };
    let (quick, full) = (runs(true), runs(false));
    assert!(0 < quick && quick < full, "{quick} of {full}");
}
