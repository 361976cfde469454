//! Files that hold credentials: mode 0600 in a directory of 0700, replaced atomically, by one
//! writer at a time. On a shared machine another user may have created them first, so links,
//! foreign files and files that others can read are refused and never followed.
use super::error::CommandError;
use rustix::fs::OFlags;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serializer;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::time::Duration;

const MAX_LOCK_TRIES: u32 = 100;
const LOCK_RETRY_DELAY: Duration = Duration::from_millis(50);
/// Maximum size of a file, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

fn failed(path: &Path) -> impl FnOnce(std::io::Error) -> CommandError + '_ {
    move |source| CommandError::File {
        path: path.to_owned(),
        source,
    }
}

fn unsafe_path(path: &Path, why: &'static str) -> CommandError {
    CommandError::Unsafe {
        path: path.to_owned(),
        why,
    }
}

fn is_mine(metadata: &Metadata) -> bool {
    metadata.uid() == rustix::process::geteuid().as_raw()
}

/// Returns the open flags: no symbolic link as the last component, and no blocking on a pipe.
fn flags() -> i32 {
    (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC)
        .bits()
        .cast_signed()
}

/// Reads a file that only its owner can access; `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<String>, CommandError> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags())
        .open(path);
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if is_link(path) => {
            drop(error);
            return Err(unsafe_path(path, "is a link, which is never followed"));
        }
        Err(source) => return Err(failed(path)(source)),
    };
    let metadata = file.metadata().map_err(failed(path))?;
    if !metadata.is_file() {
        return Err(unsafe_path(path, "is not a regular file"));
    }
    if !is_mine(&metadata) {
        return Err(unsafe_path(path, "belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(unsafe_path(path, "can be read by other users"));
    }
    read_limited(file).map(Some).map_err(failed(path))
}

/// Returns the JSON files of a directory; none if it does not exist.
pub fn json_files(directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(directory)(source)),
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    Ok(files)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Reads a file that holds no secret of Portico's, links followed; `None` if it does not exist.
pub fn read_shared(path: &Path) -> Result<Option<String>, CommandError> {
    match File::open(path).and_then(read_limited) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed(path)(source)),
    }
}

fn read_limited(file: File) -> std::io::Result<String> {
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(std::io::Error::other("larger than 1 MiB"));
    }
    Ok(text)
}

/// Makes a directory that only its owner may enter; an existing one must belong to its owner, and
/// is closed to others.
pub fn private_directory(path: &Path) -> Result<(), CommandError> {
    directory(path)?;
    let metadata = fs::metadata(path).map_err(failed(path))?;
    if !is_mine(&metadata) {
        return Err(unsafe_path(path, "belongs to another user"));
    }
    if metadata.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed(path))?;
    }
    Ok(())
}

/// Makes a directory if it does not exist; an existing one keeps its permissions.
pub fn directory(path: &Path) -> Result<(), CommandError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(failed(path))
}

/// Replaces `path` with a file of mode 0600; readers see either the old or the new content.
pub fn replace(path: &Path, content: &str) -> Result<(), CommandError> {
    replace_as(path, content, 0o600)
}

/// Does the same for a file that keeps its mode; a new one gets 0600.
pub fn replace_shared(path: &Path, content: &str) -> Result<(), CommandError> {
    let mode = fs::metadata(path).map_or(0o600, |known| known.permissions().mode() & 0o777);
    replace_as(path, content, mode)
}

fn replace_as(path: &Path, content: &str, mode: u32) -> Result<(), CommandError> {
    let temporary = with_suffix(path, &format!(".{:016x}.new", rand::random::<u64>()));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&temporary)?;
        file.write_all(content.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // the first error is the relevant one
        let _ = fs::remove_file(&temporary);
        failed(path)(source)
    })
}

/// Makes a file of mode 0600 that does not exist yet, also not as a link.
pub fn create(path: &Path, content: &str) -> Result<(), CommandError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(failed(path))?;
    let written = file
        .write_all(content.as_bytes())
        .and_then(|()| file.sync_all());
    written.map_err(|source| {
        // the first error is the relevant one
        let _ = fs::remove_file(path);
        failed(path)(source)
    })
}

/// Removes a file; a missing one is not an error.
pub fn remove(path: &Path) -> Result<(), CommandError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(CommandError::File {
            path: path.to_owned(),
            source: error,
        }),
        _ => Ok(()),
    }
}

/// A lock held until the value is dropped: one of several processes works and the others find its
/// result.
pub struct Lock {
    _file: File,
}

/// Waits for the lock that belongs to `path`.
pub async fn lock(path: &Path) -> Result<Lock, CommandError> {
    let path = with_suffix(path, ".lock");
    let opened = path.clone();
    let locked = tokio::task::spawn_blocking(move || {
        let file = open_lock(&opened)?;
        file.lock()?;
        Ok(file)
    })
    .await
    .unwrap_or_else(|stopped| Err(std::io::Error::other(stopped)));
    locked
        .map(|file| Lock { _file: file })
        .map_err(failed(&path))
}

/// Returns the lock that belongs to `path`, unless another process holds it.
pub fn try_lock(path: &Path) -> Result<Option<Lock>, CommandError> {
    let path = with_suffix(path, ".lock");
    let file = open_lock(&path).map_err(failed(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { _file: file })),
        Err(fs::TryLockError::WouldBlock) => Ok(None),
        Err(fs::TryLockError::Error(source)) => Err(failed(&path)(source)),
    }
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .custom_flags(flags())
        .open(path)
}

/// kubectl's own lock on a kubeconfig: `config.lock` exists while a process writes. A stale file
/// would block `kubectl config`, so it is removed with the value.
pub struct KubeconfigLock {
    path: PathBuf,
}

impl Drop for KubeconfigLock {
    fn drop(&mut self) {
        // there is no other way to handle this here
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until no other process writes the kubeconfig.
pub async fn lock_kubeconfig(path: &Path) -> Result<KubeconfigLock, CommandError> {
    let path = with_suffix(path, ".lock");
    for _ in 0..MAX_LOCK_TRIES {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(_) => return Ok(KubeconfigLock { path }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                tokio::time::sleep(LOCK_RETRY_DELAY).await;
            }
            Err(source) => return Err(CommandError::File { path, source }),
        }
    }
    Err(CommandError::Locked { path })
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// Serializes a secret, for files that only their owner can read.
pub fn expose<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.expose_secret())
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

    #[test]
    fn a_file_is_created_only_where_nothing_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("admin.kubeconfig");
        create(&path, "one").unwrap();
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        assert!(create(&path, "two").is_err());
        assert_eq!(read(&path).unwrap().as_deref(), Some("one"));
        let link = directory.path().join("link");
        let target = directory.path().join("target");
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(create(&link, "two").is_err());
        assert!(!target.exists());
    }

    #[test]
    fn a_link_a_readable_file_and_a_pipe_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let good = directory.path().join("good");
        replace(&good, "secret").unwrap();
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&good, &link).unwrap();
        assert!(matches!(read(&link), Err(CommandError::Unsafe { .. })));
        // the write replaces the link with a file and leaves its target alone
        replace(&link, "mine").unwrap();
        assert_eq!(read(&link).unwrap().as_deref(), Some("mine"));
        assert_eq!(read(&good).unwrap().as_deref(), Some("secret"));
        fs::set_permissions(&good, Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(read(&good), Err(CommandError::Unsafe { .. })));
        assert!(matches!(
            read(directory.path()),
            Err(CommandError::Unsafe { .. })
        ));
    }

    #[test]
    fn a_directory_is_closed_to_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tokens");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        private_directory(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_lock_is_had_by_one() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("token");
        let first = try_lock(&path).unwrap();
        assert!(first.is_some());
        assert!(try_lock(&path).unwrap().is_none());
        drop(first);
        assert!(try_lock(&path).unwrap().is_some());
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
    fn a_missing_file_is_not_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("nothing");
        assert_eq!(read(&path).unwrap(), None);
        remove(&path).unwrap();
    }
}
