//! Reading and writing of key files.
use super::{InvalidKey, KeyError};
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use zeroize::Zeroizing;

/// Reads and parses a key file; a private one must be accessible to its owner only.
pub(crate) fn read<T>(
    path: &Path,
    private: bool,
    parse: impl FnOnce(&str) -> Result<T, InvalidKey>,
) -> Result<T, KeyError> {
    let failed = |source| KeyError::File {
        path: path.to_owned(),
        source,
    };
    if private {
        refuse_exposed(path).map_err(failed)??;
    }
    let text = Zeroizing::new(fs::read_to_string(path).map_err(failed)?);
    parse(&text).map_err(|source| KeyError::Content {
        path: path.to_owned(),
        source,
    })
}

/// Writes a key to a file that must not exist yet.
pub(super) fn write_new(path: &Path, private: bool, text: &str) -> Result<(), KeyError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(if private { 0o600 } else { 0o644 });
    }
    #[cfg(not(unix))]
    let _ = private;
    options
        .open(path)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(|source| KeyError::File {
            path: path.to_owned(),
            source,
        })
}

#[cfg(unix)]
fn refuse_exposed(path: &Path) -> std::io::Result<Result<(), KeyError>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(path)?.permissions().mode() & 0o777;
    // a group may read: orchestrators mount secrets like this for a process that is not root
    if mode & 0o007 == 0 {
        return Ok(Ok(()));
    }
    Ok(Err(KeyError::Exposed {
        path: path.to_owned(),
        mode,
    }))
}

#[cfg(not(unix))]
fn refuse_exposed(path: &Path) -> std::io::Result<Result<(), KeyError>> {
    fs::metadata(path).map(|_| Ok(()))
}
