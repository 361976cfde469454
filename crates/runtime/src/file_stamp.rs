//! Whether a file has changed, without reading it.
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A change within the granularity of a file system's clock cannot be told from the one before it.
const SETTLED: Duration = Duration::from_secs(2);

/// What identifies the contents of a file: device, inode, size and the times of its last changes. A file that cannot be
/// looked at has a stamp of its own. Symbolic links are followed, so that a secret that Kubernetes replaces is another
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp(Option<Stamp>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: Option<SystemTime>,
    /// Of the contents or the rights, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl FileStamp {
    /// Returns the stamp of the file at `path` now. Blocks.
    pub fn of(path: &Path) -> Self {
        Self(std::fs::metadata(path).ok().map(|metadata| Stamp {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }))
    }

    /// Whether the file was last written long enough ago that each later change gives another stamp.
    pub fn is_settled(&self) -> bool {
        let modified = self.0.and_then(|stamp| stamp.modified);
        // a time in the future says nothing
        modified.is_none_or(|modified| modified.elapsed().is_ok_and(|ago| ago > SETTLED))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_file_has_another_stamp() {
        let dir = tempfile::tempdir().unwrap();
        let (file, next) = (dir.path().join("file"), dir.path().join("next"));
        assert_eq!(FileStamp::of(&file), FileStamp::of(&next));
        std::fs::write(&file, "one").unwrap();
        std::fs::write(&next, "two").unwrap();
        let before = FileStamp::of(&file);
        assert_eq!(before, FileStamp::of(&file));
        assert!(!before.is_settled());
        std::fs::rename(&next, &file).unwrap();
        assert_ne!(before, FileStamp::of(&file));
    }
}
