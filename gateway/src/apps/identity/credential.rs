//! The app's own credentials, read from files: a user name and a password, or a token.
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderName, HeaderValue, header};
use parking_lot::Mutex;
use portico_runtime::{
    file_stamp::FileStamp,
    secret_file::{SecretFileError, read_secret_file},
};
use secrecy::{ExposeSecret as _, SecretString};

use super::{identity_attributes::IdentityAttributes, refusal::Refusal};
use crate::{
    build_error::BuildError,
    config::{AppConfig, ConfigError, Fact, IdentityFault},
};

/// A credential, and the files that it is read from.
#[derive(Debug)]
pub(super) struct Credential {
    user_file: Option<PathBuf>,
    secret_file: PathBuf,
    /// Whether it is a token, which permits fewer characters than a password.
    is_token: bool,
    current: Mutex<Arc<Content>>,
    reading: AtomicU64,
    last: Mutex<LastRead>,
}

/// The state of the files when they were last read, and any error.
#[derive(Debug, Default)]
struct LastRead {
    stamps: Option<[Option<FileStamp>; 2]>,
    fault: Option<String>,
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
            current: Mutex::new(Arc::new(content)),
            reading: AtomicU64::new(0),
            last: Mutex::new(LastRead::default()),
        })
    }

    /// Reads the files again where they have changed. Returns whether the credential changed. Each
    /// error is logged once, and the last valid credential stays in use. Blocks.
    pub fn read_again(&self, app: &str) -> Result<bool, ()> {
        let mut last = self.last.lock();
        let stamps = self.stamps();
        if stamps.is_some() && last.stamps == stamps {
            return if last.fault.is_some() {
                Err(())
            } else {
                Ok(false)
            };
        }
        last.stamps = stamps;
        match Content::read(self.user_file.as_ref(), &self.secret_file, self.is_token) {
            Ok(content) => {
                last.fault = None;
                let mut current = self.current.lock();
                if current.is(&content) {
                    return Ok(false);
                }
                *current = Arc::new(content);
                self.reading.fetch_add(1, Ordering::Release);
                Ok(true)
            }
            Err(error) => {
                let fault = error.to_string();
                if last.fault.as_ref() != Some(&fault) {
                    tracing::error!(upstream = app, %error, "an app's credential is not usable, the old one stays");
                }
                last.fault = Some(fault);
                Err(())
            }
        }
    }

    /// Returns stamps that identify the contents of both files; `None` while one of them may be in
    /// the middle of a change.
    fn stamps(&self) -> Option<[Option<FileStamp>; 2]> {
        let stamp = |path: Option<&Path>| match path.map(FileStamp::of) {
            Some(stamp) if !stamp.is_settled() => None,
            stamp => Some(stamp),
        };
        Some([
            stamp(self.user_file.as_deref())?,
            stamp(Some(&self.secret_file))?,
        ])
    }

    /// Returns how many times the credential has changed.
    pub fn reading(&self) -> u64 {
        self.reading.load(Ordering::Acquire)
    }

    /// Returns `Authorization: Basic` (RFC 7617), for the user in the file or the signed-in user.
    pub fn basic(
        &self,
        user: Option<Fact>,
        attributes: &IdentityAttributes<'_>,
    ) -> Result<(HeaderName, HeaderValue), Refusal> {
        let content = Arc::clone(&self.current.lock());
        let name = match (&content.user, user) {
            (Some(fixed), _) => fixed.clone(),
            (None, Some(fact)) => {
                let name = attributes.get(fact).text();
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

    /// Returns `Authorization: Bearer` (RFC 6750) with the token in the file.
    pub fn bearer(&self) -> Result<(HeaderName, HeaderValue), Refusal> {
        let content = Arc::clone(&self.current.lock());
        authorization("Bearer", content.secret.expose_secret())
    }
}

/// Returns an `Authorization` header of this scheme.
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

/// Returns whether a name can be used in Basic credentials, where the first colon ends it (RFC 7617
/// 2).
fn is_user(name: &str) -> bool {
    !name.is_empty() && !name.contains(':') && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        os::unix::fs::PermissionsExt as _,
        time::{Duration, SystemTime},
    };

    #[test]
    fn a_user_name_with_a_colon_has_no_password() {
        for name in ["ada:secret", "", "a\nb", ":"] {
            assert!(!is_user(name), "{name:?}");
        }
        assert!(is_user("jörg@Default"));
    }

    #[test]
    fn finding_o17_a_credential_is_read_again_only_when_its_file_has_changed() {
        let dir = tempfile::tempdir().expect("directory");
        let file = dir.path().join("token");
        // long ago, so that nothing looks like the middle of a change
        let write = |text: &str, hours: u64| {
            std::fs::write(&file, text).expect("written");
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&file, private).expect("private");
            // the real time, as the file system has it
            let time = SystemTime::from(portico_clock::Clock::system().now())
                - Duration::from_secs(hours * 3600);
            let open = std::fs::File::options().write(true).open(&file);
            open.and_then(|file| file.set_modified(time)).expect("time");
        };
        write("first", 9);
        let app = serde_json::from_value(serde_json::json!({
            "id": "a", "name": "A", "project": "p", "url": "http://127.0.0.1:1",
            "identity": { "kind": "bearer", "token_file": file },
        }));
        let credential = Credential::read(&app.expect("shape")).expect("read");
        let stamped = || credential.last.lock().stamps.is_some();
        assert_eq!(credential.read_again("a"), Ok(false));
        assert!(stamped());
        // the file is not read again: a read would notice that this is not its content
        *credential.current.lock() = Arc::new(Content {
            user: None,
            secret: "unread".to_owned().into(),
        });
        assert_eq!(credential.read_again("a"), Ok(false));
        write("second", 8);
        assert_eq!(credential.read_again("a"), Ok(true));
        assert_eq!(credential.reading(), 1);
        write("not a token", 7);
        assert_eq!(credential.read_again("a"), Err(()));
        assert_eq!(credential.read_again("a"), Err(()));
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(credential.read_again("a"), Err(()));
        write("third", 6);
        assert_eq!(credential.read_again("a"), Ok(true));
        let (_, value) = credential.bearer().unwrap_or_else(|_| panic!("bearer"));
        assert_eq!(value, "Bearer third");
        // a file that was changed just now is read each time until it has settled
        write("fourth", 0);
        assert_eq!(credential.read_again("a"), Ok(true));
        assert!(!stamped());
    }
}
