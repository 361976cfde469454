//! Tunnels a WebSocket in both directions, and sends a close frame when its session ends.
//!
//! Messages are forwarded unread. In the upstream's data only the frames' lengths are followed (RFC
//! 6455, 5.2), because a close frame is permitted only between two frames; between the fragments of
//! one message it is permitted (5.4). An upstream in the middle of a frame gets a short time to
//! finish it; otherwise the connection is closed without a close frame.
use std::{future::Future, io::Cursor, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    time::{Instant, sleep, sleep_until, timeout},
};
use tokio_tungstenite::tungstenite::protocol::frame::{
    CloseFrame, Frame, FrameHeader,
    coding::{CloseCode, Control, OpCode},
};
use tokio_util::sync::CancellationToken;

use crate::request_body::TransferProgress;
use crate::stream::connections::{Closing, Connection};

/// Small, because most WebSockets are idle most of the time.
const BUFFER_BYTES: usize = 4096;
/// How long an upstream may take to finish a frame, and a client to read what was sent.
const FRAME_GRACE: Duration = Duration::from_millis(400);
/// How long a client may take to answer a close frame: if the connection closes earlier, a client
/// that is sending may never read the frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a client may keep its side open after the upstream has closed its own.
const HALF_CLOSED_TIMEOUT: Duration = Duration::from_secs(2);

/// What ends a tunnel from the gateway's side.
pub(crate) struct Ending<'a> {
    pub connection: &'a Connection,
    pub draining: &'a CancellationToken,
    /// The limit on silence, if there is one: the observed progress, and the maximum time without
    /// any.
    pub silence: Option<(TransferProgress, Duration)>,
}

impl Ending<'_> {
    async fn closing(&self) -> Closing {
        tokio::select! {
            closing = self.connection.closed() => closing,
            () = self.draining.cancelled() => Closing::Stopping,
            () = self.is_silent() => Closing::Idle,
        }
    }

    async fn is_silent(&self) {
        match &self.silence {
            Some((flow, after)) => {
                flow.stalls(*after).await;
            }
            None => std::future::pending().await,
        }
    }

    fn note_activity(&self) {
        if let Some((flow, _)) = &self.silence {
            flow.moves();
        }
    }

    async fn is_overdue(&self) {
        self.closing().await;
        sleep(FRAME_GRACE).await;
    }
}

/// Forwards bytes in both directions until either side closes, the session ends or the process
/// stops.
pub(crate) async fn tunnel<C, U>(client: C, upstream: U, ending: Ending<'_>)
where
    C: AsyncRead + AsyncWrite,
    U: AsyncRead + AsyncWrite,
{
    let (mut from_client, mut to_client) = split(client);
    let (from_upstream, to_upstream) = split(upstream);
    let closing = {
        let down = down(from_upstream, &mut to_client, &ending);
        let up = up(&mut from_client, to_upstream, &ending);
        tokio::pin!(down, up);
        let (mut down_is_over, mut up_is_over) = (false, false);
        let mut overdue = None;
        loop {
            let over = tokio::select! {
                biased;
                () = sleep_until(overdue.unwrap_or_else(Instant::now)), if overdue.is_some() => break None,
                over = &mut down, if !down_is_over => {
                    down_is_over = true;
                    overdue = Some(Instant::now() + HALF_CLOSED_TIMEOUT);
                    over
                }
                over = &mut up, if !up_is_over => {
                    up_is_over = true;
                    over
                }
            };
            match over {
                Over::Close(closing) => break Some(closing),
                Over::Broken => break None,
                Over::Quiet if down_is_over && up_is_over => break None,
                Over::Quiet => {}
            }
        }
    };
    let Some(closing) = closing else { return };
    let message = async {
        to_client.write_all(&close_frame(closing)).await?;
        to_client.shutdown().await?;
        // if unread data is left when a connection is closed, the system discards what was sent
        tokio::io::copy(&mut from_client, &mut tokio::io::sink()).await
    };
    // a client that has disconnected or does not answer needs nothing more
    let _ = timeout(CLOSE_TIMEOUT, message).await;
}

/// How one direction ended.
enum Over {
    /// End of the stream; the other direction may continue.
    Quiet,
    /// A side has disconnected, or can get no close frame.
    Broken,
    /// A close frame is due, and may be sent now.
    Close(Closing),
}

/// Forwards from the client to the upstream; nothing once the session has ended.
async fn up<R, W>(from: R, to: W, ending: &Ending<'_>) -> Over
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    tokio::select! {
        biased;
        _ = ending.closing() => Over::Quiet,
        passed = pass_all(from, to, ending) => passed.map_or(Over::Broken, |()| Over::Quiet),
    }
}

async fn pass_all<R, W>(mut from: R, mut to: W, ending: &Ending<'_>) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        ending.note_activity();
        to.write_all(buffer.get(..read).unwrap_or_default()).await?;
        to.flush().await?;
    }
}

/// Forwards from the upstream to the client; at the session's end, up to the end of the current
/// frame.
async fn down<R, W>(mut from: R, to: &mut W, ending: &Ending<'_>) -> Over
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut frames = Frames::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut ends: Option<(Closing, Instant)> = None;
    loop {
        if let Some((closing, _)) = ends
            && frames.between()
        {
            return if frames.closing {
                Over::Broken
            } else {
                Over::Close(closing)
            };
        }
        let read = tokio::select! {
            biased;
            closing = ending.closing(), if ends.is_none() => {
                ends = Some((closing, Instant::now() + FRAME_GRACE));
                continue;
            }
            () = until(ends), if ends.is_some() => return Over::Broken,
            read = from.read(&mut buffer) => read,
        };
        let Ok(read) = read else {
            return Over::Broken;
        };
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return to.shutdown().await.map_or(Over::Broken, |()| Over::Quiet);
        }
        ending.note_activity();
        let whole = frames.pass(bytes, ends.is_some());
        let bytes = bytes.get(..whole).unwrap_or_default();
        tokio::select! {
            biased;
            written = write(to, bytes) => if written.is_err() {
                return Over::Broken;
            },
            () = ending.is_overdue() => return Over::Broken,
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(to: &mut W, bytes: &[u8]) -> std::io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

fn until(ends: Option<(Closing, Instant)>) -> impl Future<Output = ()> {
    sleep_until(ends.map_or_else(Instant::now, |(_, deadline)| deadline))
}

fn close_frame(closing: Closing) -> Vec<u8> {
    let code = match closing {
        Closing::Ended(_) => CloseCode::Policy,
        Closing::Renewed => CloseCode::Restart,
        Closing::Stopping | Closing::Idle => CloseCode::Away,
    };
    let reason = closing.as_str().into();
    let mut bytes = Vec::new();
    // writing to memory does not fail, and an empty frame would be harmless
    let _ = Frame::close(Some(CloseFrame { code, reason })).format(&mut bytes);
    bytes
}

/// The position of the last forwarded byte in a stream of frames.
#[derive(Debug, Default)]
struct Frames {
    /// The header of the next frame, as far as it was received.
    header: Vec<u8>,
    /// The remaining bytes of the frame's payload.
    payload: u64,
    /// Whether the upstream has sent a close frame itself.
    closing: bool,
    /// Whether the data is not a valid WebSocket stream.
    lost: bool,
}

impl Frames {
    fn between(&self) -> bool {
        !self.lost && self.header.is_empty() && self.payload == 0
    }

    /// Follows bytes that are forwarded, with `to_the_boundary` not past the end of the current
    /// frame. Returns how many of them are to be forwarded.
    fn pass(&mut self, bytes: &[u8], to_the_boundary: bool) -> usize {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.lost {
                return bytes.len();
            }
            if self.payload > 0 {
                let here = usize::try_from(self.payload).map_or(rest.len(), |n| n.min(rest.len()));
                self.payload -= u64::try_from(here).unwrap_or(self.payload);
                at += here;
            } else {
                self.header.extend(rest.first());
                at += 1;
                self.end_of_header();
            }
            if to_the_boundary && self.between() {
                return at;
            }
        }
        at
    }

    fn end_of_header(&mut self) {
        match FrameHeader::parse(&mut Cursor::new(&self.header)) {
            Ok(Some((header, length))) => {
                self.closing |= header.opcode == OpCode::Control(Control::Close);
                self.payload = length;
                self.header.clear();
            }
            Ok(None) => {}
            Err(_) => self.lost = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(payload: usize, opcode: u8) -> Vec<u8> {
        let mut bytes = vec![0x80 | opcode];
        match payload {
            0..=125 => bytes.push(u8::try_from(payload).expect("short")),
            126..=0xffff => {
                bytes.push(126);
                bytes.extend(u16::try_from(payload).expect("medium").to_be_bytes());
            }
            _ => {
                bytes.push(127);
                bytes.extend(u64::try_from(payload).expect("long").to_be_bytes());
            }
        }
        bytes.resize(bytes.len() + payload, b'x');
        bytes
    }

    proptest! {
        #[test]
        fn a_boundary_is_found_however_the_bytes_arrive(
            sizes in prop::collection::vec(prop_oneof![0_usize..200, 65_000_usize..66_000], 1..6),
            chunk in 1_usize..5000,
        ) {
            let stream: Vec<u8> = sizes.iter().flat_map(|size| frame(*size, 2)).collect();
            let mut boundaries = std::collections::BTreeSet::from([0]);
            let mut end = 0;
            for size in &sizes {
                end += frame(*size, 2).len();
                boundaries.insert(end);
            }
            let (mut frames, mut passed) = (Frames::default(), 0);
            for piece in stream.chunks(chunk) {
                prop_assert_eq!(frames.pass(piece, false), piece.len());
                passed += piece.len();
                prop_assert_eq!(frames.between(), boundaries.contains(&passed));
            }
        }

        #[test]
        fn nothing_is_passed_beyond_the_frame_under_way(
            first in 2_usize..5000, second in 0_usize..300, cut in 1_usize..4000,
        ) {
            let whole = frame(first, 1);
            let stream = [whole.clone(), frame(second, 1)].concat();
            let cut = cut.min(whole.len() - 1);
            let mut frames = Frames::default();
            frames.pass(&stream[..cut], false);
            prop_assert!(!frames.between());
            prop_assert_eq!(frames.pass(&stream[cut..], true), whole.len() - cut);
            prop_assert!(frames.between());
        }
    }

    #[test]
    fn the_upstreams_own_close_frame_is_noticed_and_nonsense_too() {
        let mut frames = Frames::default();
        frames.pass(&frame(2, 8), false);
        assert!(frames.between() && frames.closing);
        let mut frames = Frames::default();
        frames.pass(&[0x83, 0x01], false);
        assert!(!frames.between(), "a reserved opcode");
    }

    #[tokio::test]
    async fn a_client_that_does_not_close_after_its_upstream_is_let_go() {
        let connections = crate::stream::connections::Connections::default();
        let ending = Ending {
            connection: &connections.open(),
            draining: &CancellationToken::new(),
            silence: None,
        };
        let (_client, ours) = tokio::io::duplex(64);
        let (upstream, theirs) = tokio::io::duplex(64);
        drop(upstream);
        let started = Instant::now();
        tunnel(ours, theirs, ending).await;
        assert!(
            started.elapsed() < 3 * HALF_CLOSED_TIMEOUT,
            "{:?}",
            started.elapsed()
        );
    }

    #[test]
    fn a_close_frame_has_the_reason() {
        let bytes = close_frame(Closing::Ended("signed_out"));
        assert_eq!(&bytes[..4], &[0x88, 12, 0x03, 0xf0]);
        assert_eq!(&bytes[4..], b"signed_out");
    }
}
