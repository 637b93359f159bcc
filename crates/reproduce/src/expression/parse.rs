//! Reads a formula.

use std::ops::Range;

use super::{Aggregate, Check, Function, Node, Reference, Relation, Term};

/// What is wrong with a formula, and where in it.
#[derive(Debug, PartialEq)]
pub(crate) struct Wrong {
    pub(crate) at: Range<usize>,
    pub(crate) problem: String,
    pub(crate) allowed: String,
}

/// Deepest nesting.
const DEPTH_MAX: u32 = 64;

/// A comparison, or a chain of them.
pub(crate) fn parse(text: &str) -> Result<Check, Wrong> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let first = reader.term()?;
    let mut rest = Vec::new();
    while let Some(relation) = reader.relation() {
        rest.push((relation, reader.term()?));
    }
    reader.end("a comparison (<, <=, >, >=), an operator or the end")?;
    if rest.is_empty() {
        let allowed = "a comparison, such as `time[A] < 2 * time[B]`".to_owned();
        return Err(Wrong { at: 0..text.len(), problem: "it compares nothing".to_owned(), allowed });
    }
    Ok(Check { first, rest })
}

/// A formula in x.
pub(crate) fn parse_term(text: &str) -> Result<Term, Wrong> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let term = reader.term()?;
    reader.end("an operator or the end")?;
    Ok(term)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, sign: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    fn wrong<T>(&self, from: usize, problem: impl Into<String>, allowed: &str) -> Result<T, Wrong> {
        Err(Wrong { at: from..self.at.max(from), problem: problem.into(), allowed: allowed.to_owned() })
    }

    fn end(&mut self, allowed: &str) -> Result<(), Wrong> {
        self.skip_space();
        if self.rest().is_empty() {
            return Ok(());
        }
        let from = self.at;
        let found = format!("`{}` is not understood", self.rest());
        self.at = self.text.len();
        self.wrong(from, found, allowed)
    }

    fn relation(&mut self) -> Option<Relation> {
        for (sign, relation) in [
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ] {
            if self.take(sign) {
                return Some(relation);
            }
        }
        None
    }

    fn term(&mut self) -> Result<Term, Wrong> {
        self.skip_space();
        let from = self.at;
        let node = self.sum()?;
        Ok(Term { text: self.text[from..self.at].trim().to_owned(), node })
    }

    fn sum(&mut self) -> Result<Node, Wrong> {
        self.binary(&['+', '-'], Self::product)
    }

    fn product(&mut self) -> Result<Node, Wrong> {
        self.binary(&['*', '/'], Self::single)
    }

    fn binary(
        &mut self,
        operators: &[char],
        next: fn(&mut Self) -> Result<Node, Wrong>,
    ) -> Result<Node, Wrong> {
        let mut left = next(self)?;
        loop {
            self.skip_space();
            let Some(operator) = self.rest().chars().next().filter(|c| operators.contains(c)) else {
                return Ok(left);
            };
            self.at += 1;
            left = Node::Binary(Box::new(left), operator, Box::new(next(self)?));
        }
    }

    fn single(&mut self) -> Result<Node, Wrong> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.wrong(self.at, "it is nested too deeply", "fewer parentheses");
        }
        let node = self.unary();
        self.depth -= 1;
        node
    }

    fn unary(&mut self) -> Result<Node, Wrong> {
        if self.take("-") {
            return Ok(Node::Negative(Box::new(self.single()?)));
        }
        if self.take("(") {
            let inner = self.sum()?;
            self.close(")")?;
            return Ok(inner);
        }
        self.skip_space();
        let from = self.at;
        let word = self.word();
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number(from, word);
        }
        if word.is_empty() {
            let found = self.rest().chars().next().map_or("the end".to_owned(), |c| format!("`{c}`"));
            return self.wrong(
                from,
                format!("{found} is not a value"),
                "a number, x, paper, metric[arm], or a function",
            );
        }
        if word == "x" {
            return Ok(Node::X);
        }
        if word == "paper" && !self.rest().trim_start().starts_with(['[', '(']) {
            return Ok(Node::Paper);
        }
        if self.take("[") {
            return self.reference(from, word);
        }
        if self.take("(") {
            return self.call(from, word);
        }
        let allowed =
            format!("`{word}[ARM]`, `{word}[ARM@POINT]`, or a function with its arguments in parentheses");
        self.wrong(from, format!("`{word}` stands alone"), &allowed)
    }

    fn close(&mut self, sign: &str) -> Result<(), Wrong> {
        if self.take(sign) {
            return Ok(());
        }
        self.wrong(self.at, format!("`{sign}` is missing"), sign)
    }

    fn word(&mut self) -> &'a str {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let length = self.rest().find(|c| !letter(c)).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        word
    }

    fn number(&mut self, from: usize, word: &str) -> Result<Node, Wrong> {
        let Ok(number) = word.parse::<f64>() else {
            return self.wrong(from, format!("`{word}` is not a number"), "a number such as 0.95 or 25 %");
        };
        Ok(Node::Number(if self.take("%") { number / 100.0 } else { number }))
    }

    fn reference(&mut self, from: usize, metric: &str) -> Result<Node, Wrong> {
        let Some(length) = self.rest().find(']') else {
            return self.wrong(from, "`]` is missing", "metric[arm] or metric[arm@point]");
        };
        let inside = &self.rest()[..length];
        self.at += length + 1;
        let mut parts = inside.split('@').map(|part| part.trim().to_owned());
        let arm = parts.next().unwrap_or_default();
        Ok(Node::Value(Reference {
            metric: metric.to_owned(),
            arm,
            at: parts.collect(),
            place: from..self.at,
        }))
    }

    fn call(&mut self, from: usize, word: &str) -> Result<Node, Wrong> {
        let mut arguments = vec![self.sum()?];
        while self.take(",") {
            arguments.push(self.sum()?);
        }
        self.close(")")?;
        if let Some(function) = Function::named(word) {
            let takes = function.takes();
            if takes.contains(&arguments.len()) {
                return Ok(Node::Call(function, arguments));
            }
            let allowed =
                if takes.start() == takes.end() { takes.start().to_string() } else { "1 or more".to_owned() };
            return self.wrong(from, format!("`{word}` has {} arguments", arguments.len()), &allowed);
        }
        let one = <[Node; 1]>::try_from(arguments);
        match (Aggregate::named(word), one) {
            (Some(aggregate), Ok([argument])) => Ok(Node::Over(aggregate, Box::new(argument))),
            (Some(_), Err(many)) => self.wrong(from, format!("`{word}` has {} arguments", many.len()), "1"),
            (None, _) => {
                let names = Function::ALL.iter().map(|(name, _)| *name);
                let all: Vec<&str> = names.chain(Aggregate::ALL.iter().map(|(name, _)| *name)).collect();
                self.wrong(
                    from,
                    format!("there is no function `{word}`"),
                    &format!("one of {}", all.join(", ")),
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_names_its_place() {
        for (text, place, problem) in [
            ("1 +", 3..3, "the end is not a value"),
            ("time < 2", 0..4, "`time` stands alone"),
            ("time[A", 0..5, "`]` is missing"),
            ("nosuch(1) < 2", 0..9, "there is no function `nosuch`"),
            ("pow(1) < 2", 0..6, "`pow` has 1 arguments"),
            ("(1 < 2", 2..3, "`)` is missing"),
            ("time[A]", 0..7, "it compares nothing"),
            ("1 < 2 ?", 6..7, "`?` is not understood"),
            ("1..2 < 3", 0..4, "`1..2` is not a number"),
        ] {
            let wrong = parse(text).unwrap_err();
            assert_eq!(wrong.problem, problem, "{text}");
            assert!(wrong.at.start == place.start || problem.contains(')'), "{text}: {:?}", wrong.at);
        }
        assert!(parse(&"(".repeat(1000)).is_err());
    }
}
