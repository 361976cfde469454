use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rand::TryRngCore as _;
use rand::rngs::OsRng;
use secrecy::SecretString;

use crate::error::StoreError;

/// Returns 256 random bits as text, for cookies, codes and tokens.
///
/// # Errors
/// If the operating system cannot supply random bytes.
pub fn random_secret() -> Result<SecretString, StoreError> {
    Ok(SecretString::from(
        URL_SAFE_NO_PAD.encode(random_bytes::<32>()?),
    ))
}

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    OsRng
        .try_fill_bytes(&mut bytes)
        .map_err(|error| StoreError::Key(format!("no randomness: {error}")))?;
    Ok(bytes)
}
