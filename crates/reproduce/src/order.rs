/// A text's words and numbers, by turns: a key by which Figure 2 comes before Figure 10.
pub(crate) fn parts(text: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (word, after) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
        let digits;
        (digits, rest) = after.split_at(after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len()));
        parts.push((word.to_owned(), digits.parse().unwrap_or(0)));
    }
    parts
}
