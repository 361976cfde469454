//! Normalizes account names: every spelling of an account counts as one, for the counters of failed
//! sign-ins and for rules that refuse a user by name.
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Returns the key that an account is counted by.
pub fn account_key(name: &str, domain: &str) -> String {
    // the separator cannot be part of a normalized name
    format!("{}\n{}", folded(name), folded(domain))
}

/// Returns a name without what databases and users overlook: case, compatibility forms, accents,
/// surrounding space, trailing dots, invisible characters. Two accounts with the same result share
/// a counter, which affects them only while passwords are being guessed.
pub fn folded(name: &str) -> String {
    let upper: String = name
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_uppercase)
        .collect();
    // again: upper case adds letters that decompose further
    let lower: String = upper
        .nfkd()
        .filter(|c| !is_combining_mark(*c) && !is_unseen(*c))
        .flat_map(char::to_lowercase)
        .collect();
    let words: Vec<&str> = lower.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', ' ']).to_owned()
}

fn is_unseen(c: char) -> bool {
    (c.is_control() && !c.is_whitespace())
        || matches!(
            c,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_one_account() {
        for (one, other) in [
            ("Ada", "aDA"),
            ("ada", " ada "),
            ("ada", "ada."),
            ("ada", "ａｄａ"),
            ("ada", "ad\u{200b}a"),
            ("straße", "STRASSE"),
            ("Ωmega", "ωMEGA"),
            ("josé", "jose\u{301}"),
            ("josé", "jose"),
            ("ﬁn", "FIN"),
            ("ΟΔΟΣ", "οδος"),
            ("a  b", "a b"),
        ] {
            assert_eq!(folded(one), folded(other), "{one} {other}");
        }
        assert_ne!(folded("ada"), folded("adam"));
        assert_ne!(account_key("a", "b c"), account_key("a b", "c"));
        assert_ne!(account_key("a\nb", "c"), account_key("a", "b\nc"));
    }
}
