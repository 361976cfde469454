//! `portico`: every role of the program, and the commands for people.
use std::process::ExitCode;

/// Most requests are a few hundred small allocations, made on one thread and freed on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::cli::run()
}
