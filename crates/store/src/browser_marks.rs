//! Short signed texts that browsers carry and cannot change.
use crate::sealing::KeyRing;
use subtle::ConstantTimeEq as _;

/// The marks; see [`crate::Store::browser_marks`]. They are in cookies and URLs, never in the
/// database: they need the keys only.
#[derive(Clone, Copy)]
pub struct BrowserMarks<'s>(pub(crate) &'s KeyRing);

impl BrowserMarks<'_> {
    /// Returns `text` with a keyed hash, suitable for cookies and URLs if `text` is. The text can
    /// be read by its holder, so it must not contain secrets.
    pub fn issue(self, purpose: &str, text: &str) -> String {
        format!("{text}.{}", self.0.hash(&purpose_of(purpose), text))
    }

    /// Returns the text of a mark that was issued for this purpose, with any key that is still
    /// configured.
    pub fn read<'m>(self, purpose: &str, mark: &'m str) -> Option<&'m str> {
        let (text, given) = mark.rsplit_once('.')?;
        self.0
            .hashes(&purpose_of(purpose), text)
            .any(|hash| bool::from(hash.as_bytes().ct_eq(given.as_bytes())))
            .then_some(text)
    }
}

/// Returns a purpose that differs from those of stored values.
fn purpose_of(purpose: &str) -> String {
    format!("browser mark: {purpose}")
}
