//! The population: what its files say, and that they are what the design draws.

use std::fs;
use std::path::Path;

use rampcc_league::{ACCESS, EDITION, Features, Population, Which, about};
use sha2::{Digest, Sha256};

#[path = "../../ramp/tests/support/blessed.rs"]
mod blessed;

#[test]
fn the_files_are_what_the_design_draws() {
    let halves = [(Which::Public, "public.toml"), (Which::HeldOut, "held-out.toml")];
    for (which, name) in halves {
        let drawn = Population::drawn(&which).unwrap();
        blessed::whole(&Path::new(env!("CARGO_MANIFEST_DIR")).join("population").join(name), &drawn);
        if !blessed::asked() {
            assert!(Population::shipped(&which) == Some(&drawn), "{name}: another one is shipped");
        }
    }
}

#[test]
fn each_half_has_every_kind_of_path_within_the_stated_ranges() {
    for which in [Which::Public, Which::HeldOut, Which::Fresh(42)] {
        let population = Population::open(&which).unwrap();
        assert_eq!(population.paths.len(), 160);
        assert_eq!(population.access(), ACCESS);
        let features: Vec<Features> =
            population.paths.iter().map(|path| Features::of(&path.scenario)).collect();
        let count = |holds: &dyn Fn(&Features) -> bool| features.iter().filter(|f| holds(f)).count();
        for f in &features {
            // Steps go below the rate that was drawn.
            assert!((0.4..=12_000.0).contains(&f.get("rate")), "{f:?}");
            assert!((0.9..=1100.0).contains(&f.get("rtt")), "{f:?}");
            assert!(f.get("buffer") >= 0.04, "{f:?}");
        }
        let has = |id: &'static str| count(&|f: &Features| f.get(id) > 0.0);
        for id in ["noise", "bunching", "loss", "cbr", "long", "web", "varies", "aqm", "delayed"] {
            assert!(has(id) >= 8, "{}: {id} on {}", population.name, has(id));
        }
        assert!(count(&|f| f.get("thinning") > 1.0) >= 5);
        assert!(count(&|f| f.get("window") < 1000.0) >= 10);
        assert!(count(&Features::is_clean) >= 20, "{}", count(&Features::is_clean));
        assert!(count(&|f| f.get("return") < 0.05) >= 5);
    }
}

/// Who changes a path gives the edition another name, and its digest.
#[test]
fn an_edition_is_of_these_paths() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("population");
    let mut digest = Sha256::new();
    for file in ["public.toml", "held-out.toml", "crowds.toml", "pairs.toml"] {
        digest.update(fs::read(place.join(file)).unwrap());
    }
    let found = u64::from_be_bytes(digest.finalize()[..8].try_into().unwrap());
    assert_eq!((EDITION, found), ("league-2026.2", 0x5e27_7802_51b2_7aa2), "{found:#x}");
}

#[test]
fn access_types_are_described() {
    for kind in ACCESS {
        let (what, reason) = about(kind).unwrap();
        assert!(!what.is_empty() && !reason.is_empty());
    }
    assert!(about("pigeon").is_none());
}
