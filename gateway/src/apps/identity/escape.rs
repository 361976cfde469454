//! Escapes any text as the value of a header, so that different texts stay different and none
//! begins a new line.
use std::fmt::Write as _;

/// Returns visible ASCII unchanged and everything else as `%XX` of its UTF-8 bytes: also `%`
/// itself, spaces at either end, which servers strip, and the character `also`. RFC 9110 5.5
/// defines no meaning for other bytes.
pub(super) fn escaped(text: &str, also: Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    let inner = text.trim_matches(' ');
    let begins = text.len() - text.trim_start_matches(' ').len();
    let ends = begins + inner.len();
    for (at, c) in text.char_indices() {
        let plain = match c {
            '%' => false,
            ' ' => (begins..ends).contains(&at),
            c => c.is_ascii_graphic() && also != Some(c),
        };
        if plain {
            out.push(c);
        } else {
            let mut buffer = [0; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                // writing to a String cannot fail
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

/// Returns `<user name>@<domain name>`, unique to each account.
pub(super) fn account(name: &str, domain: &str) -> String {
    format!(
        "{}@{}",
        escaped(name, Some('@')),
        escaped(domain, Some('@'))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use proptest::prelude::*;

    #[test]
    fn what_is_plain_stays_readable() {
        assert_eq!(escaped("Ada Lovelace", None), "Ada Lovelace");
        assert_eq!(escaped("a,b;c", None), "a,b;c");
        assert_eq!(account("ada", "Default"), "ada@Default");
    }

    #[test]
    fn attack_19_nothing_breaks_a_line_or_looks_like_something_else() {
        for (text, expected) in [
            ("a\r\nX-Role: admin", "a%0D%0AX-Role: admin"),
            ("a\rb", "a%0Db"),
            ("a\0b\u{7f}", "a%00b%7F"),
            ("jörg", "j%C3%B6rg"),
            ("j%C3%B6rg", "j%25C3%25B6rg"),
            ("ada ", "ada%20"),
            (" ada", "%20ada"),
            ("  ", "%20%20"),
            ("\tada", "%09ada"),
            ("ada\u{a0}", "ada%C2%A0"),
            ("ада", "%D0%B0%D0%B4%D0%B0"),
        ] {
            assert_eq!(escaped(text, None), expected, "{text:?}");
        }
        assert_eq!(account("ada@evil", "Default"), "ada%40evil@Default");
        assert_eq!(account("ada", "evil@Default"), "ada@evil%40Default");
    }

    proptest! {
        #[test]
        fn every_text_is_a_value_and_no_two_are_the_same(a in ".{0,20}", b in ".{0,20}") {
            let value = HeaderValue::try_from(escaped(&a, None)).expect("a value");
            prop_assert!(value.to_str().expect("ASCII").trim() == value.to_str().expect("ASCII"));
            if a != b {
                prop_assert_ne!(escaped(&a, None), escaped(&b, None));
                prop_assert_ne!(escaped(&a, Some(',')), escaped(&b, Some(',')));
            }
            prop_assert!(!escaped(&a, Some(',')).contains(','));
        }

        #[test]
        fn no_two_accounts_are_the_same(
            a in ".{0,8}", b in ".{0,8}", c in ".{0,8}", d in ".{0,8}"
        ) {
            prop_assume!((&a, &b) != (&c, &d));
            prop_assert_ne!(account(&a, &b), account(&c, &d));
        }
    }
}
