//! Terminal output and prompts. Names and messages come from servers, and a terminal interprets
//! control characters, so everything that is shown passes through here.
use super::error::CommandError;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use secrecy::SecretString;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// Removes what a terminal interprets: control characters other than line breaks, and those that
/// change the direction of the text.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| is_printable(*c)).collect()
}

/// Does the same for text that belongs on one line.
pub fn one_line(text: &str) -> String {
    text.chars()
        .filter(|c| *c != '\n' && is_printable(*c))
        .collect()
}

fn is_printable(c: char) -> bool {
    let turns = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c == '\n' || !c.is_control()) && !turns
}

/// Writes a line to standard error; standard output is for data that programs read.
pub fn say(text: impl AsRef<str>) {
    // if standard error is closed, nothing is left to do
    let _ = writeln!(std::io::stderr(), "{}", printable(text.as_ref()));
}

/// Returns whether the user can be prompted.
pub fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Prompts for a secret without echo.
pub async fn ask_secret(question: &str) -> Result<SecretString, CommandError> {
    let question = format!("{}: ", one_line(question));
    let failed = |source| CommandError::File {
        path: "the terminal".into(),
        source,
    };
    // not standard output, which kubectl reads
    let terminal = File::options()
        .read(true)
        .write(true)
        .open("/dev/tty")
        .map_err(failed)?;
    let before = tcgetattr(&terminal).map_err(|error| failed(error.into()))?;
    let mut hidden = before.clone();
    hidden.local_modes.remove(LocalModes::ECHO);
    // before the prompt, or what the user types ahead is echoed
    tcsetattr(&terminal, OptionalActions::Now, &hidden).map_err(|error| failed(error.into()))?;
    let asked = tokio::task::spawn_blocking(move || {
        File::options()
            .write(true)
            .open("/dev/tty")?
            .write_all(question.as_bytes())?;
        rpassword::read_password()
    });
    let answer = tokio::select! {
        answer = asked => answer
            .unwrap_or_else(|stopped| Err(std::io::Error::other(stopped)))
            .map(SecretString::from)
            .map_err(|error| match error.kind() {
                ErrorKind::Interrupted => CommandError::Interrupted,
                _ => failed(error),
            }),
        _ = tokio::signal::ctrl_c() => Err(CommandError::Interrupted),
    };
    // otherwise the terminal would stay without echo
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    if matches!(answer, Err(CommandError::Interrupted)) {
        say("");
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_112_what_a_terminal_would_act_on_is_not_shown() {
        let hostile = "prod\u{1b}]0;owned\u{7}\u{9b}31m\r\u{202e}gnp\u{0}\u{7f}";
        assert_eq!(printable(hostile), "prod]0;owned31mgnp");
        assert_eq!(printable("Zürich 東京\nnext"), "Zürich 東京\nnext");
        assert_eq!(one_line("a\nb"), "ab");
    }
}
