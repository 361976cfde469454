//! Captures the log, at every level, while a value lives (on the test's own thread).
use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

pub struct Log {
    bytes: Bytes,
    _guard: DefaultGuard,
}

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("log").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Bytes {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Log {
    /// Captures JSON lines.
    pub fn start() -> Self {
        let bytes = Bytes::default();
        let subscriber = tracing_subscriber::fmt()
            .json()
            .with_max_level(tracing::Level::TRACE)
            .with_writer(bytes.clone())
            .finish();
        Self {
            bytes,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// Captures lines for humans.
    pub fn for_people() -> Self {
        let bytes = Bytes::default();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing::Level::TRACE)
            .with_writer(bytes.clone())
            .finish();
        Self {
            bytes,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.0.lock().expect("log").clone()).expect("text")
    }

    /// Returns the fields of each audit line; every line of the log must be JSON.
    pub fn audited(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"))
            .filter(|line| line["target"] == "audit")
            .map(|line| line["fields"].clone())
            .collect()
    }

    /// Returns the access log entries: level and fields.
    pub fn decisions(&self) -> Vec<(String, Value)> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"))
            .filter(|line| line["target"] == "portico::access")
            .map(|line| {
                let level = line["level"].as_str().expect("level").to_owned();
                (level, line["fields"].clone())
            })
            .collect()
    }

    /// Returns the only line about a path.
    pub fn decision(&self, path: &str) -> Value {
        let mut about = self.decisions();
        about.retain(|(_, fields)| fields["path"] == path);
        assert_eq!(about.len(), 1, "{path}: {about:?}");
        about.remove(0).1
    }
}
