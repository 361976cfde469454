//! The directory that init writes: staged beside the existing files, then moved into place without
//! replacing any. If a step fails, nothing of the run remains.
use super::error::InitError;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown,
};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const STAGING: &str = ".portico-init-";
/// The configuration is moved last: once it exists, every file that it names exists too.
const LAST_FILE: &str = "portico.toml";

/// Directories closed to the service's group: keys of authorities, and units, which run as root
/// unless they set a user.
const OWNER_ONLY_DIRECTORIES: [&str; 2] = ["ca", "systemd"];

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// The owner (0600), and the group where one is named (0640).
    Private,
    /// Every user who may enter the directory (0644).
    Public,
}

/// Returns the ID of a group of this machine.
pub(super) fn group_id(name: &str) -> Option<u32> {
    let groups = std::fs::read_to_string("/etc/group").ok()?;
    groups.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == name).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// Returns the group that may read a file, if it is not readable by its owner only.
pub(super) fn group_of(file: &Path) -> Option<u32> {
    let metadata = file.metadata().ok()?;
    (metadata.mode() & 0o040 != 0).then(|| metadata.gid())
}

/// Files that are all complete before the first is moved into place.
#[derive(Debug)]
pub(super) struct Staging {
    target: PathBuf,
    /// Whether this run created the target.
    made: bool,
    /// The group that may read.
    group: Option<u32>,
    directory: TempDir,
}

impl Staging {
    /// Creates the target if it is missing, and a staging directory in it.
    ///
    /// # Errors
    /// [`InitError::Write`].
    pub fn new(target: &Path, group: Option<u32>) -> Result<Self, InitError> {
        let made = !target.exists();
        make_directory(target).map_err(|source| write_error(target, source))?;
        let directory = tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(target)
            .map_err(|source| {
                remove_if(made, target);
                write_error(target, source)
            })?;
        Ok(Self {
            target: target.to_owned(),
            made,
            group,
            directory,
        })
    }

    /// Returns the path of a file until [`Self::commit`].
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file and creates the directories in its name.
    ///
    /// # Errors
    /// [`InitError::Write`].
    pub fn write(&self, name: &str, access: Access, text: &str) -> Result<(), InitError> {
        let path = self.path(name);
        let write = || -> io::Result<()> {
            if let Some(parent) = path.parent() {
                make_directory(parent)?;
            }
            let mode = match access {
                Access::Private => 0o600,
                Access::Public => 0o644,
            };
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode)
                .open(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|source| write_error(&self.target.join(name), source))
    }

    /// Moves every file into place and returns their names, sorted.
    ///
    /// # Errors
    /// [`InitError::Appeared`] if one of them exists already, [`InitError::Write`] otherwise; files
    /// moved so far are removed again.
    pub fn commit(self) -> Result<Vec<PathBuf>, InitError> {
        let mut names = Vec::new();
        files_below(self.directory.path(), Path::new(""), &mut names)
            .map_err(|source| write_error(&self.target, source))?;
        names.sort_by_key(|name| (name.as_path() == Path::new(LAST_FILE), name.clone()));
        let mut undo = Undo::default();
        for name in &names {
            let from = self.path(&name.to_string_lossy());
            self.share(name, &from, 0o640)
                .map_err(|source| write_error(&from, source))?;
        }
        for name in &names {
            let to = self.target.join(name);
            if let Err(error) = self.move_into_place(name, &to, &mut undo) {
                undo.run();
                return Err(error);
            }
        }
        if let Err(source) = self.share(Path::new(""), &self.target, 0o750) {
            undo.run();
            return Err(write_error(&self.target, source));
        }
        sync(&self.target);
        names.sort();
        Ok(names)
    }

    /// Lets the group read a file or enter a directory, unless it is private to its owner.
    fn share(&self, name: &Path, path: &Path, mode: u32) -> io::Result<()> {
        let Some(group) = self.group else {
            return Ok(());
        };
        if OWNER_ONLY_DIRECTORIES
            .iter()
            .any(|owners| name.starts_with(owners))
        {
            return Ok(());
        }
        chown(path, None, Some(group))?;
        let mut permissions = path.metadata()?.permissions();
        permissions.set_mode(permissions.mode() | mode);
        std::fs::set_permissions(path, permissions)
    }

    fn move_into_place(&self, name: &Path, to: &Path, undo: &mut Undo) -> Result<(), InitError> {
        let failed = |source| write_error(to, source);
        for parent in name.ancestors().skip(1).collect::<Vec<_>>().iter().rev() {
            let directory = self.target.join(parent);
            if !directory.is_dir() {
                DirBuilder::new()
                    .mode(0o700)
                    .create(&directory)
                    .map_err(failed)?;
                undo.directories.push(directory.clone());
                self.share(parent, &directory, 0o750).map_err(failed)?;
            }
        }
        match rename_new(&self.directory.path().join(name), to) {
            Ok(()) => {
                undo.files.push(to.to_owned());
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(InitError::Appeared(to.to_owned()))
            }
            Err(error) => Err(failed(error)),
        }
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // the staging directory goes first: an error leaves the target as it was
        let _ = std::fs::remove_dir_all(self.directory.path());
        remove_if(self.made, &self.target);
    }
}

/// What was moved or created, in this order.
#[derive(Default)]
struct Undo {
    files: Vec<PathBuf>,
    directories: Vec<PathBuf>,
}

impl Undo {
    /// Reverts as much as possible: the operator sees the original error.
    fn run(self) {
        for file in self.files.iter().rev() {
            let _ = std::fs::remove_file(file);
        }
        for directory in self.directories.iter().rev() {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

/// Returns the entries of a directory, sorted; none if it does not exist.
///
/// # Errors
/// [`InitError::Read`].
pub(super) fn contents(directory: &Path) -> Result<Vec<String>, InitError> {
    let read = || -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            let mut name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_dir() {
                name.push('/');
            }
            names.push(name);
        }
        names.sort();
        Ok(names)
    };
    read().map_err(|source| InitError::Read {
        path: directory.to_owned(),
        source,
    })
}

/// Renames a file; fails if the new name exists already.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // some network file systems cannot refuse to replace a file
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            if to.symlink_metadata().is_ok() {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            std::fs::rename(from, to)
        }
        result => Ok(result?),
    }
}

fn files_below(root: &Path, below: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            files_below(root, &name, names)?;
        } else {
            names.push(name);
        }
    }
    Ok(())
}

fn make_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Removes a directory; only an empty one can be removed like this.
fn remove_if(made: bool, directory: &Path) {
    if made {
        let _ = std::fs::remove_dir(directory);
    }
}

/// Syncs the directory, so that the names are on the disk too; without it they would be there a
/// moment later.
fn sync(directory: &Path) {
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

fn write_error(path: &Path, source: io::Error) -> InitError {
    InitError::Write {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn files_appear_together_and_private_ones_stay_private() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("etc/portico");
        let staging = Staging::new(&target, None).unwrap();
        staging.write("portico.toml", Access::Private, "a").unwrap();
        staging.write("tls/ca.crt", Access::Public, "b").unwrap();
        let names = staging.commit().unwrap();
        assert_eq!(names, [Path::new("portico.toml"), Path::new("tls/ca.crt")]);
        assert_eq!(contents(&target).unwrap(), ["portico.toml", "tls/"]);
        assert_eq!(mode(&target), 0o700);
        assert_eq!(mode(&target.join("tls")), 0o700);
        assert_eq!(mode(&target.join("portico.toml")), 0o600);
        assert_eq!(mode(&target.join("tls/ca.crt")), 0o644);
    }

    #[test]
    fn init_never_overwrites_and_removes_what_it_had_moved() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("portico");
        let staging = Staging::new(&target, None).unwrap();
        staging.write("a/new", Access::Private, "new").unwrap();
        staging.write("b", Access::Private, "new").unwrap();
        std::fs::write(target.join("b"), "old").unwrap();
        let error = staging.commit().unwrap_err();
        assert!(matches!(error, InitError::Appeared(_)), "{error}");
        assert_eq!(contents(&target).unwrap(), ["b"]);
        assert_eq!(std::fs::read_to_string(target.join("b")).unwrap(), "old");
    }

    #[test]
    fn a_group_reads_what_the_service_needs_and_no_more() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("portico");
        // every user may give files to their own primary group
        let group = home.path().metadata().unwrap().gid();
        let staging = Staging::new(&target, Some(group)).unwrap();
        for name in ["portico.toml", "keys/a.key", "ca/ca.key"] {
            staging.write(name, Access::Private, "x").unwrap();
        }
        staging.commit().unwrap();
        for (name, wanted) in [
            ("", 0o750),
            ("portico.toml", 0o640),
            ("keys", 0o750),
            ("keys/a.key", 0o640),
            ("ca", 0o700),
            ("ca/ca.key", 0o600),
        ] {
            assert_eq!(mode(&target.join(name)), wanted, "{name}");
        }
        assert_eq!(group_of(&target.join("portico.toml")), Some(group));
        assert_eq!(group_of(&target.join("ca/ca.key")), None);
        assert_eq!(group_id("root"), Some(0));
        assert_eq!(group_id("no such group"), None);
    }

    #[test]
    fn a_run_that_stops_half_way_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("portico");
        let staging = Staging::new(&target, None).unwrap();
        staging
            .write("keys/store-1.key", Access::Private, "x")
            .unwrap();
        drop(staging);
        assert!(!target.exists());
        // an existing one stays
        std::fs::create_dir(&target).unwrap();
        drop(Staging::new(&target, None).unwrap());
        assert!(target.exists());
    }
}
