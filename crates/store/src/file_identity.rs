//! The identity of a SQLite database's file: detects that the open file was deleted or replaced.
//!
//! SQLite keeps using a file that was deleted or replaced: every statement succeeds, and all data
//! is lost when the process ends.
use crate::cause::StoreCause;
use crate::error::StoreError;
use std::fs::{Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file by its path, and by device and inode at the time it was opened.
#[derive(Clone, Debug)]
pub(crate) struct FileIdentity {
    path: Arc<Path>,
    device: u64,
    inode: u64,
}

impl FileIdentity {
    /// Creates the file if it does not exist, readable by its owner only: SQLite would make it
    /// readable by all users, and its WAL file gets the same mode.
    pub fn create_private(path: PathBuf) -> Result<Self, StoreError> {
        let opened = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .and_then(|file| file.metadata());
        let metadata = opened.map_err(|error| unusable(&path, &error))?;
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            path: path.into(),
        })
    }

    /// Compares the open file with the one at its path now.
    ///
    /// # Errors
    /// [`StoreCause::FileDeleted`] or [`StoreCause::FileReplaced`].
    pub fn check(&self) -> Result<(), StoreError> {
        let changed = |cause| StoreError::File {
            path: self.path.to_path_buf(),
            cause,
            detail: None,
        };
        match std::fs::metadata(&self.path) {
            Ok(metadata) if self.is(&metadata) => Ok(()),
            Ok(_) => Err(changed(StoreCause::FileReplaced)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(changed(StoreCause::FileDeleted))
            }
            Err(error) => Err(unusable(&self.path, &error)),
        }
    }

    fn is(&self, metadata: &Metadata) -> bool {
        metadata.dev() == self.device && metadata.ino() == self.inode
    }
}

fn unusable(path: &Path, error: &io::Error) -> StoreError {
    let cause = match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem => StoreCause::ReadOnly,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreCause::Full,
        _ => StoreCause::FileUnusable,
    };
    StoreError::File {
        path: path.to_owned(),
        cause,
        detail: Some(error.to_string()),
    }
}
