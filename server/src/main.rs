//! `portico`: every role of the program, and the commands for people.
use std::process::ExitCode;

fn main() -> ExitCode {
    server::cli::run()
}
