//! Questions and answers.

use std::sync::atomic::AtomicBool;

use miette::Diagnostic;
use rampcc_experiment::{ExperimentError, Job, Session, Wish};
use rampcc_lab::report::html::render_live;
use rampcc_lab::{RunRecord, Words};
use rampcc_sim::recorded;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::about::{About, fields};
use crate::asked::Ask;

/// A comparison that grows as it is asked.
#[derive(Default)]
pub struct Engine {
    session: Option<Session<'static>>,
}

/// A question, JSON: `"about"`, or an object with one of the other names.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    /// What there is to choose from.
    About,
    Begin(Box<Ask>),
    /// Which runs it lacks.
    Wanted,
    /// Play a run and keep it.
    Play(Wish),
    /// Play a run for another engine.
    Record(Wish),
    /// Keep a run that another engine has played.
    Take {
        job: Job,
        record: Box<RunRecord>,
    },
    /// What the runs say so far.
    Show,
    /// The line of the simulator's recorded runs: scenario and algorithm.
    Recorded(String, String),
}

#[derive(Serialize)]
struct Wrong {
    error: String,
    help: Option<String>,
}

impl Engine {
    /// The answer to a question: JSON, an object with `error` where it cannot be answered.
    pub fn answer(&mut self, question: &[u8]) -> String {
        let answer = match serde_json::from_slice(question) {
            Ok(question) => self.reply(question),
            Err(error) => Err(wrong(format!("the question cannot be understood: {error}"))),
        };
        answer.unwrap_or_else(|error| {
            let wrong = Wrong { error: told(&error), help: error.help().map(|help| help.to_string()) };
            serde_json::to_string(&wrong).expect("texts are JSON")
        })
    }

    fn reply(&mut self, question: Question) -> Result<String, ExperimentError> {
        let playing = AtomicBool::new(false);
        let none = || wrong("there is no comparison yet");
        Ok(match question {
            Question::About => serde_json::to_string(&About::new())?,
            Question::Begin(ask) => {
                let session = Session::new(&ask.request())?;
                let begun = begun(&session, &ask);
                self.session = Some(session);
                begun.to_string()
            }
            Question::Wanted => serde_json::to_string(&self.session.as_ref().ok_or_else(none)?.wanted())?,
            Question::Play(wish) => {
                let session = self.session.as_mut().ok_or_else(none)?;
                let record = session.play(wish, &playing)?;
                session.take(wish.job, record)?;
                "{}".to_owned()
            }
            Question::Record(wish) => {
                let session = self.session.as_ref().ok_or_else(none)?;
                serde_json::to_string(&session.play(wish, &playing)?)?
            }
            Question::Take { job, record } => {
                self.session.as_mut().ok_or_else(none)?.take(job, *record)?;
                "{}".to_owned()
            }
            Question::Show => match self.session.as_ref().ok_or_else(none)?.comparison() {
                None => "null".to_owned(),
                Some(comparison) => {
                    let live = render_live(&comparison);
                    json!({ "body": live.body, "data": live.data, "verdict": Words::of(&comparison).verdict })
                        .to_string()
                }
            },
            Question::Recorded(scenario, row) => {
                let line = rampcc::algorithm(&row).and_then(|row| recorded(&scenario, row));
                let unknown = || wrong(format!("there is no `{scenario}` or no `{row}`"));
                json!({ "line": line.ok_or_else(unknown)? }).to_string()
            }
        })
    }
}

/// What a page shows of a comparison before its first run.
fn begun(session: &Session<'_>, ask: &Ask) -> Value {
    let scenario = session.scenario();
    json!({
        "name": scenario.name,
        "text": scenario.text,
        "fields": fields(&scenario.text).into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "rows": session.rows().collect::<Vec<_>>(),
        "runs": session.runs(),
        "seed": ask.seed.unwrap_or(scenario.seed),
        "total": session.total(),
        "command": ask.command(),
    })
}

fn wrong(message: impl Into<String>) -> ExperimentError {
    ExperimentError::Input { message: message.into(), help: None }
}

/// The message, with the place in the text where there is one.
fn told(error: &ExperimentError) -> String {
    let message = error.to_string();
    let Some((labels, source)) = error.labels().zip(error.source_code()) else { return message };
    let places = labels.filter_map(|label| {
        let read = source.read_span(label.inner(), 0, 0).ok()?;
        let what = label.label().map_or(String::new(), |what| format!(": {what}"));
        Some(format!("line {}{what}", read.line() + 1))
    });
    [vec![message], places.collect()].concat().join("\n")
}
