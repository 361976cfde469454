//! Credentials of the app's own, from files: a user name and a password, or a token.
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue, header};
use portico_runtime::secret_file::{SecretFileError, read_secret_file};
use secrecy::{ExposeSecret as _, SecretString};

use super::{facts::Facts, refusal::Refusal};
use crate::{
    BuildError,
    config::{AppConfig, ConfigError, Fact, IdentityFault},
    session::lock::Lock,
};

/// A credential, and the files that it is read from again.
#[derive(Debug)]
pub(super) struct Credential {
    user_file: Option<PathBuf>,
    secret_file: PathBuf,
    /// A token has fewer characters to choose from than a password.
    is_token: bool,
    current: Lock<Arc<Content>>,
    reading: AtomicU64,
    failing: AtomicBool,
}

#[derive(Debug)]
struct Content {
    user: Option<SecretString>,
    secret: SecretString,
}

#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error(transparent)]
    File(#[from] SecretFileError),
    #[error(transparent)]
    Content(#[from] IdentityFault),
}

impl Credential {
    /// Reads the files for the first time.
    pub fn read(app: &AppConfig) -> Result<Self, BuildError> {
        let config = &app.identity;
        let secret_file = config.password_file.as_ref().or(config.token_file.as_ref());
        let secret_file = secret_file.cloned().unwrap_or_default();
        let (user_file, is_token) = (config.user_file.clone(), config.token_file.is_some());
        let content = Content::read(user_file.as_ref(), &secret_file, is_token);
        let content = content.map_err(|unusable| match unusable {
            Unusable::File(error) => BuildError::Secret(error),
            Unusable::Content(fault) => ConfigError::AppIdentity(app.id.clone(), fault).into(),
        })?;
        Ok(Self {
            user_file,
            secret_file,
            is_token,
            current: Lock::new(Arc::new(content)),
            reading: AtomicU64::new(0),
            failing: AtomicBool::new(false),
        })
    }

    /// Says whether there is another credential now. A file that cannot be used is told of once,
    /// and the last good credential stays.
    pub fn read_again(&self, app: &str) -> Result<bool, ()> {
        match Content::read(self.user_file.as_ref(), &self.secret_file, self.is_token) {
            Ok(content) => {
                self.failing.store(false, Ordering::Relaxed);
                let mut current = self.current.lock();
                if current.is(&content) {
                    return Ok(false);
                }
                *current = Arc::new(content);
                self.reading.fetch_add(1, Ordering::Release);
                Ok(true)
            }
            Err(error) => {
                if !self.failing.swap(true, Ordering::Relaxed) {
                    tracing::error!(app, %error, "an app's credential is not usable, the old one stays");
                }
                Err(())
            }
        }
    }

    /// How often another credential was found.
    pub fn reading(&self) -> u64 {
        self.reading.load(Ordering::Acquire)
    }

    /// `Authorization: Basic` (RFC 7617), of the user in the file or the one that is asking.
    pub fn basic(
        &self,
        user: Option<Fact>,
        facts: &Facts<'_>,
    ) -> Result<(HeaderName, HeaderValue), Refusal> {
        let content = Arc::clone(&self.current.lock());
        let name = match (&content.user, user) {
            (Some(fixed), _) => fixed.clone(),
            (None, Some(fact)) => {
                let name = facts.get(fact).text();
                SecretString::from(name.ok_or(Refusal::Unknown(Some(fact)))?)
            }
            (None, None) => return Err(Refusal::Unknown(None)),
        };
        if !is_user(name.expose_secret()) {
            return Err(Refusal::Colon);
        }
        let pair = SecretString::from(format!(
            "{}:{}",
            name.expose_secret(),
            content.secret.expose_secret()
        ));
        authorization("Basic", &STANDARD.encode(pair.expose_secret()))
    }

    /// `Authorization: Bearer` (RFC 6750) with the token in the file.
    pub fn bearer(&self) -> Result<(HeaderName, HeaderValue), Refusal> {
        let content = Arc::clone(&self.current.lock());
        authorization("Bearer", content.secret.expose_secret())
    }
}

/// A credential of this scheme.
pub(super) fn authorization(
    scheme: &str,
    credential: &str,
) -> Result<(HeaderName, HeaderValue), Refusal> {
    let line = format!("{scheme} {credential}");
    let mut value = HeaderValue::try_from(line).map_err(|_| Refusal::Unwritable)?;
    value.set_sensitive(true);
    Ok((header::AUTHORIZATION, value))
}

impl Content {
    fn read(
        user_file: Option<&PathBuf>,
        secret_file: &Path,
        is_token: bool,
    ) -> Result<Self, Unusable> {
        let user = user_file.map(|file| read_secret_file(file)).transpose()?;
        if let Some(user) = &user
            && !is_user(user.expose_secret())
        {
            let fault =
                IdentityFault::Credential("a user name has no colon and no control character");
            return Err(fault.into());
        }
        let secret = read_secret_file(secret_file)?;
        let text = secret.expose_secret();
        if is_token && !text.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(IdentityFault::Credential("a token is visible ASCII in one line").into());
        }
        if text.chars().any(char::is_control) {
            return Err(IdentityFault::Credential("a password has no control character").into());
        }
        Ok(Self { user, secret })
    }

    fn is(&self, other: &Self) -> bool {
        let user = |content: &Self| {
            let user = content.user.as_ref();
            user.map(|user| user.expose_secret().to_owned())
        };
        self.secret.expose_secret() == other.secret.expose_secret() && user(self) == user(other)
    }
}

/// Whether a name can stand in Basic credentials, where the first colon ends it (RFC 7617 2).
fn is_user(name: &str) -> bool {
    !name.is_empty() && !name.contains(':') && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_colon_is_nobodys_password() {
        for name in ["ada:secret", "", "a\nb", ":"] {
            assert!(!is_user(name), "{name:?}");
        }
        assert!(is_user("jörg@Default"));
    }
}
