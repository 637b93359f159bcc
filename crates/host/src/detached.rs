//! What became of an attachment.

/// Result of detaching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// As it was named when it was attached.
    pub scope: String,
    /// The congestion controls that were taken out.
    pub names: Vec<String>,
    /// Fate of the setting that they had replaced.
    pub restored: Restored,
    /// Connections that go on with the algorithm until they close.
    pub still_open: u64,
    /// Further notes for the user.
    pub notes: Vec<String>,
}

/// Fate of the setting that had been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is back.
    PutBack(String),
    /// It was there already.
    WasThere(String),
    /// Another program has set something else since, which stays.
    LeftForeign(String),
    /// There is nothing left to put it back to.
    Gone(String),
}
