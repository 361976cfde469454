//! Why the gateway cannot be built.
use std::path::{Path, PathBuf};

use portico_access_policy::RulesError;
use portico_assertion::keys::KeyError;
use portico_proxy::upstream::InvalidUpstream;
use portico_runtime::secret_file::SecretFileError;

use crate::config::ConfigError;

/// Why the gateway cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Upstream(#[from] InvalidUpstream),
    #[error(transparent)]
    Rules(#[from] RulesError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error("the system has no randomness to give")]
    Randomness,
    #[error(transparent)]
    Secret(#[from] SecretFileError),
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        source: std::io::Error,
    },
}

/// Reads a file that the configuration names.
pub(crate) fn read_file(path: &Path) -> Result<String, BuildError> {
    std::fs::read_to_string(path).map_err(|source| BuildError::File {
        path: path.to_owned(),
        source,
    })
}
