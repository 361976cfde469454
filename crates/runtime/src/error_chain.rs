//! The text of an error with its causes.
use std::error::Error;

/// Returns the messages of an error and of its causes, with colons between them. A cause that an error names in its own message is
/// not repeated.
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !names(&words(&text), &words(&message)) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
}

/// Returns the message of the last cause. The messages of HTTP libraries say only that a request failed.
pub fn root_cause(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Whether a text has a message as a part of its own: at its start, or after a colon, a parenthesis or a full stop.
fn names(text: &str, message: &str) -> bool {
    let mut found = text.match_indices(message);
    found.any(|(at, _)| {
        let before = &text[..at];
        before.is_empty() || [": ", "(", ". "].iter().any(|end| before.ends_with(end))
    })
}

/// Returns a text on one line: one that is indented in another is the same text.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    enum Fault {
        #[error("read the file")]
        Silent(#[source] io::Error),
        #[error("read the file: {0}")]
        Named(#[source] io::Error),
        #[error("there is no token ({0})")]
        Parenthesized(#[source] io::Error),
        #[error("the time limit cannot be set")]
        Similar(#[source] io::Error),
        #[error("two faults:\n  {}", .0.to_string().replace('\n', "\n  "))]
        Indented(#[source] io::Error),
        #[error("the start failed")]
        Outer(#[source] Box<Fault>),
    }

    fn cause(text: &str) -> io::Error {
        io::Error::other(text.to_owned())
    }

    #[test]
    fn the_root_cause_is_the_last_one_or_the_error_itself() {
        let error = Fault::Outer(Box::new(Fault::Silent(cause("no such file"))));
        assert_eq!(root_cause(&error), "no such file");
        assert_eq!(root_cause(&cause("no such file")), "no such file");
    }

    #[test]
    fn every_cause_is_named() {
        let error = Fault::Outer(Box::new(Fault::Silent(cause("no such file"))));
        let text = error_chain(&error);
        assert_eq!(text, "the start failed: read the file: no such file");
    }

    #[test]
    fn a_cause_that_is_named_already_is_not_repeated() {
        let error = Fault::Outer(Box::new(Fault::Named(cause("no such file"))));
        let text = error_chain(&error);
        assert_eq!(text, "the start failed: read the file: no such file");
        let error = Fault::Indented(cause("one\ntwo"));
        assert_eq!(error_chain(&error), "two faults:\n  one\n  two");
        let error = Fault::Parenthesized(cause("expired"));
        assert_eq!(error_chain(&error), "there is no token (expired)");
    }

    #[test]
    fn a_cause_whose_words_are_in_another_sentence_is_named() {
        let error = Fault::Similar(cause("time limit"));
        let text = error_chain(&error);
        assert_eq!(text, "the time limit cannot be set: time limit");
    }
}
