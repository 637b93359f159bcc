//! Text that may hold anything, put into HTML and JSON.

use std::fmt::{self, Display, Write};

/// Text with the characters that mean something in HTML replaced; safe in elements and in quoted attributes.
pub(super) struct Text<'a>(pub(super) &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // Characters that HTML does not allow become the one that says so.
                '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}' => {
                    f.write_char('\u{fffd}')?;
                }
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}

/// HTML that grows at its end.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// Add formatted HTML; parts that are not ours must be [`Text`].
    pub(super) fn add(&mut self, html: fmt::Arguments<'_>) {
        self.0.write_fmt(html).expect("writing to a string cannot fail");
    }

    /// Add HTML of our own.
    pub(super) fn raw(&mut self, html: &str) {
        self.0.push_str(html);
    }

    /// The whole.
    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// For an address: every byte that is not `plain` as `%XX`.
pub(super) fn encoded(text: &str, plain: impl Fn(u8) -> bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            byte if plain(byte) => out.push(byte.into()),
            other => write!(out, "%{other:02X}").expect("writing to a string cannot fail"),
        }
    }
    out
}

/// JSON for a `<script>` element: no character is left that could end the element or open a comment.
pub(super) fn script_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}
