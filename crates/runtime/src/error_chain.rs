//! The text of an error with its causes.
use std::error::Error;

/// Returns the messages of an error and of its causes, with colons between them. A cause that the text names already is left
/// out: many errors have the message of their cause in their own.
pub fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !words(&text).contains(&words(&message)) {
            text.push_str(": ");
            text.push_str(&message);
        }
        cause = error.source();
    }
    text
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
        #[error("two faults:\n  {}", .0.to_string().replace('\n', "\n  "))]
        Indented(#[source] io::Error),
        #[error("the start failed")]
        Outer(#[source] Box<Fault>),
    }

    fn cause(text: &str) -> io::Error {
        io::Error::other(text.to_owned())
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
    }
}
