//! Accounts and addresses as the counters of failures know them: every spelling of one account,
//! and every address that one person may have at will, counts as one.
use std::net::{IpAddr, Ipv6Addr};

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// The counter of an account, from one network.
pub(super) fn account(name: &str, domain: &str, network: &str) -> String {
    // the separator cannot be part of what is folded
    format!("account:{}\n{}\n{network}", folded(name), folded(domain))
}

/// The counter of a network, whatever the account.
pub(super) fn address(network: &str) -> String {
    format!("address:{network}")
}

/// The network of an address: who has one IPv6 address has its /64.
pub(super) fn network(address: Option<IpAddr>) -> String {
    match address.map(|address| address.to_canonical()) {
        None => String::new(),
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => {
            let [a, b, c, d, ..] = address.segments();
            format!("{}/64", Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    }
}

/// A name without what databases and people overlook: case, compatibility forms, accents, space
/// around, dots at the end, characters that are not seen. Two accounts that fall together share a
/// counter; that costs them nothing unless somebody guesses.
pub(crate) fn folded(name: &str) -> String {
    let upper: String = name
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_uppercase)
        .collect();
    // once more: upper case brings letters that decompose again
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
        assert_ne!(account("a", "b c", ""), account("a b", "c", ""));
        assert_ne!(account("a\nb", "c", ""), account("a", "b\nc", ""));
    }

    #[test]
    fn an_ipv6_network_counts_as_one_and_a_mapped_address_as_what_it_maps() {
        let of = |text: &str| network(Some(text.parse().expect("address")));
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff:1:2:3"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
        assert_ne!(of("192.0.2.7"), of("192.0.2.8"));
        assert_eq!(network(None), "");
    }
}
