//! What is logged, at every level, while a value of this lives (on the test's own thread).
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};
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
        self.0.lock().unwrap().write(bytes)
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

    pub fn text(&self) -> String {
        String::from_utf8(self.bytes.0.lock().unwrap().clone()).unwrap()
    }

    /// The fields of each audit line; every line of the log must be JSON by itself.
    pub fn decisions(&self) -> Vec<Value> {
        self.text()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|line| line["target"] == "audit")
            .map(|line| line["fields"].clone())
            .collect()
    }
}
