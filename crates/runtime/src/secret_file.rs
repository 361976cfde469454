//! Reading of secrets from files: passwords, tokens, key material.
use secrecy::{ExposeSecret as _, SecretString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// More than any key or password needs; keeps a wrong path from filling the memory.
const MAX_BYTES: u64 = 64 * 1024;
/// The minimum length of a token: 128 bits in hexadecimal digits.
const MIN_TOKEN_BYTES: usize = 32;

/// The reason why a secret file cannot be used. Never holds the secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretFileError {
    /// The file does not exist or cannot be read.
    #[error("cannot read the secret file {}: {source}", path.display())]
    Unreadable {
        path: PathBuf,
        source: std::io::Error,
    },
    /// All users of the machine can read the file.
    #[error(
        "the secret file {} is readable by all users (mode {mode:04o}): run `chmod 600 {}`, or in \
         Kubernetes mount it with `defaultMode: 0440`",
        path.display(), path.display()
    )]
    TooOpen { path: PathBuf, mode: u32 },
    /// The file is empty.
    #[error("the secret file {} is empty", path.display())]
    Empty { path: PathBuf },
    /// The file is larger than a secret can be.
    #[error("the secret file {} is larger than 64 KiB", path.display())]
    TooLarge { path: PathBuf },
    /// The file is not text.
    #[error("the secret file {} is not UTF-8 text", path.display())]
    NotText { path: PathBuf },
    /// The file's token can be guessed, or cannot be sent in a header.
    #[error(
        "the secret file {} must have a token of at least 32 visible ASCII characters in one line: \
         make one with `openssl rand -hex 32`",
        path.display()
    )]
    WeakToken { path: PathBuf },
}

/// Reads a secret from a file, without the white space around it.
///
/// # Errors
/// If the file is missing, empty, not text, too large, or readable by all users.
pub fn read_secret_file(path: &Path) -> Result<SecretString, SecretFileError> {
    let unreadable = |source| SecretFileError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & 0o007 != 0 {
        return Err(SecretFileError::TooOpen {
            path: path.to_owned(),
            mode,
        });
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(SecretFileError::TooLarge {
            path: path.to_owned(),
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| SecretFileError::NotText {
        path: path.to_owned(),
    })?;
    let text = text.trim();
    if text.is_empty() {
        return Err(SecretFileError::Empty {
            path: path.to_owned(),
        });
    }
    Ok(SecretString::from(text))
}

/// Reads a token that two services share, without the white space around it: at least 32 visible
/// ASCII characters.
///
/// # Errors
/// As [`read_secret_file`], and `WeakToken` if the token is shorter or has other characters.
pub fn read_token_file(path: &Path) -> Result<SecretString, SecretFileError> {
    let token = read_secret_file(path)?;
    let text = token.expose_secret();
    if text.len() < MIN_TOKEN_BYTES || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(SecretFileError::WeakToken {
            path: path.to_owned(),
        });
    }
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8], mode: u32) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        (dir, path)
    }

    #[test]
    fn surrounding_white_space_is_dropped() {
        let (_dir, path) = file(b" s3cret \n", 0o600);
        assert_eq!(read_secret_file(&path).unwrap().expose_secret(), "s3cret");
    }

    #[test]
    fn a_file_that_all_users_can_read_is_refused_with_the_way_out() {
        let (_dir, path) = file(b"s3cret", 0o644);
        let message = read_secret_file(&path).unwrap_err().to_string();
        assert!(message.contains("chmod 600"), "{message}");
        assert!(!message.contains("s3cret"), "{message}");
    }

    #[test]
    fn empty_and_binary_files_are_refused() {
        let (_dir, path) = file(b" \n", 0o600);
        assert!(matches!(
            read_secret_file(&path),
            Err(SecretFileError::Empty { .. })
        ));
        let (_dir, path) = file(&[0xff, 0xfe], 0o600);
        assert!(matches!(
            read_secret_file(&path),
            Err(SecretFileError::NotText { .. })
        ));
    }

    #[test]
    fn a_token_has_at_least_32_visible_characters() {
        let token = "0123456789abcdef0123456789abcdef";
        let (_dir, path) = file(format!(" {token}\n").as_bytes(), 0o600);
        assert_eq!(read_token_file(&path).unwrap().expose_secret(), token);
        let two_lines = format!("{token}\n{token}");
        for weak in [&token[1..], &two_lines, &format!("{token}é")] {
            let (_dir, path) = file(weak.as_bytes(), 0o600);
            let refused = read_token_file(&path).unwrap_err();
            assert!(matches!(refused, SecretFileError::WeakToken { .. }));
            assert!(!refused.to_string().contains(weak));
        }
        let (_dir, path) = file(token.as_bytes(), 0o644);
        assert!(matches!(
            read_token_file(&path),
            Err(SecretFileError::TooOpen { .. })
        ));
    }
}
