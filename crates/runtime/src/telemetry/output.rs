//! Output of log lines by a thread of its own.
use std::io::{BufWriter, Write};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};

/// How many lines may wait for the thread. With more, those who log wait: an audit line must not be
/// lost, and memory is limited.
const MAX_WAITING_LINES: usize = 8192;
/// The thread writes the lines that wait together, in parts of this size.
const MAX_WRITE_BYTES: usize = 64 * 1024;

/// Starts the thread that writes lines to `to`. When the guard is dropped, it writes the lines that
/// wait, for up to a second; further ones are lost.
pub(super) fn start(to: impl Write + Send + 'static) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default()
        .lossy(false)
        .buffered_lines_limit(MAX_WAITING_LINES)
        .thread_name("log")
        .finish(BufWriter::with_capacity(MAX_WRITE_BYTES, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::captured::Captured;
    use std::io;
    use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
    use std::time::Duration;

    /// Writes once it is permitted.
    struct Slow {
        permitted: Receiver<()>,
        to: Captured,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // an error: permitted for good
            let _ = self.permitted.recv();
            self.to.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Sends each write.
    struct Sent(Sender<Vec<u8>>);

    impl Write for Sent {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).unwrap();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_last_lines_are_written_in_order() {
        let captured = Captured::default();
        let (mut output, guard) = start(captured.clone());
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number}\n")).collect();
        for line in &lines {
            output.write_all(line.as_bytes()).unwrap();
        }
        drop(guard);
        assert_eq!(captured.text(), lines.concat());
    }

    #[test]
    fn a_line_is_written_without_another_one_after_it() {
        let (written, writes) = mpsc::channel();
        let (mut output, _guard) = start(Sent(written));
        output.write_all(b"a\n").unwrap();
        let write = writes.recv_timeout(Duration::from_secs(10));
        assert_eq!(write, Ok(b"a\n".to_vec()));
    }

    #[test]
    fn a_slow_reader_slows_the_program_down_and_loses_nothing() {
        let captured = Captured::default();
        let (permit, permitted) = mpsc::channel();
        let to = captured.clone();
        let (mut output, guard) = start(Slow { permitted, to });
        let line = format!("{}\n", "x".repeat(1023));
        // what the buffers hold, and some more
        let count = MAX_WAITING_LINES + MAX_WRITE_BYTES / line.len() + 100;
        let (end, ended) = mpsc::channel();
        let writing = std::thread::spawn(move || {
            for _ in 0..count {
                output.write_all(line.as_bytes()).unwrap();
            }
            end.send(()).unwrap();
        });
        let waits = ended.recv_timeout(Duration::from_millis(200));
        assert_eq!(waits, Err(RecvTimeoutError::Timeout));
        drop(permit);
        writing.join().unwrap();
        drop(guard);
        assert_eq!(captured.text().lines().count(), count);
    }
}
