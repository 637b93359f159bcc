//! Words of a command line.

use std::ffi::OsStr;

/// A word as a shell reads it back.
pub fn quoted(word: &OsStr) -> String {
    let Some(word) = word.to_str() else {
        // As bash and zsh write bytes that are no text.
        let escaped = word.as_encoded_bytes().iter().map(|byte| match byte {
            b'\'' | b'\\' => format!("\\{}", char::from(*byte)),
            b' '..=b'~' => char::from(*byte).to_string(),
            other => format!("\\x{other:02x}"),
        });
        return format!("$'{}'", escaped.collect::<String>());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The words of a command whose words were [`quoted`].
pub fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.extend(word.take()),
            '\'' => {
                word.get_or_insert_default().extend(letters.by_ref().take_while(|letter| *letter != '\''));
            }
            '\\' => word.get_or_insert_default().extend(letters.next()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        let quoted = |word: &str| quoted(OsStr::new(word));
        assert_eq!(quoted("100 Mbit/s"), "'100 Mbit/s'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("a=b,c"), "a=b,c");
    }

    #[test]
    fn quoted_words_are_read_back() {
        let all = ["ramp", "", "it's", "'", "a\\b", "100 Mbit/s", "[{ at = \"0 s\" }]"];
        let command: Vec<String> = all.iter().map(|word| quoted(OsStr::new(word))).collect();
        assert_eq!(words(&command.join(" ")), all);
        assert!(words("").is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn words_that_are_no_text_are_quoted_too() {
        use std::os::unix::ffi::OsStrExt;

        assert_eq!(quoted(OsStr::from_bytes(b"o\xff it's")), r"$'o\xff it\'s'");
    }
}
