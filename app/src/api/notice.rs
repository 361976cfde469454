//! What a form that was sent without scripts has done, as a word in the next page's address.

/// A change that was made. The address holds the word and nothing else: its text is not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormNotice {
    Delete,
    Scale,
    Restart,
}

impl FormNotice {
    const ALL: [Self; 3] = [Self::Delete, Self::Scale, Self::Restart];

    /// The word in the address.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Scale => "scale",
            Self::Restart => "restart",
        }
    }

    /// The notice of a word; `None` for any other text.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == word)
    }
}
