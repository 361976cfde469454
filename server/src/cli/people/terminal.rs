//! What people read and are asked. Names and messages come from servers, and a terminal obeys
//! control characters, so everything that is shown passes through here.
use super::error::PeopleError;
use secrecy::SecretString;
use std::io::{IsTerminal as _, Write as _};

/// Without what a terminal would act on: control characters other than line breaks, and those
/// that turn the direction of the text around.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| is_printable(*c)).collect()
}

/// The same for what belongs on one line.
pub fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '\n' && is_printable(*c))
        .collect()
}

fn is_printable(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c == '\n' || !c.is_control()) && !turns
}

/// Writes a line to standard error; standard output is for what programs read.
pub fn say(text: impl AsRef<str>) {
    // nothing is left to do when standard error is closed
    let _ = writeln!(std::io::stderr(), "{}", printable(text.as_ref()));
}

/// Whether somebody can be asked.
pub fn somebody_is_there() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for something that is not to be seen.
pub async fn ask_secret(question: &str) -> Result<SecretString, PeopleError> {
    let question = format!("{}: ", one_line(question));
    let before = rustix::termios::tcgetattr(std::io::stdin()).ok();
    let asked = tokio::task::spawn_blocking(move || {
        // not standard output, which kubectl reads
        let mut terminal = std::fs::OpenOptions::new().write(true).open("/dev/tty")?;
        terminal.write_all(question.as_bytes())?;
        terminal.flush()?;
        rpassword::read_password()
    });
    tokio::select! {
        answer = asked => answer
            .unwrap_or_else(|stopped| Err(std::io::Error::other(stopped)))
            .map(SecretString::from)
            .map_err(|source| PeopleError::File { path: "the terminal".into(), source }),
        _ = tokio::signal::ctrl_c() => {
            // the terminal would go on hiding what is typed
            if let Some(before) = before {
                let now = rustix::termios::OptionalActions::Now;
                let _ = rustix::termios::tcsetattr(std::io::stdin(), now, &before);
            }
            say("");
            Err(PeopleError::Interrupted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_not_shown() {
        let hostile = "prod\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}gnp\u{0}\u{7f}";
        assert_eq!(printable(hostile), "prod]0;owned31mgnp");
        assert_eq!(printable("Zürich 東京\nnext"), "Zürich 東京\nnext");
        assert_eq!(one_line("a\nb"), "ab");
    }
}
