//! Populations of paths: the two that come with ramp, one drawn afresh, and a user's own.

use std::collections::BTreeSet;
use std::path::Path as FilePath;

use rampcc_experiment::{ExperimentError, Result};
use rampcc_scenario::{Scenario, Setting, Source, nearest};

use crate::design::ACCESS;
use crate::draw;

const PUBLIC: &str = include_str!("../population/public.toml");
const HELD_OUT: &str = include_str!("../population/held-out.toml");
/// Seed of the paths that everybody may look at.
pub(crate) const PUBLIC_SEED: u64 = 3;
/// Seed of those that are kept for a last look.
pub(crate) const HELD_OUT_SEED: u64 = 4;
/// Of the paths that come with ramp, with the crowds and pairs that are played with them: results of one edition compare.
pub const EDITION: &str = "league-2026.2";

/// [`EDITION`] for a population that comes with ramp or is drawn by it; `None`: a file's.
pub(crate) fn edition(name: &str) -> Option<&'static str> {
    let own = ["public", "held-out"].contains(&name) || name.starts_with("fresh-");
    own.then_some(EDITION)
}

/// On command lines, before the name of a path: `league:cable-07`.
pub const PREFIX: &str = "league:";

/// Paths to play on.
#[derive(Clone, Debug)]
pub struct Population {
    /// `public`, `held-out`, `fresh-42`, or the file's name.
    pub name: String,
    /// In the order of the file.
    pub paths: Vec<Path>,
    /// What is set on every path, besides what its file says.
    pub settings: Vec<Setting>,
}

/// One path.
#[derive(Clone, Debug)]
pub struct Path {
    /// Unique: `cable-07`.
    pub name: String,
    /// One of [`ACCESS`], or a user's own word.
    pub access: String,
    /// What is played.
    pub scenario: Scenario,
}

impl Path {
    /// The same with a download of at most so many bytes.
    pub(crate) fn up_to(&self, bytes: u64) -> Result<Self> {
        self.setting_up_to(bytes).map_or_else(|| Ok(self.clone()), |setting| self.with(&setting))
    }

    /// The same with a download of another size.
    pub(crate) fn with_size(&self, bytes: u64) -> Result<Self> {
        self.size_setting(bytes).map_or_else(|| Ok(self.clone()), |setting| self.with(&setting))
    }

    /// What `--set` needs for that; `None`: the download is no larger.
    pub(crate) fn setting_up_to(&self, bytes: u64) -> Option<String> {
        let first = self.scenario.flows.iter().find(|flow| flow.under_test)?;
        (first.source.size_bytes() > bytes).then(|| self.size_setting(bytes))?
    }

    /// `None`: nothing is under test.
    fn size_setting(&self, bytes: u64) -> Option<String> {
        let scenario = &self.scenario;
        let flow = scenario.flows.iter().position(|flow| flow.under_test)?;
        let (field, bytes) = match scenario.flows[flow].source {
            Source::Responses { first_bytes, responses: 1, .. } => {
                (format!("flow.{flow}.responses.size"), bytes.saturating_sub(first_bytes).max(1))
            }
            _ if scenario.flows.len() > 1 => (format!("flow.{flow}.size"), bytes),
            _ => ("size".to_owned(), bytes),
        };
        Some(format!("{field}={bytes}B"))
    }

    fn with(&self, setting: &str) -> Result<Self> {
        let Scenario { name, text, directory, .. } = &self.scenario;
        let setting = Setting::parse(setting)?;
        let scenario = Scenario::parse_with(name, text, directory.as_deref(), &[setting])?;
        Ok(Self { scenario, ..self.clone() })
    }
}

/// Which paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which<'a> {
    /// Those that everybody may tune to.
    Public,
    /// Those that an algorithm's designer looks at last.
    HeldOut,
    /// Drawn now.
    Fresh(u64),
    /// A file of the same form.
    File(&'a FilePath),
}

impl Population {
    /// The paths, checked.
    pub fn open(which: &Which<'_>) -> Result<Self> {
        match which {
            Which::Public => Self::parse("public", PUBLIC, None),
            Which::HeldOut => Self::parse("held-out", HELD_OUT, None),
            Which::Fresh(seed) => {
                let name = format!("fresh-{seed}");
                Self::parse(&name, &draw::population(&name, *seed), None)
            }
            Which::File(path) => {
                let text = rampcc_scenario::read_small(path).map_err(|cause| ExperimentError::Request {
                    field: "paths",
                    problem: format!("names a file that cannot be read, {}: {cause}", path.display()),
                    help: Some("a file of paths, as league/public.toml is (docs/guide/league.md)".to_owned()),
                })?;
                Self::parse(&path.display().to_string(), &text, path.parent())
            }
        }
    }

    /// The text of a population that comes with ramp, as it is drawn: what its file has to be.
    pub fn drawn(which: &Which<'_>) -> Option<String> {
        match which {
            Which::Public => Some(draw::population("", PUBLIC_SEED)),
            Which::HeldOut => Some(draw::population("held-out", HELD_OUT_SEED)),
            Which::Fresh(seed) => Some(draw::population(&format!("fresh-{seed}"), *seed)),
            Which::File(_) => None,
        }
    }

    /// The file of a population that comes with ramp.
    pub fn shipped(which: &Which<'_>) -> Option<&'static str> {
        match which {
            Which::Public => Some(PUBLIC),
            Which::HeldOut => Some(HELD_OUT),
            _ => None,
        }
    }

    /// From a file: a table `[NAME]` for each path, with `access` and the fields of a scenario, one a line.
    pub fn parse(name: &str, text: &str, directory: Option<&FilePath>) -> Result<Self> {
        let mut paths = Vec::new();
        let mut names = BTreeSet::new();
        let before = text.lines().enumerate().take_while(|(_, line)| head(line).is_none());
        if let Some((number, line)) =
            before.map(|(number, line)| (number + 1, line.trim())).find(|(_, line)| says(line))
        {
            return Err(ExperimentError::Input {
                message: format!("{name}, line {number}: `{line}` stands before the first path"),
                help: Some("fields belong below the line [NAME] of a path".to_owned()),
            });
        }
        for section in sections(text) {
            let problem = |problem: &str, allowed: &str| ExperimentError::Input {
                message: format!("{name}, line {}: path `{}` {problem}", section.line + 1, section.name),
                help: Some(allowed.to_owned()),
            };
            if !names.insert(section.name) {
                return Err(problem("stands there twice", "a name of its own"));
            }
            let access = match section.access.as_slice() {
                [(number, line)] => access_of(line).ok_or_else(|| ExperimentError::Input {
                    message: format!(
                        "{name}, line {}: `access` of path `{}` is no text: {}",
                        number + 1,
                        section.name,
                        line.trim()
                    ),
                    help: Some("a word in quotation marks, as in access = \"cable\"".to_owned()),
                })?,
                [] => {
                    return Err(problem(
                        "has no `access`",
                        "a line such as access = \"cable\": what weights and strata go by",
                    ));
                }
                [_, (number, _), ..] => {
                    return Err(ExperimentError::Input {
                        message: format!(
                            "{name}, line {}: path `{}` has a second `access`",
                            number + 1,
                            section.name
                        ),
                        help: Some("one access type for each path".to_owned()),
                    });
                }
            };
            let scenario = Scenario::parse(section.name, &section.text, directory).or_else(|_| {
                // Again with everything before it, so that lines are those of the file.
                let padded = "\n".repeat(section.line) + &section.text;
                Scenario::parse(name, &padded, directory)
            })?;
            paths.push(Path { name: section.name.to_owned(), access, scenario });
        }
        if paths.is_empty() {
            return Err(ExperimentError::Input {
                message: format!("{name} has no paths"),
                help: Some(
                    "a table [NAME] for each, with `access` and the fields of a scenario, one a line"
                        .to_owned(),
                ),
            });
        }
        Ok(Self { name: name.to_owned(), paths, settings: Vec::new() })
    }

    /// The same with fields of every path set, in order.
    pub fn with(mut self, settings: &[Setting]) -> Result<Self> {
        if settings.is_empty() {
            return Ok(self);
        }
        for Path { scenario, .. } in &mut self.paths {
            let (text, directory) = (&scenario.text, scenario.directory.as_deref());
            *scenario = Scenario::parse_with(&scenario.name, text, directory, settings)?;
        }
        self.settings.extend_from_slice(settings);
        Ok(self)
    }

    /// As tables call it: its name, and what is set.
    pub(crate) fn title(&self) -> String {
        let set = self.settings.iter().map(|setting| format!(" {}", setting.text()));
        let set: String = set.collect();
        if set.is_empty() { self.name.clone() } else { format!("{} with{set}", self.name) }
    }

    /// So many paths of each access type, spread over it: the first points of a sequence fill its space evenly.
    #[must_use]
    pub fn of_each(mut self, count: usize) -> Self {
        let mut seen = std::collections::BTreeMap::new();
        self.paths.retain(|path| {
            let so_far = seen.entry(path.access.clone()).or_insert(0);
            *so_far += 1;
            *so_far <= count
        });
        self
    }

    /// The same with downloads of at most so many bytes.
    pub fn up_to(mut self, bytes: u64) -> Result<Self> {
        for path in &mut self.paths {
            *path = path.up_to(bytes)?;
        }
        Ok(self)
    }

    /// The access types, those of the league in its order.
    pub fn access(&self) -> Vec<String> {
        let there: BTreeSet<&str> = self.paths.iter().map(|path| path.access.as_str()).collect();
        let known = ACCESS.into_iter().filter(|kind| there.contains(kind));
        let own = there.iter().copied().filter(|kind| !ACCESS.contains(kind));
        known.chain(own).map(str::to_owned).collect()
    }
}

/// The scenario of a path by its name, with settings on top; `None`: the text names no path of the league.
pub fn path(text: &str, settings: &[Setting]) -> Option<Result<Scenario>> {
    let name = text.strip_prefix(PREFIX)?;
    let fresh = || name.strip_prefix("fresh-")?.split('-').next()?.parse().ok();
    let which = match fresh() {
        Some(seed) => Which::Fresh(seed),
        None if name.starts_with("held-out-") => Which::HeldOut,
        None => Which::Public,
    };
    let drawn;
    let file = if let Some(file) = Population::shipped(&which) {
        file
    } else {
        drawn = Population::drawn(&which)?;
        &drawn
    };
    let found = sections(file).find(|section| section.name == name);
    if let Some(section) = found {
        return Some(Scenario::parse_with(section.name, &section.text, None, settings).map_err(Into::into));
    }
    let near = nearest(name, sections(file).map(|section| section.name));
    Some(Err(ExperimentError::Input {
        message: format!("the league has no path `{}`", name.chars().take(60).collect::<String>()),
        help: Some(near.map_or_else(
            || {
                "paths are called league:cable-01, league:held-out-cable-01, league:fresh-42-cable-01"
                    .to_owned()
            },
            |near| format!("did you mean `{PREFIX}{near}`?"),
        )),
    }))
}

/// One path's part of a file.
struct Section<'a> {
    name: &'a str,
    /// Lines that set it, with their numbers from 0.
    access: Vec<(usize, &'a str)>,
    /// Line of its first field, from 0.
    line: usize,
    /// Without what is the league's own, which leaves an empty line.
    text: String,
}

fn sections(text: &str) -> impl Iterator<Item = Section<'_>> {
    let mut lines = text.lines().enumerate().peekable();
    std::iter::from_fn(move || {
        let (name, line) = loop {
            let (number, line) = lines.next()?;
            if let Some(name) = head(line) {
                break (name, number + 1);
            }
        };
        let mut section = Section { name, access: Vec::new(), line, text: String::new() };
        while let Some((number, line)) = lines.next_if(|(_, line)| head(line).is_none()) {
            match line.split_once('=').filter(|(field, _)| field.trim() == "access") {
                Some(_) => section.access.push((number, line)),
                None => section.text += line,
            }
            section.text.push('\n');
        }
        Some(section)
    })
}

/// The name in a line `[NAME]`, perhaps with a comment.
fn head(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let name = name.trim();
    (!name.is_empty() && !name.starts_with('[') && !says(rest.trim())).then_some(name)
}

/// True if a line is more than a comment.
fn says(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// The word in `access = "word"`, perhaps with a comment.
fn access_of(line: &str) -> Option<String> {
    let mut table: toml::Table = line.parse().ok()?;
    let word = table.remove("access")?.as_str()?.trim().to_owned();
    (!word.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line_of_the_file() {
        let text = "# Two.\n[a]\naccess = \"x\"\npath.rate = \"1 Mbit/s\"\npath.rtt = \"1 ms\"\n\n[b]\naccess = \"x\"\npath.rate = \"1 Mbit/s\"\npath.rtts = \"1 ms\"\n";
        let error = Population::parse("mine.toml", text, None).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("mine.toml line 10") && message.contains("rtts"), "{message}");
        for (text, problem) in [
            ("[a]\npath.rate = \"1 Mbit/s\"\n", "has no `access`"),
            ("", "has no paths"),
            ("[a]\naccess = 7\n", "line 2: `access` of path `a` is no text: access = 7"),
            ("[a]\naccess = \"\"\n", "line 2: `access` of path `a`"),
            ("[a]\naccess = \"x\"\naccess = \"y\"\n", "line 3: path `a` has a second `access`"),
            ("# mine\naccess = \"x\"\n[a]\n", "line 2: `access = \"x\"` stands before the first path"),
            (
                "[a]\naccess = \"x\"\npath.rate = \"1 Mbit/s\"\npath.rtt = \"1 ms\"\n[a]\naccess = \"x\"\n",
                "twice",
            ),
        ] {
            let error = Population::parse("mine.toml", text, None).unwrap_err();
            assert!(error.is_input() && error.to_string().contains(problem), "{error}");
        }
    }

    #[test]
    fn lines_may_have_comments() {
        let text = "\n# One.\n [a] # the first\naccess = \"cable\" # modem\npath.rate = \"1 Mbit/s\" # slow\npath.rtt = \"1 ms\"\n";
        let population = Population::parse("mine.toml", text, None).unwrap();
        assert_eq!((population.paths[0].name.as_str(), population.paths[0].access.as_str()), ("a", "cable"));
    }

    #[test]
    fn a_path_is_found_by_name_wherever_it_is() {
        for name in ["cable-07", "held-out-geo-01", "fresh-42-leo-20"] {
            let scenario = path(&format!("league:{name}"), &[]).unwrap().unwrap();
            assert_eq!(scenario.name, name);
        }
        assert!(path("cable", &[]).is_none());
        let error = path("league:cabel-07", &[]).unwrap().unwrap_err();
        assert!(format!("{:?}", miette::Report::new(error)).contains("league:cable-07"));
    }
}
