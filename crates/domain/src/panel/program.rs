//! The `portico` program, offered for download.
use serde::{Deserialize, Serialize};

/// The operating system of a user's machine.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum System {
    #[default]
    Linux,
    Darwin,
    Windows,
}

impl System {
    pub const ALL: [Self; 3] = [Self::Linux, Self::Darwin, Self::Windows];

    /// Returns the name in a file's name.
    pub fn segment(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Darwin => "darwin",
            Self::Windows => "windows",
        }
    }

    /// Returns the name for users.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Darwin => "macOS",
            Self::Windows => "Windows",
        }
    }

    /// Returns the name under which the program is saved.
    pub fn program(self) -> &'static str {
        match self {
            Self::Windows => "portico.exe",
            Self::Linux | Self::Darwin => "portico",
        }
    }
}

/// What a browser's `User-Agent` header reveals about its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Platform {
    /// Linux if it is not known.
    pub system: System,
    /// As in a file's name; `None` if it is not known. Browsers on macOS do not reveal it: they
    /// name an Intel processor on every machine.
    pub architecture: Option<&'static str>,
}

impl Platform {
    /// Reads a `User-Agent` header.
    pub fn of_user_agent(agent: &str) -> Self {
        let has = |word: &str| agent.contains(word);
        let system = if has("Windows") {
            System::Windows
        } else if has("Macintosh") || has("Mac OS X") {
            System::Darwin
        } else {
            System::Linux
        };
        let architecture = if system == System::Darwin {
            None
        } else if has("aarch64") || has("arm64") || has("ARM64") {
            Some("arm64")
        } else if has("x86_64") || has("Win64") || has("WOW64") {
            Some("amd64")
        } else {
            None
        };
        Self {
            system,
            architecture,
        }
    }

    /// Returns whether a program may run there.
    pub fn runs(self, file: &ProgramFile) -> bool {
        self.system == file.system
            && self
                .architecture
                .is_none_or(|architecture| architecture == file.architecture)
    }
}

/// The programs that the panel offers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramsView {
    /// Those for the viewer's machine first.
    pub files: Vec<ProgramFile>,
}

/// One program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramFile {
    /// `portico-linux-amd64`, the last segment of its address.
    pub file: String,
    pub system: System,
    /// As in the file's name: `amd64`, `arm64`.
    pub architecture: String,
    pub bytes: u64,
    /// In hexadecimal digits; `None` while it is computed.
    pub sha256: Option<String>,
    /// Whether it is for the machine that the viewer's browser names.
    pub is_for_viewer: bool,
}

impl ProgramFile {
    /// Returns the system and the processor in words.
    pub fn platform(&self) -> String {
        let processor = match self.architecture.as_str() {
            "amd64" => "x86-64",
            "arm64" if self.system == System::Darwin => "Apple silicon",
            "arm64" => "ARM64",
            other => other,
        };
        format!("{}, {processor}", self.system.title())
    }
}

/// Returns the system and the architecture in a file's name: `portico-linux-amd64`,
/// `portico-windows-amd64.exe`. `None` for any other name.
pub fn parse_program_name(file: &str) -> Option<(System, &str)> {
    let rest = file.strip_prefix("portico-")?;
    let (system, rest) = rest.split_once('-')?;
    let system = System::ALL
        .into_iter()
        .find(|known| known.segment() == system)?;
    let architecture = match system {
        System::Windows => rest.strip_suffix(".exe")?,
        System::Linux | System::Darwin => rest,
    };
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    (!architecture.is_empty() && architecture.bytes().all(is_word))
        .then_some((system, architecture))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn need_13_only_names_of_programs_are_offered() {
        for (name, expected) in [
            ("portico-linux-amd64", Some((System::Linux, "amd64"))),
            ("portico-darwin-arm64", Some((System::Darwin, "arm64"))),
            (
                "portico-windows-amd64.exe",
                Some((System::Windows, "amd64")),
            ),
            ("portico-windows-amd64", None),
            ("portico-linux-amd64.exe", None),
            ("portico-linux-", None),
            ("portico-plan9-386", None),
            ("portico-linux-../../etc/passwd", None),
            ("portico", None),
            ("portico.toml", None),
            ("", None),
        ] {
            assert_eq!(parse_program_name(name), expected, "{name}");
        }
    }

    #[test]
    fn need_13_the_viewers_platform_is_read_from_the_browser() {
        let chrome =
            "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36";
        let firefox = "Mozilla/5.0 (X11; Linux aarch64; rv:140.0) Gecko/20100101 Firefox/140.0";
        let edge = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Edg/142.0";
        let safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Version/18.0 Safari/605.1.15";
        for (agent, system, architecture) in [
            (chrome, System::Linux, Some("amd64")),
            (firefox, System::Linux, Some("arm64")),
            (edge, System::Windows, Some("amd64")),
            (safari, System::Darwin, None),
            ("", System::Linux, None),
        ] {
            let expected = Platform {
                system,
                architecture,
            };
            assert_eq!(Platform::of_user_agent(agent), expected, "{agent}");
        }
    }
}
