//! The outcome of a form that was sent without scripts, as a word in the next page's address.

/// A change that was made. The address holds the word and nothing else, so that a link cannot
/// inject text into the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormNotice {
    Delete,
    Scale,
    Restart,
    Change,
}

impl FormNotice {
    const ALL: [Self; 4] = [Self::Delete, Self::Scale, Self::Restart, Self::Change];

    /// Returns the notice's name in an address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Scale => "scale",
            Self::Restart => "restart",
            Self::Change => "change",
        }
    }

    /// Returns the notice with a name; `None` for any other text.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == word)
    }
}
