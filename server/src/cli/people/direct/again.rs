//! kubectl runs its plugin a second time after a 401, and does not say so. Who asks again for the
//! token that it has just had tells it: kubectl keeps a token in memory until the token's end.
use crate::cli::people::{private_file, profile, token_cache::Cached};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Of so many processes it is remembered that they have the token.
const LONGEST: usize = 64;
/// A token that Keystone has confirmed is not asked about again for so long.
const CONFIRMED_SECONDS: i64 = 60;

/// Which processes have had one token.
pub struct Askers {
    path: PathBuf,
    had: Had,
}

#[derive(Default, Serialize, Deserialize)]
struct Had {
    token: String,
    by: Vec<Asker>,
    confirmed_at: Option<Timestamp>,
}

/// A process, by its ID and when it began: IDs are used again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    id: i32,
    began: u64,
}

impl Asker {
    /// The process that started this one.
    pub fn parent() -> Option<Self> {
        let id = rustix::process::getppid()?.as_raw_nonzero().get();
        // other systems than Linux tell by the ID alone
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let began = stat
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.split_whitespace().nth(19)?.parse().ok())
            .unwrap_or_default();
        Some(Self { id, began })
    }
}

fn digest(token: &Cached) -> String {
    profile::file_hash(&[token.token.expose_secret()])
}

impl Askers {
    /// Those noted in this file; none when it cannot be read, which costs a hint only.
    pub fn read(path: PathBuf) -> Self {
        let text = private_file::read(&path).ok().flatten();
        let had = text.and_then(|text| serde_json::from_str(&text).ok());
        Self {
            had: had.unwrap_or_default(),
            path,
        }
    }

    /// Whether this process has had this token, and nobody has asked Keystone about it since.
    pub fn comes_again(&self, asker: &Asker, token: &Cached) -> bool {
        let now = Timestamp::now().as_second();
        let confirmed = |at: Timestamp| now - at.as_second() < CONFIRMED_SECONDS;
        self.had.token == digest(token)
            && self.had.by.contains(asker)
            && !self.had.confirmed_at.is_some_and(confirmed)
    }

    /// Notes that Keystone has confirmed the token.
    pub fn confirmed(&mut self) {
        self.had.confirmed_at = Some(Timestamp::now());
        self.write();
    }

    /// Notes that this process has the token now.
    pub fn note(&mut self, asker: Asker, token: &Cached) {
        let digest = digest(token);
        if self.had.token != digest {
            self.had = Had {
                token: digest,
                ..Had::default()
            };
        }
        if self.had.by.contains(&asker) {
            return;
        }
        if self.had.by.len() >= LONGEST {
            self.had.by.remove(0);
        }
        self.had.by.push(asker);
        self.write();
    }

    /// Of two that write at once one is forgotten, and is told its token a second time unasked.
    fn write(&self) {
        if let Ok(text) = serde_json::to_string(&self.had) {
            let _ = private_file::replace(&self.path, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_had_the_token_comes_again_until_it_is_confirmed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("askers");
        let token = |text: &str| Cached::new(text.to_owned().into(), Timestamp::now());
        let asker = |id| Asker { id, began: 7 };
        let mut askers = Askers::read(path.clone());
        assert!(!askers.comes_again(&asker(1), &token("a")));
        askers.note(asker(1), &token("a"));
        let mut askers = Askers::read(path.clone());
        assert!(askers.comes_again(&asker(1), &token("a")));
        assert!(!askers.comes_again(&asker(2), &token("a")));
        assert!(!askers.comes_again(&asker(1), &token("b")));
        assert!(!askers.comes_again(&Asker { id: 1, began: 8 }, &token("a")));
        askers.confirmed();
        assert!(!Askers::read(path).comes_again(&asker(1), &token("a")));
    }

    #[test]
    fn the_parent_is_known() {
        assert_eq!(Asker::parent(), Asker::parent());
        assert!(Asker::parent().is_some());
    }
}
