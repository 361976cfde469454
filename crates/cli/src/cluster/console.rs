//! Where a command writes and asks: standard output is for data, standard error for people.
use super::error::ClusterError;
use crate::terminal::printable;
use std::io::{self, BufRead as _, IsTerminal as _, Write};

/// Output and input of a command.
pub struct Console {
    pub out: Box<dyn Write>,
    pub err: Box<dyn Write>,
    /// Reads one line of the user; `None`: the user cannot be asked.
    pub read_line: Option<Box<dyn FnMut() -> io::Result<String>>>,
    /// Whether standard error is a terminal.
    pub is_terminal: bool,
}

impl Console {
    /// Returns the console of this process.
    pub fn of_process() -> Self {
        let read_line = || {
            let mut line = String::new();
            io::stdin().lock().read_line(&mut line).map(|_| line)
        };
        let can_ask = io::stdin().is_terminal() && io::stderr().is_terminal();
        Self {
            out: Box::new(io::stdout()),
            err: Box::new(io::stderr()),
            read_line: can_ask.then(|| Box::new(read_line) as _),
            is_terminal: io::stderr().is_terminal(),
        }
    }

    /// Writes data to standard output, without control characters other than line breaks and tabs, which
    /// expressions have between columns; a closed reader is not an error.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn print(&mut self, text: &str) -> Result<(), ClusterError> {
        let text = data(text);
        match self
            .out
            .write_all(text.as_bytes())
            .and_then(|()| self.out.flush())
        {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Writes a line to standard error.
    pub fn say(&mut self, text: impl AsRef<str>) {
        // if standard error is closed, nothing is left to do
        let _ = writeln!(self.err, "{}", printable(text.as_ref()));
    }

    /// Asks for one line; `None` if the user cannot be asked.
    ///
    /// # Errors
    /// If the terminal cannot be read.
    pub fn ask(&mut self, question: &str) -> Result<Option<String>, ClusterError> {
        let Some(read_line) = &mut self.read_line else {
            return Ok(None);
        };
        let _ = write!(self.err, "{}", printable(question));
        let _ = self.err.flush();
        Ok(Some(read_line()?.trim().to_owned()))
    }
}

fn data(text: &str) -> String {
    let columns: Vec<_> = text.split('\t').map(printable).collect();
    columns.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_has_tabs_and_no_other_control_character() {
        assert_eq!(
            data("shop\tCREATE\u{1b}[31m\u{7}\r\n"),
            "shop\tCREATE[31m\n"
        );
    }
}
