//! Files that hold credentials: 0600 in a directory of 0700, replaced whole, one writer at a time.
use super::error::PeopleError;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LOCK_TRIES: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> PeopleError + '_ {
    move |source| PeopleError::File {
        path: path.to_owned(),
        source,
    }
}

/// Reads a file, `None` when it does not exist.
pub fn read(path: &Path) -> Result<Option<String>, PeopleError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(PeopleError::File {
            path: path.to_owned(),
            source,
        }),
    }
}

/// Makes a directory that only its owner may enter.
pub fn private_directory(path: &Path) -> Result<(), PeopleError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed(path))
}

/// Replaces `path` by a file with `content`: readers see the old one or the new one, never half.
/// An existing file keeps its mode; a new one gets 0600.
pub fn replace(path: &Path, content: &str) -> Result<(), PeopleError> {
    let mode = fs::metadata(path).map_or(0o600, |known| known.permissions().mode() & 0o777);
    let temporary = with_suffix(path, &format!(".{}.new", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&temporary)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // the error that matters is the first one
        let _ = fs::remove_file(&temporary);
        PeopleError::File {
            path: path.to_owned(),
            source,
        }
    })
}

/// Removes a file; one that is not there is fine.
pub fn remove(path: &Path) -> Result<(), PeopleError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(PeopleError::File {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

/// Held while the value lives: of several processes one works and the others find its result.
pub struct Lock {
    _file: File,
}

/// Waits for the lock that belongs to `path`.
pub async fn lock(path: &Path) -> Result<Lock, PeopleError> {
    let path = with_suffix(path, ".lock");
    let opened = path.clone();
    let locked = tokio::task::spawn_blocking(move || {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&opened)?;
        file.lock()?;
        Ok(file)
    })
    .await
    .unwrap_or_else(|stopped| Err(std::io::Error::other(stopped)));
    locked
        .map(|file| Lock { _file: file })
        .map_err(failed(&path))
}

/// kubectl's own lock on a kubeconfig: `config.lock` is there while somebody writes. A file left
/// behind would keep `kubectl config` from working, so it goes with the value.
pub struct KubeconfigLock {
    path: PathBuf,
}

impl Drop for KubeconfigLock {
    fn drop(&mut self) {
        // nothing else can be done about it here
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until nobody else writes the kubeconfig.
pub async fn lock_kubeconfig(path: &Path) -> Result<KubeconfigLock, PeopleError> {
    let path = with_suffix(path, ".lock");
    for _ in 0..LOCK_TRIES {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(KubeconfigLock { path }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                tokio::time::sleep(LOCK_PAUSE).await;
            }
            Err(source) => return Err(PeopleError::File { path, source }),
        }
    }
    Err(PeopleError::Locked { path })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_is_readable_by_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credential");
        replace(&path, "one").unwrap();
        replace(&path, "two").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("two"));
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[tokio::test]
    async fn the_kubeconfigs_lock_is_kubectls_and_goes_away() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config");
        let first = lock_kubeconfig(&path).await.unwrap();
        assert!(directory.path().join("config.lock").exists());
        let waiting = tokio::spawn(async move { lock_kubeconfig(&path).await.map(drop) });
        drop(first);
        waiting.await.unwrap().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_file_is_no_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nothing");
        assert_eq!(read(&path).unwrap(), None);
        remove(&path).unwrap();
    }
}
