//! SHA-256 digests of programs, computed once for each version of a file.
use super::Offer;
use portico_cache::Cache;
use sha2::{Digest as _, Sha256};
use std::{
    fs::File,
    io::{self, Read as _},
    path::Path,
    sync::Arc,
    time::Duration,
};

const BUFFER_BYTES: usize = 128 * 1024;
/// Maximum number of versions of files whose digest is stored.
const MAX_DIGESTS: u64 = 128;

/// The digests that are computed, and those that are being computed.
pub struct Digests(Cache<Offer, Arc<str>, io::Error>);

impl Default for Digests {
    fn default() -> Self {
        Self(Cache::new(MAX_DIGESTS))
    }
}

/// A file cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the program cannot be read")]
pub struct Unreadable;

impl Digests {
    /// Returns the digest of a file in hexadecimal digits; `None` if it is not computed within
    /// `patience`. Computing it continues in the background, once for all requests.
    ///
    /// # Errors
    /// [`Unreadable`] if the file cannot be read.
    pub async fn of(
        &self,
        offer: &Offer,
        patience: Duration,
    ) -> Result<Option<String>, Unreadable> {
        let (digests, offer) = (self.0.clone(), offer.clone());
        #[allow(
            clippy::disallowed_methods,
            reason = "awaited; the digest is stored even if that ends early"
        )]
        let work = tokio::spawn(async move {
            let path = offer.path.clone();
            digests.try_get_with(offer, compute(path.into())).await
        });
        match tokio::time::timeout(patience, work).await {
            Ok(Ok(Ok(digest))) => Ok(Some(digest.as_ref().to_owned())),
            Ok(_) => Err(Unreadable),
            Err(_) => Ok(None),
        }
    }
}

async fn compute(path: Arc<Path>) -> io::Result<Arc<str>> {
    let read = {
        let path = Arc::clone(&path);
        tokio::task::spawn_blocking(move || of_file(&path))
    };
    let digest = read.await.map_err(io::Error::other).flatten();
    digest
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "program not read"))
        .map(Arc::from)
}

/// Reads a file in pieces; a program is too large to be held in memory.
fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(format!("{:x}", hasher.finalize())),
            count => hasher.update(&buffer[..count]),
        }
    }
}

/// Returns the digest of bytes.
#[cfg(test)]
pub fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
