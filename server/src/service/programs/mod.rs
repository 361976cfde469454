//! The program `portico` for users' machines: the one that this process runs, and the files of the
//! operator's directory.
mod digest;

use digest::Digests;
use portico_domain::panel::{Platform, ProgramFile, ProgramsView, System, parse_program_name};
use std::{
    collections::BTreeMap,
    env::consts,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// The running program, also after its file was replaced by an upgrade.
const OWN_PROGRAM: &str = "/proc/self/exe";
/// How long a page waits for digests that are not computed yet.
const PATIENCE: Duration = Duration::from_millis(700);
/// Maximum number of files of the directory that are offered.
const MAX_FILES: usize = 32;

/// A file that is offered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Offer {
    /// `portico-linux-amd64`.
    pub file: String,
    pub system: System,
    pub architecture: String,
    pub path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

/// The programs of this installation, and their digests.
#[derive(Default)]
pub struct Programs {
    directory: Option<PathBuf>,
    digests: Digests,
}

impl Programs {
    /// Offers the program that runs, and the files of a directory.
    pub fn new(directory: Option<PathBuf>) -> Self {
        Self {
            directory,
            digests: Digests::default(),
        }
    }

    /// Returns the programs, those for `platform` first. A file that cannot be read is left out.
    pub async fn view(&self, platform: Platform) -> ProgramsView {
        let offers = self.offers().await;
        let described = offers.into_iter().map(|offer| async move {
            let sha256 = self.digests.of(&offer, PATIENCE).await.ok()?;
            let mut file = ProgramFile {
                file: offer.file,
                system: offer.system,
                architecture: offer.architecture,
                bytes: offer.bytes,
                sha256,
                is_for_viewer: false,
            };
            file.is_for_viewer = platform.runs(&file);
            Some(file)
        });
        let described = futures::future::join_all(described).await;
        let mut files: Vec<_> = described.into_iter().flatten().collect();
        files.sort_by(|one, other| {
            let key = |file: &ProgramFile| (!file.is_for_viewer, file.system != platform.system);
            key(one)
                .cmp(&key(other))
                .then_with(|| one.file.cmp(&other.file))
        });
        ProgramsView { files }
    }

    /// Returns the offer with exactly this name. The name is never part of a path.
    pub async fn find(&self, file: &str) -> Option<Offer> {
        let mut offers = self.offers().await.into_iter();
        offers.find(|offer| offer.file == file)
    }

    /// Returns what is offered now.
    async fn offers(&self) -> Vec<Offer> {
        let mut found = BTreeMap::new();
        if let Some(own) = own().await {
            found.insert(own.file.clone(), own);
        }
        if let Some(directory) = &self.directory {
            let files = of_directory(directory)
                .await
                .inspect_err(|error| {
                    tracing::warn!(path = %directory.display(), %error, "panel.downloads cannot be read");
                })
                .unwrap_or_default();
            // the operator's choice for a system replaces the own program
            found.extend(files.into_iter().map(|offer| (offer.file.clone(), offer)));
        }
        found.into_values().collect()
    }
}

/// Returns the program that runs, if it is for Linux.
async fn own() -> Option<Offer> {
    if consts::OS != System::Linux.segment() {
        return None;
    }
    let architecture = match consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let name = format!("portico-{}-{architecture}", System::Linux.segment());
    offer(name, PathBuf::from(OWN_PROGRAM)).await
}

/// Returns the programs of a directory.
async fn of_directory(directory: &Path) -> std::io::Result<Vec<Offer>> {
    let mut entries = tokio::fs::read_dir(directory).await?;
    let mut found = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        found.extend(offer(name, entry.path()).await);
        if found.len() == MAX_FILES {
            break;
        }
    }
    Ok(found)
}

/// Describes a regular file whose name is that of a program.
async fn offer(file: String, path: PathBuf) -> Option<Offer> {
    let (system, architecture) = parse_program_name(&file)?;
    let architecture = architecture.to_owned();
    let metadata = tokio::fs::metadata(&path).await.ok()?;
    metadata.is_file().then(|| Offer {
        system,
        architecture,
        path,
        bytes: metadata.len(),
        modified: metadata.modified().ok(),
        file,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn directory() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "portico-linux-amd64",
            "portico-linux-arm64",
            "portico-windows-amd64.exe",
            "portico.toml",
            ".env",
        ] {
            fs::write(directory.path().join(name), name).unwrap();
        }
        fs::create_dir(directory.path().join("portico-darwin-arm64")).unwrap();
        directory
    }

    #[tokio::test]
    async fn need_13_only_files_that_are_named_as_programs_are_offered() {
        let directory = directory();
        let programs = Programs::new(Some(directory.path().to_owned()));
        let mut names: Vec<_> = programs
            .offers()
            .await
            .into_iter()
            .filter(|offer| offer.path.starts_with(directory.path()))
            .map(|offer| offer.file)
            .collect();
        names.sort();
        let expected = [
            "portico-linux-amd64",
            "portico-linux-arm64",
            "portico-windows-amd64.exe",
        ];
        assert_eq!(names, expected);
        for name in [
            "portico.toml",
            ".env",
            "../etc/passwd",
            "portico-darwin-arm64",
            "",
        ] {
            assert_eq!(programs.find(name).await, None, "{name}");
        }
    }

    #[tokio::test]
    async fn need_13_the_program_for_the_viewers_machine_is_the_first_and_has_its_digest() {
        let directory = directory();
        let programs = Programs::new(Some(directory.path().to_owned()));
        let platform = Platform {
            system: System::Windows,
            architecture: Some("amd64"),
        };
        let view = programs.view(platform).await;
        let first = &view.files[0];
        assert_eq!(first.file, "portico-windows-amd64.exe");
        assert!(first.is_for_viewer && !view.files[1].is_for_viewer);
        // sha256sum of the file's name
        assert_eq!(
            first.sha256.as_deref(),
            Some(digest::hex("portico-windows-amd64.exe".as_bytes()).as_str())
        );
    }

    #[tokio::test]
    async fn need_13_the_program_that_runs_is_offered_without_a_directory() {
        let programs = Programs::default();
        let own = programs.offers().await;
        assert_eq!(own.len(), usize::from(consts::OS == "linux"));
        let missing = Programs::new(Some(PathBuf::from("/nonexistent")));
        assert_eq!(missing.offers().await.len(), own.len());
    }
}
