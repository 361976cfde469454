//! `portico`: every role of the program, and the commands for users.
use std::process::ExitCode;

/// Most requests make a few hundred small allocations, on one thread, and free them on another.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::cli::run()
}
