//! Detection of changes to a file without reading it.
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Two changes within this time may get the same timestamp from the file system.
const CLOCK_GRANULARITY: Duration = Duration::from_secs(2);

/// What identifies the contents of a file: device, inode, size and the times of its last changes.
/// All files without readable metadata have the same stamp. Symbolic links are followed, so that a
/// secret replaced by Kubernetes counts as another file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp(Option<Stamp>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    bytes: u64,
    modified: Option<SystemTime>,
    /// The last change of the contents or the permissions, in seconds and nanoseconds.
    changed: (i64, i64),
}

impl FileStamp {
    /// Returns the current stamp of the file at `path`. Blocks.
    pub fn of(path: &Path) -> Self {
        Self(std::fs::metadata(path).ok().map(|metadata| Stamp {
            file: (metadata.dev(), metadata.ino()),
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }))
    }

    /// Returns whether the last write is long enough ago that each later change results in another
    /// stamp.
    pub fn is_settled(&self) -> bool {
        let modified = self.0.and_then(|stamp| stamp.modified);
        // a time in the future is not usable
        modified.is_none_or(|modified| modified.elapsed().is_ok_and(|ago| ago > CLOCK_GRANULARITY))
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
