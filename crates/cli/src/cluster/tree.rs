//! A tree as text, such as `kubectl tree` prints one.
use std::fmt;

/// A line with the lines below it.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    text: String,
    below: Vec<Self>,
}

impl Tree {
    /// Returns a line without others below it.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            below: Vec::new(),
        }
    }

    /// Returns a line with others below it.
    pub fn with(text: impl Into<String>, below: impl IntoIterator<Item = Self>) -> Self {
        Self {
            text: text.into(),
            below: below.into_iter().collect(),
        }
    }

    /// Adds a line below this one.
    pub fn push(&mut self, below: Self) {
        self.below.push(below);
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, indent: &str) -> fmt::Result {
        writeln!(f, "{}", crate::one_line(&self.text))?;
        let last = self.below.len().saturating_sub(1);
        for (index, below) in self.below.iter().enumerate() {
            let (branch, space) = match index == last {
                true => ("└─ ", "   "),
                false => ("├─ ", "│  "),
            };
            write!(f, "{indent}{branch}")?;
            below.write(f, &format!("{indent}{space}"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_to_the_one_above_them() {
        let groups = Tree::with("groups", [Tree::new("a\n\u{1b}b"), Tree::new("c")]);
        let tree = Tree::with("shop", [groups, Tree::new("steps")]);
        let expected = "shop\n├─ groups\n│  ├─ ab\n│  └─ c\n└─ steps\n";
        assert_eq!(tree.to_string(), expected);
    }
}
