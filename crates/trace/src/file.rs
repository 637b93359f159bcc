//! Samples and events in files: CSV with comments on top, or JSON lines.
//!
//! Both begin with the provenance; both have one line per sample or event, distinguished by `record`, with the
//! same names. [`read`] takes either.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::row::{Row, RowError};
use crate::{FlowEvent, FlowSample, LinkSample, Observer, Provenance};

/// Result of what may fail with [`TraceError`].
pub type Result<T = (), E = TraceError> = std::result::Result<T, E>;

/// Error while writing or reading a file of samples.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The operating system says no.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not JSON of the expected form.
    #[error("line {line}: {source}")]
    Json {
        /// Counted from 1.
        line: u64,
        /// Cause.
        source: serde_json::Error,
    },
    /// A line is not CSV of the expected form.
    #[error("line {line}: {source}")]
    Csv {
        /// Counted from 1.
        line: u64,
        /// Cause.
        source: csv::Error,
    },
    /// A line is well-formed but neither a sample nor an event.
    #[error("line {line}: {source}")]
    Row {
        /// Counted from 1.
        line: u64,
        /// Cause.
        source: RowError,
    },
    /// A line is well-formed, and one of its fields is not what its name says.
    #[error("line {line}, `{field}`: found {found}, expected {allowed}")]
    Field {
        /// Counted from 1.
        line: u64,
        /// Which.
        field: String,
        /// What stands there.
        found: String,
        /// What may stand there.
        allowed: String,
    },
    /// The file does not say how to make it again.
    #[error(
        "line 1: expected `#` (CSV) or `{{\"provenance\": …}}` (JSON lines): this is not a file of samples or decisions"
    )]
    NoProvenance,
    /// A line of the provenance is broken.
    #[error("line {line}: the value is not what its name says")]
    Provenance {
        /// Counted from 1.
        line: u64,
    },
}

/// Format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Comment lines, a line of names, then values.
    Csv,
    /// One JSON object per line, the provenance first.
    JsonLines,
}

/// Writes everything it gets. The first failure stops it and comes out of [`Writer::finish`].
pub struct Writer<W: Write> {
    lines: Lines<W>,
    failed: Option<TraceError>,
}

/// A file of either format that has begun with its provenance.
pub(crate) enum Lines<W: Write> {
    Csv(Box<csv::Writer<W>>),
    Json(W),
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) provenance: Provenance,
}

impl<W: Write> Lines<W> {
    pub(crate) fn begin<I>(mut out: W, format: Format, provenance: &Provenance, columns: I) -> Result<Self>
    where
        I: IntoIterator<Item: AsRef<[u8]>>,
    {
        if format == Format::JsonLines {
            json_line(&mut out, &Head { provenance: provenance.clone() })?;
            return Ok(Self::Json(out));
        }
        out.write_all(provenance.comment().as_bytes())?;
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(columns).map_err(io_error)?;
        Ok(Self::Csv(Box::new(csv)))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Csv(csv) => csv.flush(),
            Self::Json(out) => out.flush(),
        }
    }
}

impl<W: Write> Writer<W> {
    /// Begin a file with its provenance.
    pub fn new(out: W, format: Format, provenance: &Provenance) -> Result<Self> {
        Ok(Self { lines: Lines::begin(out, format, provenance, Row::COLUMNS)?, failed: None })
    }

    /// True if writing has failed, so that a run may stop early.
    pub fn failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Write out what is buffered; the first failure of all.
    pub fn finish(mut self) -> Result {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.lines.flush()?),
        }
    }

    fn write(&mut self, row: &Row) {
        if self.failed.is_some() {
            return;
        }
        let written = match &mut self.lines {
            Lines::Json(out) => json_line(out, row),
            Lines::Csv(csv) => row
                .cells(|cell| csv.write_field(cell))
                .and_then(|()| csv.write_record(None::<&[u8]>))
                .map_err(|error| TraceError::Io(io_error(error))),
        };
        self.failed = written.err();
    }
}

/// The error of the output itself, so that its kind stays known.
pub(crate) fn io_error(error: csv::Error) -> io::Error {
    if !error.is_io_error() {
        return error.into();
    }
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

pub(crate) fn json_line(out: &mut impl Write, value: &impl Serialize) -> Result {
    serde_json::to_writer(&mut *out, value).map_err(io::Error::from)?;
    Ok(out.write_all(b"\n")?)
}

impl<W: Write> Observer for Writer<W> {
    fn on_flow(&mut self, sample: &FlowSample) {
        self.write(&sample.into());
    }
    fn on_link(&mut self, sample: &LinkSample) {
        self.write(&sample.into());
    }
    fn on_event(&mut self, event: &FlowEvent) {
        self.write(&event.into());
    }
}

/// Tell an observer everything that a file says; the provenance comes back.
///
/// # Errors
/// Names the first line that is not as [`Writer`] writes it.
pub fn read(mut file: impl BufRead, observer: &mut impl Observer) -> Result<Provenance> {
    match file.fill_buf()?.first() {
        Some(b'{') => read_json(file, observer),
        Some(b'#') => read_csv(file, observer),
        _ => Err(TraceError::NoProvenance),
    }
}

fn read_json(file: impl BufRead, observer: &mut impl Observer) -> Result<Provenance> {
    let mut provenance = None;
    for (number, text) in (1..).zip(file.lines()) {
        let text = text?;
        let json = |source| TraceError::Json { line: number, source };
        if provenance.is_none() {
            provenance = Some(serde_json::from_str::<Head>(&text).map_err(json)?.provenance);
        } else if !text.is_empty() {
            let row: Row = serde_json::from_str(&text).map_err(json)?;
            row.replay(observer).map_err(|source| TraceError::Row { line: number, source })?;
        }
    }
    provenance.ok_or(TraceError::NoProvenance)
}

fn read_csv(mut file: impl BufRead, observer: &mut impl Observer) -> Result<Provenance> {
    let (provenance, comments) = read_comments(&mut file)?;
    let mut rows = csv::Reader::from_reader(file);
    // The line of names is the first one after the comments.
    for (line, row) in (comments + 2..).zip(rows.deserialize()) {
        let row: Row = row.map_err(|source| TraceError::Csv { line, source })?;
        row.replay(observer).map_err(|source| TraceError::Row { line, source })?;
    }
    Ok(provenance)
}

/// The provenance on top of a CSV file, and how many lines it takes.
pub(crate) fn read_comments(file: &mut impl BufRead) -> Result<(Provenance, u64)> {
    let mut provenance = Provenance::default();
    let mut comments = 0;
    while file.fill_buf()?.first() == Some(&b'#') {
        let mut line = String::new();
        file.read_line(&mut line)?;
        comments += 1;
        provenance.take_comment(line.trim_end()).ok_or(TraceError::Provenance { line: comments })?;
    }
    Ok((provenance, comments))
}
