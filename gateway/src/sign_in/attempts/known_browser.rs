//! Recognizes browsers that have signed in before.
//!
//! A browser that an account has signed in with has separate failure counters: guesses made
//! elsewhere do not delay the account's owner, and a thief with a stolen cookie can guess no faster
//! than without it. The cookie holds a random ID and tags of the last accounts, signed with the
//! store's key; it grants no access.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue};
use portico_domain::{account_name, identity::User};
use rand::TryRngCore as _;
use sha2::{Digest as _, Sha256};

use super::Attempts;
use crate::http::cookies::Purpose;

const PURPOSE: &str = "known browser";
/// The longest cookie lifetime that browsers accept.
const COOKIE_SECONDS: u32 = 400 * 24 * 3600;
/// Bounds the accounts that one browser is known for.
const MAX_ACCOUNTS: usize = 4;
const ID_BYTES: usize = 16;
const TAG_BYTES: usize = 8;

/// A browser that has signed in before, and the accounts it was used with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownBrowser {
    id: String,
    /// The latest first.
    accounts: Vec<String>,
}

impl KnownBrowser {
    /// Returns the browser's ID where the account has signed in with it.
    pub fn id_for(&self, account: &str) -> Option<&str> {
        self.accounts
            .contains(&tag(account))
            .then_some(self.id.as_str())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.').map(str::to_owned);
        let id = parts.next()?;
        Some(Self {
            id,
            accounts: parts.take(MAX_ACCOUNTS).collect(),
        })
    }

    fn with(mut self, account: &str) -> Self {
        let tag = tag(account);
        self.accounts.retain(|known| *known != tag);
        self.accounts.insert(0, tag);
        self.accounts.truncate(MAX_ACCOUNTS);
        self
    }

    fn text(&self) -> String {
        format!("{}.{}", self.id, self.accounts.join("."))
    }
}

impl Attempts {
    /// Returns the browser of a request, if it has signed in before.
    pub(crate) fn known_browser(&self, headers: &HeaderMap) -> Option<KnownBrowser> {
        let mark = self.cookies.read_mark(headers, Purpose::Browser)?;
        let text = self.store.browser_marks().read(PURPOSE, mark)?;
        KnownBrowser::parse(text)
    }

    /// Returns the cookie by which the browser is known for an account that has just signed in.
    pub(crate) fn remember_browser(&self, headers: &HeaderMap, user: &User) -> Option<HeaderValue> {
        let known = self.known_browser(headers).or_else(new_browser)?;
        let account = account_name::account_key(&user.name, &user.domain.name);
        let text = known.with(&account).text();
        let mark = self.store.browser_marks().issue(PURPOSE, &text);
        self.cookies
            .set_mark(Purpose::Browser, &mark, COOKIE_SECONDS)
    }
}

/// Returns a new browser. Without randomness the browser stays unknown, and only lacks counters of
/// its own.
fn new_browser() -> Option<KnownBrowser> {
    let mut id = [0_u8; ID_BYTES];
    rand::rngs::OsRng.try_fill_bytes(&mut id).ok()?;
    Some(KnownBrowser {
        id: URL_SAFE_NO_PAD.encode(id),
        accounts: Vec::new(),
    })
}

/// Returns the tag of an account in the cookie.
pub(crate) fn tag(account: &str) -> String {
    let digest = Sha256::digest(account);
    URL_SAFE_NO_PAD.encode(digest.get(..TAG_BYTES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_s4_a_browser_is_known_for_the_last_accounts_only() {
        let mut browser = new_browser().expect("randomness");
        for account in ["a", "b", "c", "d", "a", "e"] {
            browser = browser.with(account);
        }
        let read = KnownBrowser::parse(&browser.text()).expect("text");
        assert_eq!(read, browser);
        for account in ["e", "a", "d", "c"] {
            assert_eq!(read.id_for(account), Some(browser.id.as_str()), "{account}");
        }
        assert_eq!(read.id_for("b"), None);
        // with its signature it fits into a cookie that is read as a mark
        assert!(read.text().len() <= 84, "{}", read.text());
    }
}
