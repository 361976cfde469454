//! Output of log lines. The gateway's access log entries may wait for each other, so that a busy
//! gateway makes one system call for many; every other line is written at once, after the waiting
//! ones.
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// The target of the gateway's access log.
const ACCESS_LOG_TARGET: &str = "portico::access";
/// Lines are written once this many bytes are waiting.
const MAX_BUFFERED_BYTES: usize = 32 * 1024;

/// Writes lines. Clones share the waiting lines.
#[derive(Clone, Debug)]
pub(super) struct Output {
    shared: Arc<Shared>,
    gathers: bool,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    begun: Condvar,
}

struct Waiting {
    to: Box<dyn Write + Send>,
    lines: Vec<u8>,
    /// Set when no task will write the waiting lines any more.
    over: bool,
}

/// Writes the waiting lines when dropped, and disables waiting. Keep it until the process ends.
#[derive(Debug)]
#[must_use = "lines that wait are written when it is dropped"]
pub struct LogFlushGuard(Output);

impl Output {
    /// Starts writing to `to`; access log entries wait for at most `longest`, or not at all if it
    /// is zero.
    pub fn start(to: Box<dyn Write + Send>, max_delay: Duration) -> (Self, LogFlushGuard) {
        let waiting = Mutex::new(Waiting {
            to,
            lines: Vec::new(),
            over: false,
        });
        let mut output = Self {
            shared: Arc::new(Shared {
                waiting,
                begun: Condvar::new(),
            }),
            gathers: !max_delay.is_zero(),
        };
        if output.gathers {
            let shared = Arc::clone(&output.shared);
            let thread = std::thread::Builder::new().name("log".to_owned());
            // without it each line is written at once
            output.gathers = thread.spawn(move || shared.write_all(max_delay)).is_ok();
        }
        (output.clone(), LogFlushGuard(output))
    }
}

impl Drop for LogFlushGuard {
    fn drop(&mut self) {
        let shared = &self.0.shared;
        let mut waiting = shared.lock();
        waiting.over = true;
        // a failed write of the log cannot be reported anywhere
        let _ = waiting.write();
        shared.begun.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the waiting lines, some time after the first one started to wait.
    fn write_all(&self, max_delay: Duration) {
        loop {
            let idle = |waiting: &mut Waiting| waiting.lines.is_empty() && !waiting.over;
            let woken = self.begun.wait_while(self.lock(), idle);
            if woken.unwrap_or_else(PoisonError::into_inner).over {
                return;
            }
            #[allow(clippy::disallowed_methods, reason = "a thread of its own")]
            std::thread::sleep(max_delay);
            let _ = self.lock().write();
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waiting")
    }
}

impl Waiting {
    fn write(&mut self) -> io::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let written = self.to.write_all(&self.lines);
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
            return waiting.to.write_all(bytes);
        }
        if waiting.lines.is_empty() {
            shared.begun.notify_one();
        }
        waiting.lines.extend_from_slice(bytes);
        if waiting.lines.len() < MAX_BUFFERED_BYTES {
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
            waits: self.gathers && metadata.target() == ACCESS_LOG_TARGET,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<String>>>);

    impl Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            self.0.lock().unwrap().push(text);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Written {
        fn all(&self) -> Vec<String> {
            self.0.lock().unwrap().clone()
        }
    }

    fn start(max_delay: Duration) -> (Written, Output, LogFlushGuard) {
        let written = Written::default();
        let (output, last) = Output::start(Box::new(written.clone()), max_delay);
        (written, output, last)
    }

    fn line(output: &Output, waits: bool, text: &str) {
        let waits = waits && output.gathers;
        let mut line = Line { output, waits };
        line.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn lines_that_wait_are_written_together_and_in_order() {
        let (written, output, _last) = start(Duration::from_secs(60));
        line(&output, true, "a");
        line(&output, true, "b");
        assert!(written.all().is_empty());
        line(&output, false, "c");
        assert_eq!(written.all(), ["ab", "c"]);
    }

    #[test]
    fn no_line_waits_for_longer_than_it_may() {
        let (written, output, _last) = start(Duration::from_millis(20));
        for round in 1..=3 {
            line(&output, true, "a");
            let began = Instant::now();
            while written.all().len() < round {
                assert!(began.elapsed() < Duration::from_secs(10), "it waits");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }

    #[test]
    fn many_lines_do_not_wait() {
        let (written, output, _last) = start(Duration::from_secs(60));
        line(&output, true, &"x".repeat(MAX_BUFFERED_BYTES));
        assert_eq!(written.all().len(), 1);
    }

    #[test]
    fn the_last_lines_are_written_and_nothing_waits_afterwards() {
        let (written, output, last) = start(Duration::from_secs(60));
        line(&output, true, "a");
        drop(last);
        assert_eq!(written.all(), ["a"]);
        line(&output, true, "b");
        assert_eq!(written.all(), ["a", "b"]);
    }

    #[test]
    fn without_any_time_no_line_waits() {
        let (written, output, _last) = start(Duration::ZERO);
        line(&output, true, "a");
        assert_eq!(written.all(), ["a"]);
    }
}
