//! Reads and writes the gateway's own cookies. [`portico_proxy::headers::cookies`] keeps them from
//! upstreams.
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderValue, header};
use portico_proxy::headers::cookies::{COOKIE_NAME, parts};
use rand::TryRngCore as _;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

/// Bounds a mark, in bytes; Portico's own are shorter.
const MAX_MARK_BYTES: usize = 128;
/// The appearance chosen in the panel, which writes it: not a secret, and the same name everywhere.
const THEME_COOKIE: &str = "portico-theme";
/// Bounds the sign-in forms that one browser has open at once.
const MAX_SLOTS: usize = 16;

/// The purpose of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The session; on an app's host, the child session.
    Session,
    /// An open sign-in form. Each has a cookie of its own, named after its value, so that tabs that
    /// were redirected to sign-in at the same time do not overwrite each other's.
    SignIn,
    /// A sign-in in progress.
    Flow,
    /// A hand-over to an app's host in progress.
    Handover,
    /// The browser's state before and beside the session; see [`crate::browser_state`].
    State,
    /// The count of recent sign-ins without success.
    Redirects,
    /// The browser that starts sign-ins at OIDC providers.
    Provider,
    /// A browser that has signed in before.
    Browser,
    /// Sign-in attempts that recently failed in this browser.
    OwnAttempts,
}

/// How cookies are written: with `__Host-` and `Secure` over HTTPS, with plain names on loopback.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cookies {
    pub secure: bool,
}

/// The system's source of randomness failed.
#[derive(Debug, thiserror::Error)]
#[error("the system has no randomness to give")]
pub(crate) struct NoRandomness;

/// Returns 256 random bits, as text for cookies, forms and URLs.
pub(crate) fn random_secret() -> Result<SecretString, NoRandomness> {
    let mut bytes = [0_u8; 32];
    rand::rngs::OsRng
        .try_fill_bytes(&mut bytes)
        .map_err(|_| NoRandomness)?;
    Ok(SecretString::from(URL_SAFE_NO_PAD.encode(bytes)))
}

impl Purpose {
    fn plain_name(self) -> &'static str {
        match self {
            Purpose::Session => COOKIE_NAME,
            Purpose::SignIn => "portico-sign-in",
            Purpose::Flow => "portico-flow",
            Purpose::Handover => "portico-handover",
            Purpose::State => "portico-state",
            Purpose::Redirects => "portico-redirects",
            Purpose::Provider => "portico-provider",
            Purpose::Browser => "portico-browser",
            Purpose::OwnAttempts => "portico-attempts",
        }
    }

    fn host_name(self) -> &'static str {
        match self {
            Purpose::Session => "__Host-portico",
            Purpose::SignIn => "__Host-portico-sign-in",
            Purpose::Flow => "__Host-portico-flow",
            Purpose::Handover => "__Host-portico-handover",
            Purpose::State => "__Host-portico-state",
            Purpose::Redirects => "__Host-portico-redirects",
            Purpose::Provider => "__Host-portico-provider",
            Purpose::Browser => "__Host-portico-browser",
            Purpose::OwnAttempts => "__Host-portico-attempts",
        }
    }
}

impl Cookies {
    /// Returns the name of a purpose's cookie.
    pub fn name(self, purpose: Purpose) -> &'static str {
        if self.secure {
            purpose.host_name()
        } else {
            purpose.plain_name()
        }
    }

    /// Returns the cookie's value. If there are two cookies of the name, one of them was planted:
    /// neither counts.
    pub fn read(self, headers: &HeaderMap, purpose: Purpose) -> Option<SecretString> {
        secret(self.only(headers, purpose)?)
    }

    /// Returns the values of a purpose whose cookies are named after them, in the browser's order.
    pub fn read_slots(self, headers: &HeaderMap, purpose: Purpose) -> Vec<SecretString> {
        let name = self.name(purpose);
        pairs(headers)
            .filter_map(|(key, value)| {
                let slot = key.strip_prefix(name)?.strip_prefix('-')?;
                secret(value).filter(|value| slot_of(value) == slot)
            })
            .take(MAX_SLOTS)
            .collect()
    }

    /// Returns a `Set-Cookie` value with a name of its own, for a step that takes minutes.
    pub fn set_slot(
        self,
        purpose: Purpose,
        value: &SecretString,
        seconds: u32,
    ) -> Option<HeaderValue> {
        let name = format!("{}-{}", self.name(purpose), slot_of(value));
        self.named(&name, purpose, value.expose_secret(), Some(seconds))
    }

    /// Returns the browser's mark, which Portico has signed; see [`portico_store::BrowserMarks`].
    pub fn read_mark(self, headers: &HeaderMap, purpose: Purpose) -> Option<&str> {
        self.only(headers, purpose)
            .filter(|value| value.len() <= MAX_MARK_BYTES)
    }

    /// Returns whether a response sets the cookie to a value.
    pub fn sets(self, headers: &HeaderMap, purpose: Purpose) -> bool {
        let lines = headers.get_all(header::SET_COOKIE).iter();
        lines
            .filter_map(|line| self.value_set(line, purpose))
            .any(|value| !value.is_empty())
    }

    /// Returns whether a `Set-Cookie` value removes the cookie.
    pub fn removes(self, line: &HeaderValue, purpose: Purpose) -> bool {
        self.value_set(line, purpose).is_some_and(<[u8]>::is_empty)
    }

    fn value_set(self, line: &HeaderValue, purpose: Purpose) -> Option<&[u8]> {
        let pair = parts(line.as_bytes()).next()?;
        let rest = pair.strip_prefix(self.name(purpose).as_bytes())?;
        rest.strip_prefix(b"=")
    }

    /// Leaves a request only cookies with plain names, and of `purpose` the one that
    /// [`Self::read_mark`] returns: a reader that decodes names, or takes the last of two, sees no
    /// other cookie of that name. A sibling host can set `__Host%2Dportico-state`, as it lacks the
    /// prefix that browsers protect.
    pub fn keep_plain(self, headers: &mut HeaderMap, purpose: Purpose) {
        let name = self.name(purpose);
        let own = self
            .read_mark(headers, purpose)
            .map(|value| format!("{name}={value}"));
        let plain = pairs(headers)
            .filter(|(key, _)| *key != name && is_plain(key))
            .map(|(key, value)| format!("{key}={value}"));
        let kept: Vec<String> = plain.chain(own).collect();
        headers.remove(header::COOKIE);
        if !kept.is_empty()
            && let Ok(line) = HeaderValue::try_from(kept.join("; "))
        {
            headers.insert(header::COOKIE, line);
        }
    }

    /// Returns the cookies that the pages depend on, found in one pass: that of the chosen
    /// appearance, whatever its value, and the mark of recent sign-ins without success.
    pub fn of_pages(self, headers: &HeaderMap) -> [Option<&str>; 2] {
        let [theme, redirects] = only(headers, [THEME_COOKIE, self.name(Purpose::Redirects)]);
        [theme, redirects.filter(|mark| mark.len() <= MAX_MARK_BYTES)]
    }

    fn only(self, headers: &HeaderMap, purpose: Purpose) -> Option<&str> {
        let [value] = only(headers, [self.name(purpose)]);
        value
    }

    /// Returns a `Set-Cookie` value with a mark, for a step that takes minutes.
    pub fn set_mark(self, purpose: Purpose, mark: &str, seconds: u32) -> Option<HeaderValue> {
        self.line(purpose, mark, Some(seconds))
    }

    /// Returns a `Set-Cookie` value that lasts as long as the browser (or the session) does.
    pub fn set(self, purpose: Purpose, value: &SecretString) -> Option<HeaderValue> {
        self.line(purpose, value.expose_secret(), None)
    }

    /// Returns a `Set-Cookie` value for a step that takes minutes.
    pub fn set_for(
        self,
        purpose: Purpose,
        value: &SecretString,
        seconds: u32,
    ) -> Option<HeaderValue> {
        self.line(purpose, value.expose_secret(), Some(seconds))
    }

    /// Returns a `Set-Cookie` value that removes the cookie.
    pub fn clear(self, purpose: Purpose) -> Option<HeaderValue> {
        self.line(purpose, "", Some(0))
    }

    fn line(self, purpose: Purpose, value: &str, seconds: Option<u32>) -> Option<HeaderValue> {
        self.named(self.name(purpose), purpose, value, seconds)
    }

    fn named(
        self,
        name: &str,
        purpose: Purpose,
        value: &str,
        seconds: Option<u32>,
    ) -> Option<HeaderValue> {
        let mut line = format!("{name}={value}; Path=/; HttpOnly");
        if self.secure {
            line.push_str("; Secure");
        }
        // The hand-over arrives as a POST from the main host, which is another site when the apps
        // have a registrable domain of their own. `SameSite=None` needs HTTPS; over plain HTTP the
        // attribute is left out, which permits such a POST for two minutes.
        match (purpose, self.secure) {
            (Purpose::Handover, true) => line.push_str("; SameSite=None"),
            (Purpose::Handover, false) => {}
            _ => line.push_str("; SameSite=Lax"),
        }
        if let Some(seconds) = seconds {
            line.push_str("; Max-Age=");
            line.push_str(&seconds.to_string());
        }
        let mut value = HeaderValue::try_from(line).ok()?;
        value.set_sensitive(true);
        Some(value)
    }
}

/// The values of one cookie in a request.
#[derive(Clone, Copy)]
enum Found<'h> {
    Nothing,
    One(&'h [u8]),
    /// Several: one of them was planted.
    Several,
}

/// Returns the value of each cookie that the request has once. Compares beginnings, so that nothing
/// is parsed for the other cookies.
fn only<'h, const N: usize>(headers: &'h HeaderMap, names: [&str; N]) -> [Option<&'h str>; N] {
    let mut found = [Found::Nothing; N];
    for line in headers.get_all(header::COOKIE) {
        for pair in parts(line.as_bytes()) {
            for (name, found) in names.iter().zip(&mut found) {
                let rest = pair.strip_prefix(name.as_bytes());
                if let Some(value) = rest.and_then(|rest| rest.strip_prefix(b"="))
                    // a line with other characters does not count, as in `lines`
                    && line.to_str().is_ok()
                {
                    *found = match found {
                        Found::Nothing => Found::One(value),
                        Found::One(_) | Found::Several => Found::Several,
                    };
                }
            }
        }
    }
    found.map(|found| match found {
        Found::One(value) => std::str::from_utf8(value).ok(),
        Found::Nothing | Found::Several => None,
    })
}

/// Returns a value if it has the form of Portico's secrets.
fn secret(value: &str) -> Option<SecretString> {
    // all bytes at once, as they are in most values: searching for another one takes longer
    let ours = value.len() == 43
        && value.bytes().fold(true, |ours, b| {
            ours & (b.is_ascii_alphanumeric() | (b == b'-') | (b == b'_'))
        });
    ours.then(|| SecretString::from(value.to_owned()))
}

/// Returns whether a cookie's name has only characters that no reader decodes or removes, as
/// Portico's own have.
fn is_plain(name: &str) -> bool {
    name.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// Returns the name suffix of a value's own cookie, which reveals nothing of the value.
fn slot_of(value: &SecretString) -> String {
    let digest = Sha256::digest(value.expose_secret());
    URL_SAFE_NO_PAD.encode(digest.get(..6).unwrap_or_default())
}

/// Returns names and values.
fn pairs(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    lines(headers)
        .flat_map(|line| parts(line.as_bytes()))
        .filter_map(|pair| std::str::from_utf8(pair).ok()?.split_once('='))
}

/// Returns the lines with cookies. A line with other than visible characters is skipped.
fn lines(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests;
