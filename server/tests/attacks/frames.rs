//! HTTP/2 frames written by hand (RFC 9113, RFC 7541), for what no library says.
use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    time::timeout,
};

use crate::{program::Program, wire::Raw};

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// RFC 7541, appendix A: `:status: 200` in the static table.
const STATUS_200: u8 = 0x88;

/// One frame.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Fields as literals that no table keeps (RFC 7541, 6.2.2), exactly as they are given.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            string(&mut block, text.as_bytes());
        }
    }
    block
}

/// A field that is put into the table (RFC 7541, 6.2.1).
pub fn indexed_field(name: &str, value: &str) -> Vec<u8> {
    let mut field = vec![0x40];
    for text in [name, value] {
        string(&mut field, text.as_bytes());
    }
    field
}

fn string(block: &mut Vec<u8>, text: &[u8]) {
    let mut length = text.len();
    if length < 127 {
        block.push(u8::try_from(length).expect("short"));
    } else {
        block.push(127);
        length -= 127;
        while length >= 128 {
            block.push(u8::try_from(length % 128).expect("seven bits") | 128);
            length /= 128;
        }
        block.push(u8::try_from(length).expect("seven bits"));
    }
    block.extend(text);
}

/// What the server sent about a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamOutcome {
    /// An answer with status 200.
    Ok,
    /// An answer with another status.
    Other,
    /// The stream was reset.
    Reset,
    /// The connection is over.
    Over,
    /// Nothing.
    Nothing,
}

/// A connection whose preface has been sent.
pub struct Http2 {
    stream: Raw,
}

impl Http2 {
    pub async fn open(program: &Program) -> Self {
        let mut stream = program.connect_for(b"h2").await;
        stream.write_all(PREFACE).await.expect("sent");
        let settings = frame(SETTINGS, 0, 0, &[]);
        stream.write_all(&settings).await.expect("sent");
        Self { stream }
    }

    /// Opens one where each stream may send so few bytes before it is allowed more.
    pub async fn open_with_window(program: &Program, window: u32) -> Self {
        let mut stream = program.connect_for(b"h2").await;
        stream.write_all(PREFACE).await.expect("sent");
        let mut payload = vec![0, 4];
        payload.extend(window.to_be_bytes());
        let settings = frame(SETTINGS, 0, 0, &payload);
        stream.write_all(&settings).await.expect("sent");
        Self { stream }
    }

    /// Sends bytes; the error says that the server has closed the connection.
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes).await?;
        self.stream.flush().await
    }

    /// Sends a request without a body and looks what becomes of it.
    pub async fn ask(&mut self, id: u32, fields: &[(&str, &str)]) -> StreamOutcome {
        let headers = frame(HEADERS, END_HEADERS | END_STREAM, id, &block(fields));
        if self.send(&headers).await.is_err() {
            return StreamOutcome::Over;
        }
        self.outcome_of(id).await
    }

    /// Reads until the server says something about a stream.
    pub async fn outcome_of(&mut self, id: u32) -> StreamOutcome {
        let message = async {
            while let Some((kind, flags, stream, payload)) = self.read().await {
                match kind {
                    SETTINGS if flags & ACK == 0 => {
                        let _ = self.send(&frame(SETTINGS, ACK, 0, &[])).await;
                    }
                    PING if flags & ACK == 0 => {
                        let _ = self.send(&frame(PING, ACK, 0, &payload)).await;
                    }
                    GOAWAY => return StreamOutcome::Over,
                    RST_STREAM if stream == id => return StreamOutcome::Reset,
                    HEADERS if stream == id => {
                        // a change of the table's size may stand first (RFC 7541, 6.3)
                        let first = payload.iter().find(|byte| **byte & 0xe0 != 0x20);
                        return if first == Some(&STATUS_200) {
                            StreamOutcome::Ok
                        } else {
                            StreamOutcome::Other
                        };
                    }
                    _ => {}
                }
            }
            StreamOutcome::Over
        };
        timeout(Duration::from_secs(5), message)
            .await
            .unwrap_or(StreamOutcome::Nothing)
    }

    /// Waits until the server ends the connection, by GOAWAY or by closing it.
    pub async fn is_over_within(&mut self, time: Duration) -> bool {
        let over = async {
            while let Some((kind, ..)) = self.read().await {
                if kind == GOAWAY {
                    return;
                }
            }
        };
        timeout(time, over).await.is_ok()
    }

    async fn read(&mut self) -> Option<(u8, u8, u32, Vec<u8>)> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).expect("short")];
        self.stream.read_exact(&mut payload).await.ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        Some((head[3], head[4], stream, payload))
    }
}
