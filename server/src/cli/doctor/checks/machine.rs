//! Checks the machine's resources: disk space and open files.
use crate::cli::doctor::context::Context;
use crate::cli::doctor::fault::Fault;
use crate::cli::doctor::finding::Finding;
use rustix::fs::statvfs;
use rustix::process::{Resource, getrlimit};
use secrecy::ExposeSecret as _;
use std::io;
use std::path::{Path, PathBuf};

/// Minimum free space for sessions, their WAL and the audit log.
const MIN_FREE_BYTES: u64 = 64 * 1024 * 1024;
const MIN_FREE_FILES: u64 = 16;
/// Each WebSocket takes two; systemd's default hard limit is 524288, a shell's often 1024.
const MIN_OPEN_FILES: u64 = 4096;

pub(super) fn check(context: &Context) -> Vec<Finding> {
    let mut findings = vec![open_files(getrlimit(Resource::Nofile).maximum)];
    let url = context.store().map(|section| section.url.expose_secret());
    if let Some(file) = url.and_then(sqlite_file) {
        findings.extend(disk(&file));
    }
    findings
}

/// Returns the file of a SQLite URL.
pub(super) fn sqlite_file(url: &str) -> Option<PathBuf> {
    let rest = url.strip_prefix("sqlite:")?;
    let path = rest.strip_prefix("//").unwrap_or(rest).split('?').next()?;
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// Returns the file's directory; for a bare name, the working directory.
pub(super) fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn disk(file: &Path) -> Option<Finding> {
    let directory = directory_of(file);
    // a missing directory is reported by the store's check
    let found = statvfs(directory).ok()?;
    let free = FreeSpace {
        bytes: found.f_bavail.saturating_mul(found.f_frsize),
        // some file systems have no inode table and report a count of zero
        files: (found.f_files > 0).then_some(found.f_favail),
    };
    Some(free.finding(directory))
}

/// The free space of a file system.
#[derive(Clone, Copy, Debug)]
struct FreeSpace {
    bytes: u64,
    files: Option<u64>,
}

impl FreeSpace {
    fn finding(self, directory: &Path) -> Finding {
        let name = directory.display();
        let mebibytes = self.bytes / (1024 * 1024);
        let seen = format!("{mebibytes} MiB free in {name}");
        if self.bytes < MIN_FREE_BYTES {
            return Finding::fault(Fault::DiskFull, "disk", seen);
        }
        if let Some(files) = self.files.filter(|files| *files < MIN_FREE_FILES) {
            let seen = format!("{files} inodes free in {name}");
            return Finding::fault(Fault::DiskFull, "disk", seen);
        }
        Finding::ok("disk", seen)
    }
}

fn open_files(limit: Option<u64>) -> Finding {
    let seen = match limit {
        Some(limit) => format!("{limit} at most"),
        None => "without a limit".to_owned(),
    };
    match limit {
        Some(limit) if limit < MIN_OPEN_FILES => {
            Finding::fault(Fault::OpenFilesLow, "open files", seen)
        }
        _ => Finding::ok("open files", seen),
    }
}

/// Creates and removes a file, as the store would: permissions alone do not reveal a read-only file
/// system.
pub(super) fn try_writing(directory: &Path) -> io::Result<()> {
    let name = directory.join(format!(".portico-doctor-{}", uuid::Uuid::new_v4()));
    std::fs::File::create_new(&name)?;
    std::fs::remove_file(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_finds_a_full_disk() {
        let roomy = FreeSpace {
            bytes: MIN_FREE_BYTES,
            files: Some(MIN_FREE_FILES),
        };
        let directory = Path::new("/var/lib/portico");
        assert_eq!(roomy.finding(directory).fault, None);
        let no_table = FreeSpace {
            files: None,
            ..roomy
        };
        assert_eq!(no_table.finding(directory).fault, None);
        for full in [
            FreeSpace { bytes: 0, ..roomy },
            FreeSpace {
                files: Some(0),
                ..roomy
            },
        ] {
            let finding = full.finding(directory);
            assert_eq!(finding.fault, Some(Fault::DiskFull), "{full:?}");
            assert!(finding.message.contains("/var/lib/portico"));
        }
        // and the figures of a real file system can be read
        assert!(disk(&std::env::temp_dir().join("portico.db")).is_some());
    }

    #[test]
    fn the_file_of_a_url_is_known_in_each_spelling() {
        for (url, file) in [
            ("sqlite:///var/lib/p.db", Some("/var/lib/p.db")),
            ("sqlite://p.db?mode=rwc", Some("p.db")),
            ("sqlite:p.db", Some("p.db")),
            ("postgres://db/portico", None),
        ] {
            assert_eq!(sqlite_file(url), file.map(PathBuf::from), "{url}");
        }
        assert_eq!(directory_of(Path::new("p.db")), Path::new("."));
    }
}
