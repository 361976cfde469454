//! Where log lines go: standard error. The gateway's access lines may wait for one another, so that
//! a busy gateway makes one system call for many; every other line is written at once, after
//! those that wait.
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// The target of the gateway's access lines.
const GATHERED: &str = "portico::access";
/// So many bytes do not wait any longer.
const MOST: usize = 32 * 1024;

/// Writes lines. Clones share what waits.
#[derive(Clone, Debug)]
pub(super) struct Output {
    shared: Arc<Shared>,
    gathers: bool,
}

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    begun: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    /// Nobody will look again.
    over: bool,
}

/// Writes what waits when it is dropped, and lets nothing wait any more. Keep it until the
/// process ends.
#[derive(Debug)]
#[must_use = "lines that wait are written when it is dropped"]
pub struct LastLines(Output);

impl Output {
    /// Lets access lines wait for so long at most; without any time for nothing.
    pub fn start(longest: Duration) -> (Self, LastLines) {
        let mut output = Self {
            shared: Arc::default(),
            gathers: !longest.is_zero(),
        };
        if output.gathers {
            let shared = Arc::clone(&output.shared);
            let thread = std::thread::Builder::new().name("log".to_owned());
            // without it each line is written at once
            output.gathers = thread.spawn(move || shared.write_all(longest)).is_ok();
        }
        (output.clone(), LastLines(output))
    }
}

impl Drop for LastLines {
    fn drop(&mut self) {
        let shared = &self.0.shared;
        let mut waiting = shared.lock();
        waiting.over = true;
        // nobody can be told that standard error is closed
        let _ = waiting.write();
        shared.begun.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, some time after the first line has begun to.
    fn write_all(&self, longest: Duration) {
        loop {
            let idle = |waiting: &mut Waiting| waiting.lines.is_empty() && !waiting.over;
            let woken = self.begun.wait_while(self.lock(), idle);
            if woken.unwrap_or_else(PoisonError::into_inner).over {
                return;
            }
            std::thread::sleep(longest);
            let _ = self.lock().write();
        }
    }
}

impl Waiting {
    fn write(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let written = io::stderr().write_all(&self.lines);
        self.lines.clear();
        written
    }
}

/// Takes one line.
pub(super) struct Line<'o> {
    output: &'o Output,
    waits: bool,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let shared = &self.output.shared;
        let mut waiting = shared.lock();
        if !self.waits || waiting.over {
            waiting.write()?;
            return io::stderr().write_all(bytes);
        }
        if waiting.lines.is_empty() {
            shared.begun.notify_one();
        }
        waiting.lines.extend_from_slice(bytes);
        if waiting.lines.len() < MOST {
            return Ok(());
        }
        waiting.write()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'o> MakeWriter<'o> for Output {
    type Writer = Line<'o>;

    fn make_writer(&'o self) -> Line<'o> {
        Line {
            output: self,
            waits: false,
        }
    }

    fn make_writer_for(&'o self, metadata: &Metadata<'_>) -> Line<'o> {
        Line {
            output: self,
            waits: self.gathers && metadata.target() == GATHERED,
        }
    }
}
