//! Directory of a comparison's results, and other places of its runs.
//!
//! A results directory belongs to one comparison. Another one for which it is named gets a directory below it, and a
//! directory with anything else in it is left alone.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{ExperimentError, Result};
use crate::progress::Progress;
use crate::store::{RUNS, file_name_part, hexadecimal};

/// Results go below it unless the command line says otherwise.
const RESULTS: &str = "ramp-results";
/// Name of a page.
pub(crate) const REPORT: &str = "report.html";
/// Of one comparison.
pub(crate) const PLAN: &str = "plan.json";
/// Of several backends side by side.
pub(crate) const SIDES_PLAN: &str = "sides-plan.json";
/// Of a sweep.
pub(crate) const SWEEP_PLAN: &str = "sweep-plan.json";
/// What a comparison writes next to its plan.
const OUTPUTS: [&str; 6] = [REPORT, "comparison.json", "comparison.csv", "runs.csv", "index.html", "runs"];

/// Tells comparisons apart: by what is compared, not by how often it is played.
pub(crate) fn identity<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(&hash.finalize()[..16])
}

/// The directory of the comparison `identity`: below `ramp-results` by its name, or where `out` says if that is free or
/// its own already, else below that.
pub(crate) fn directory(
    out: Option<&Path>,
    name: &str,
    tail: &str,
    identity: &str,
    progress: &dyn Progress,
) -> Result<PathBuf> {
    let own = format!("{}-{}{tail}", file_name_part(name), identity.get(..8).unwrap_or(identity));
    let Some(out) = out else { return Ok(Path::new(RESULTS).join(own)) };
    match owner(out) {
        Owner::Nobody => Ok(out.to_path_buf()),
        Owner::Comparison(found) if found == identity => Ok(out.to_path_buf()),
        Owner::Comparison(_) => {
            let below = out.join(own);
            let out = out.display();
            let below_it = below.display();
            progress
                .on_note(&format!("{out} holds another comparison; results of this one go to {below_it}"));
            Ok(below)
        }
        Owner::Somebody(file) => Err(ExperimentError::Request {
            field: "out",
            problem: format!("{}: it has a {file} that ramp did not write", out.display()),
            help: Some("name a directory for results alone; it need not exist".to_owned()),
        }),
    }
}

/// Whose a directory is.
enum Owner {
    /// It may be taken.
    Nobody,
    /// A comparison's.
    Comparison(String),
    /// It has this file, and no plan of ours.
    Somebody(String),
}

fn owner(directory: &Path) -> Owner {
    let mut owner = Owner::Nobody;
    for plan in [PLAN, SIDES_PLAN, SWEEP_PLAN] {
        let path = directory.join(plan);
        if !path.is_file() {
            continue;
        }
        let found = fs::read(path).ok().and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        match found.as_ref().filter(|plan| plan.is_object()) {
            // One without an identity is an earlier version's.
            Some(plan) => {
                let found = plan.get("identity").and_then(Value::as_str).unwrap_or_default();
                owner = match owner {
                    Owner::Comparison(other) if other != found => return Owner::Comparison(String::new()),
                    _ => Owner::Comparison(found.to_owned()),
                };
            }
            None => return Owner::Somebody(plan.to_owned()),
        }
    }
    if let Owner::Nobody = owner
        && let Some(file) = OUTPUTS.iter().find(|name| directory.join(name).exists())
    {
        return Owner::Somebody((*file).to_owned());
    }
    owner
}

/// Directories whose runs may serve a comparison in `own`: those next to it and below `out` that are about the same
/// scenario, or about many, as a league is.
pub(crate) fn relatives(own: &Path, out: Option<&Path>, scenario_hash: &str) -> Vec<PathBuf> {
    let root = out.unwrap_or(Path::new(RESULTS));
    let below = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let same = |directory: &PathBuf| {
        directory.join(RUNS).is_file() || planned(directory).is_some_and(|hash| hash == scenario_hash)
    };
    let mut all: Vec<PathBuf> = below.chain([root.to_path_buf()]).filter(|place| place != own).collect();
    all.retain(same);
    all.sort();
    all
}

/// Directories next to `own` of comparisons that are about one of these scenarios.
pub fn comparisons(own: &Path, scenario_hashes: &[&str]) -> Vec<PathBuf> {
    let root = own.parent().filter(|root| !root.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> = beside.filter(|place| place != own).collect();
    all.retain(|place| planned(place).is_some_and(|hash| scenario_hashes.contains(&hash.as_str())));
    all.sort();
    all
}

/// The scenario that a comparison's directory is about.
fn planned(directory: &Path) -> Option<String> {
    let text = fs::read(directory.join(PLAN)).ok()?;
    let plan: Value = serde_json::from_slice(&text).ok()?;
    Some(plan.get("provenance")?.get("scenario_hash")?.as_str()?.to_owned())
}

/// The directory that a plan in `directory` names. A plan may come from a stranger, and what it names is written to: it
/// lies below `directory` or right next to it, where ramp puts results, links included.
pub(crate) fn named(directory: &Path, plan: &str, field: &str, place: &Path) -> Result<PathBuf> {
    let joined = directory.join(place);
    let parts: Vec<_> = place.components().collect();
    let plain = |parts: &[Component<'_>]| parts.iter().all(|part| matches!(part, Component::Normal(_)));
    let (below, beside) = match parts.as_slice() {
        [Component::ParentDir, name] => (false, plain(&[*name])),
        all => (!all.is_empty() && plain(all), false),
    };
    let real = (joined.canonicalize(), directory.canonicalize());
    let stays = match real {
        (Ok(real), Ok(own)) => (below && real.starts_with(&own)) || (beside && real.parent() == own.parent()),
        // Nothing is there to be written to.
        _ => below || beside,
    };
    if stays {
        // The same without `..`, as people write it, if it is the same: not below a link, or for a directory such as `.`.
        let name = place.components().next_back().map(Component::as_os_str);
        let tidy = name.filter(|_| beside).and_then(|name| Some(directory.parent()?.join(name)));
        let same =
            |tidy: &PathBuf| joined.canonicalize().is_ok_and(|real| tidy.canonicalize().ok() == Some(real));
        return Ok(tidy.filter(same).unwrap_or(joined));
    }
    Err(ExperimentError::input_help(
        format!(
            "`{}`: `{field}` is `{}`, which leads out of the results directory",
            directory.join(plan).display(),
            place.display()
        ),
        "allowed: a directory below this one, such as `sim`, or one next to it, such as `../geo-1`, and no link elsewhere",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_directories_below_and_beside_its_own() {
        let root = std::env::temp_dir().join(format!("ramp-named-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let own = root.join("results/own");
        for directory in ["results/own/sim", "results/geo", "elsewhere"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let found = |place: &str| named(&own, SIDES_PLAN, "sides[0][1]", Path::new(place));
        for place in ["sim", "not/there", "../not_there"] {
            assert_eq!(found(place).unwrap(), own.join(place));
        }
        assert_eq!(found("../geo").unwrap(), root.join("results/geo"));
        let elsewhere = root.join("elsewhere");
        let outside =
            ["", ".", "..", "../..", "../../elsewhere", "sim/../../geo", elsewhere.to_str().unwrap()];
        for place in outside {
            let error = found(place).unwrap_err();
            assert!(error.is_input(), "{place}");
            let said = error.to_string();
            for part in [SIDES_PLAN, "`sides[0][1]`", &format!("`{place}`")] {
                assert!(said.contains(part), "{said}");
            }
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&elsewhere, own.join("below")).unwrap();
            std::os::unix::fs::symlink(&elsewhere, root.join("results/beside")).unwrap();
            assert!(found("below").is_err() && found("../beside").is_err());
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_directory_belongs_to_one_comparison() {
        let root = std::env::temp_dir().join(format!("ramp-place-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let place = |identity| directory(Some(&root), "geo", "", identity, &());
        assert_eq!(place("a1").unwrap(), root);
        fs::create_dir_all(&root).unwrap();
        fs::write(root.join("path.toml"), "").unwrap();
        assert_eq!(place("a1").unwrap(), root);
        fs::write(root.join(PLAN), r#"{"identity":"a1"}"#).unwrap();
        assert_eq!(place("a1").unwrap(), root);
        assert_eq!(place("b2").unwrap(), root.join("geo-b2"));
        fs::write(root.join(SWEEP_PLAN), r#"{"identity":"c3"}"#).unwrap();
        assert_eq!(place("a1").unwrap(), root.join("geo-a1"));
        fs::remove_file(root.join(SWEEP_PLAN)).unwrap();
        for foreign in ["notes", "[]"] {
            fs::write(root.join(PLAN), foreign).unwrap();
            assert!(place("a1").unwrap_err().is_input());
        }
        fs::remove_file(root.join(PLAN)).unwrap();
        fs::write(root.join("report.html"), "mine").unwrap();
        assert!(place("a1").unwrap_err().to_string().contains("report.html"));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn parts_of_an_identity_do_not_run_together() {
        assert_ne!(identity(["ab", "c"]), identity(["a", "bc"]));
    }
}
