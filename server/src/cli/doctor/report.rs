use crate::cli::error::CliError;
use crate::cli::{print, print_for_people};
use std::process::ExitCode;

/// Prints findings as they come and counts those that need work.
pub(super) struct Report {
    failures: usize,
    warnings: usize,
    error: Option<CliError>,
}

impl Report {
    pub fn new() -> Self {
        Self {
            failures: 0,
            warnings: 0,
            error: None,
        }
    }

    /// All is well.
    pub fn ok(&mut self, subject: &str, detail: impl AsRef<str>) {
        self.line("ok  ", subject, detail.as_ref(), None);
    }

    /// It works, or need not work now, but somebody should know.
    pub fn warn(&mut self, subject: &str, detail: impl AsRef<str>, next: &str) {
        self.warnings += 1;
        self.line("note", subject, detail.as_ref(), Some(next));
    }

    /// It does not work.
    pub fn fail(&mut self, subject: &str, detail: impl AsRef<str>, next: &str) {
        self.failures += 1;
        self.line("FAIL", subject, detail.as_ref(), Some(next));
    }

    /// The last line, and the exit code.
    pub fn finish(mut self) -> Result<ExitCode, CliError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.failures == 0 {
            print(&format!(
                "\nNothing is broken, {} to know.\n",
                notes(self.warnings)
            ))?;
            return Ok(ExitCode::SUCCESS);
        }
        print(&format!(
            "\n{} broken, {} to know.\n",
            self.failures,
            notes(self.warnings)
        ))?;
        Ok(ExitCode::FAILURE)
    }

    fn line(&mut self, state: &str, subject: &str, detail: &str, next: Option<&str>) {
        let mut text = format!("{state}  {subject:<22} {detail}\n");
        if let Some(next) = next {
            text.push_str(&format!("{:>27}  {next}\n", "->"));
        }
        if let Err(error) = print_for_people(&text) {
            self.error.get_or_insert(error);
        }
    }
}

fn notes(count: usize) -> String {
    if count == 1 {
        "1 thing".to_owned()
    } else {
        format!("{count} things")
    }
}
