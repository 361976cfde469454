//! Short texts that browsers carry for us, and that nobody else can write.
use crate::store::Store;
use subtle::ConstantTimeEq as _;

/// The marks; see [`Store::browser_marks`]. They live in cookies and URLs, never in the database.
#[derive(Clone, Copy)]
pub struct BrowserMarks<'s>(pub(crate) &'s Store);

impl BrowserMarks<'_> {
    /// `text` with a keyed hash, fit for cookies and URLs when `text` is. The text can be read by
    /// whoever has it: no secrets.
    pub fn issue(self, purpose: &str, text: &str) -> String {
        format!("{text}.{}", self.0.keys.hash(&purpose_of(purpose), text))
    }

    /// The text of a mark that was issued for this purpose, by any key that is still configured.
    pub fn read<'m>(self, purpose: &str, mark: &'m str) -> Option<&'m str> {
        let (text, given) = mark.rsplit_once('.')?;
        self.0
            .keys
            .hashes(&purpose_of(purpose), text)
            .any(|hash| bool::from(hash.as_bytes().ct_eq(given.as_bytes())))
            .then_some(text)
    }
}

/// Kept apart from the purposes of what is stored.
fn purpose_of(purpose: &str) -> String {
    format!("browser mark: {purpose}")
}
