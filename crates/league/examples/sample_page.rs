//! Plays a small league and writes its page, for the test in a browser: `sample_page DIR` writes DIR/league.html.

use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use rampcc_experiment::{Row, VERSION};
use rampcc_league::{Population, Request, Weights, Which, page};
use rampcc_sim::Simulator;

fn main() -> Result<(), Box<dyn Error>> {
    let place = PathBuf::from(std::env::args().nth(1).ok_or("where to?")?);
    let rows = ["slow_start", "hystart", "best", "limited", "ideal"];
    let rows: Result<Vec<Row>, _> = rows.into_iter().map(|name| Row::parse(name, &[])).collect();
    let all = Population::open(&Which::Public)?;
    // Two of each access type, and those with a running flow.
    let mut population = all.clone().of_each(2);
    let few: Vec<String> = population.paths.iter().map(|path| path.name.clone()).collect();
    let beside =
        all.paths.into_iter().filter(|path| path.scenario.flows.len() > 1 && !few.contains(&path.name));
    population.paths.extend(beside);
    let request = Request {
        population: population.up_to(1_000_000)?,
        entrants: rows?,
        sizes: vec![100_000, 1_000_000],
        seeds: 1,
        backend: &Simulator,
        workers: None,
        out: place.join("runs"),
        reuse: true,
        pairs: false,
        crowds: true,
    };
    let league = request.play(&(), &AtomicBool::new(false))?;
    let table = league.judge(&Weights::default());
    std::fs::write(place.join("league.html"), page(&league, &table, VERSION, "ramp league <sample> & more"))?;
    Ok(())
}
