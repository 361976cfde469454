//! The crates that sources name.
use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree};
use std::{collections::BTreeSet, path::Path};

/// Collects the first segments of paths and imports: the names of crates, and also of local modules and
/// types. A variable or a comment with the name of a crate does not count.
#[derive(Default)]
struct Collector {
    with_tests: bool,
    found: BTreeSet<String>,
}

impl Collector {
    fn search(&mut self, tokens: TokenStream, in_attribute: bool) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at = match token {
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(&tokens, at + 1),
                TokenTree::Ident(name) => {
                    if begins_a_path(&tokens, at) {
                        self.found.insert(name.to_string());
                    }
                    at + 1
                }
                TokenTree::Group(group) => {
                    // `a::{b::C}`: b is in the crate a
                    let goes_on =
                        group.delimiter() == Delimiter::Brace && follows_a_path(&tokens, at);
                    if !goes_on {
                        self.search(group.stream(), in_attribute);
                    }
                    at + 1
                }
                TokenTree::Literal(text) => {
                    if in_attribute {
                        self.path_in_text(&tokens, at, &text.to_string());
                    }
                    at + 1
                }
                TokenTree::Punct(_) => at + 1,
            };
        }
    }

    /// Searches an attribute after its `#`; returns where its item begins, or ends if it is for tests.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let is_of_file =
            matches!(tokens.get(at), Some(TokenTree::Punct(mark)) if mark.as_char() == '!');
        let at = if is_of_file { at + 1 } else { at };
        let Some(TokenTree::Group(group)) = tokens.get(at) else {
            return at;
        };
        if !is_documentation(group) {
            self.search(group.stream(), true);
        }
        if self.with_tests || group.stream().to_string().replace(' ', "") != "cfg(test)" {
            return at + 1;
        }
        if is_of_file {
            return tokens.len();
        }
        let ends_item = |token: &TokenTree| match token {
            TokenTree::Punct(mark) => mark.as_char() == ';',
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let end = tokens.iter().skip(at + 1).position(ends_item);
        end.map_or(tokens.len(), |end| at + 2 + end)
    }

    /// Notes the crate of a path in a text of an attribute: `with = "humantime_serde"`, `default = "a::b"`.
    fn path_in_text(&mut self, tokens: &[TokenTree], at: usize, literal: &str) {
        let key = at.checked_sub(2).and_then(|key| tokens.get(key));
        let is_module =
            matches!(key, Some(TokenTree::Ident(key)) if key.to_string().ends_with("with"));
        let text = literal.trim_matches('"');
        if is_module || text.contains("::") {
            let first = text.split("::").next().unwrap_or_default();
            self.found.insert(first.to_owned());
        }
    }
}

fn is_documentation(attribute: &Group) -> bool {
    let first = attribute.stream().into_iter().next();
    matches!(first, Some(TokenTree::Ident(name)) if name == "doc")
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    matches!(
        (tokens.get(at), tokens.get(at + 1)),
        (Some(TokenTree::Punct(first)), Some(TokenTree::Punct(second)))
            if first.as_char() == ':' && first.spacing() == Spacing::Joint && second.as_char() == ':'
    )
}

/// Returns whether the token before `::` before a token is of the same path.
fn follows_a_path(tokens: &[TokenTree], at: usize) -> bool {
    let Some(separator) = at.checked_sub(2).filter(|at| is_separator(tokens, *at)) else {
        return false;
    };
    match separator
        .checked_sub(1)
        .and_then(|before| tokens.get(before))
    {
        Some(TokenTree::Ident(name)) => !["use", "as", "in", "return", "for", "dyn", "impl"]
            .iter()
            .any(|keyword| name == keyword),
        Some(TokenTree::Punct(mark)) => mark.as_char() == '>',
        _ => false,
    }
}

fn begins_a_path(tokens: &[TokenTree], at: usize) -> bool {
    let before = |distance: usize| {
        at.checked_sub(distance)
            .and_then(|before| tokens.get(before))
    };
    let is_word = |token: Option<&TokenTree>, word: &str| matches!(token, Some(TokenTree::Ident(name)) if name == word);
    let is_crate = is_word(before(1), "crate") && is_word(before(2), "extern");
    if is_crate || is_word(before(1), "use") {
        return true;
    }
    is_separator(tokens, at + 1) && !follows_a_path(tokens, at)
}

fn names_in(tokens: TokenStream, with_tests: bool) -> BTreeSet<String> {
    let mut collector = Collector {
        with_tests,
        ..Collector::default()
    };
    collector.search(tokens, false);
    collector.found
}

/// What sources name.
#[derive(Default)]
pub struct Named {
    /// Outside of tests.
    pub product: BTreeSet<String>,
    pub all: BTreeSet<String>,
}

/// Returns what the sources of a folder or file name; nothing if it does not exist.
pub fn named_in(path: &Path) -> Named {
    let mut found = Named::default();
    if !path.exists() {
        return found;
    }
    for entry in walkdir::WalkDir::new(path) {
        let file = entry.unwrap().into_path();
        let relative = file.strip_prefix(path).unwrap().to_str().unwrap();
        let is_test = relative.ends_with("tests.rs") || relative.contains("tests/");
        let is_source = file.extension().is_some_and(|extension| extension == "rs");
        if !is_source {
            continue;
        }
        // most of the time is spent here: once for both
        let tokens: TokenStream = std::fs::read_to_string(&file).unwrap().parse().unwrap();
        if !is_test {
            found.product.extend(names_in(tokens.clone(), false));
        }
        found.all.extend(names_in(tokens, true));
    }
    found
}

#[test]
fn crates_are_found_in_every_form() {
    let text = r#"
        //! no::comment
        #![allow(clippy::first)]
        use second as other;
        use third::{no::Type, Other};
        extern crate fourth;
        /// [`no::link`]
        #[serde(with = "fifth", default = "sixth::value", rename = "no")]
        struct S(seventh::T);
        fn f(no: u8) -> eighth::T { ::ninth::call!(no, tenth::T::no::<eleventh::T>()) }
        #[cfg(test)]
        #[path = "x.rs"]
        mod tests { use no::T; }
        #[cfg(test)]
        use no::T;
        #[derive(twelfth::Debug)]
        enum E { A }
    "#;
    let expected = [
        "clippy", "eighth", "eleventh", "fifth", "fourth", "ninth", "second", "seventh", "sixth",
        "tenth", "third", "twelfth",
    ];
    let tokens: TokenStream = text.parse().unwrap();
    let product = names_in(tokens.clone(), false);
    assert_eq!(product, expected.map(str::to_owned).into());
    assert!(names_in(tokens, true).contains("no"));
}
