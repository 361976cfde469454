//! A client's connection with protections that HTTP libraries lack: time limits for the protocol's
//! start and for reading responses, unambiguous HTTP/1.1 framing, and a close that loses no
//! response.
use super::Limits;
use super::admission::Place;
use super::strict_framing::{Fault, Framing};
use crate::metrics::MALFORMED_REQUESTS;
use std::io::{self, ErrorKind, IoSlice};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long the client may take to close its side after its last byte. RFC 9112, section 9.6: a
/// socket that is closed while its client still sends is reset, and a reset can discard what the
/// client has not read yet.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of bytes that the client may still send meanwhile: as many as both systems' full
/// buffers hold. A client that sends more is flooding.
const MAX_LINGERING_BYTES: usize = 16 * 1024 * 1024;
/// RFC 9113, 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) struct GuardedStream<S> {
    stream: S,
    protocol: Protocol,
    /// Set when the connection switches protocols, to a WebSocket.
    switched: Arc<AtomicBool>,
    send: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    /// Set once everything was sent and the local side is closed.
    lingering: Option<LingeringClose>,
    /// Held for as long as the connection exists, which may be longer than it uses HTTP.
    _place: Place,
}

/// The time after the last byte was sent.
struct LingeringClose {
    deadline: Pin<Box<Sleep>>,
    /// Number of bytes discarded in it.
    passed_over: usize,
}

/// The client's protocol.
enum Protocol {
    /// Not known yet: this number of bytes of HTTP/2's preface has arrived.
    Nothing {
        matched: usize,
        deadline: Pin<Box<Sleep>>,
    },
    Http1(Framing),
    /// HTTP/2, or the protocol after a switch.
    Other,
}

impl<S> GuardedStream<S> {
    pub fn new(stream: S, limits: &Limits, switched: Arc<AtomicBool>, place: Place) -> Self {
        Self {
            stream,
            protocol: Protocol::Nothing {
                matched: 0,
                deadline: Box::pin(sleep(limits.header_read)),
            },
            switched,
            send: limits.send,
            stalled: None,
            lingering: None,
            _place: place,
        }
    }

    /// Inspects received bytes.
    fn heard(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if let Protocol::Nothing { matched, .. } = &mut self.protocol {
            let expected = PREFACE.get(*matched..).unwrap_or_default();
            let compared = expected.len().min(bytes.len());
            if bytes.get(..compared) == expected.get(..compared) {
                *matched += compared;
                if *matched == PREFACE.len() {
                    self.protocol = Protocol::Other;
                }
                return Ok(());
            }
            let mut framing = Framing::default();
            let before = PREFACE.get(..*matched).unwrap_or_default();
            let followed = framing.follow(before);
            self.protocol = Protocol::Http1(framing);
            followed?;
        }
        if let Protocol::Http1(framing) = &mut self.protocol {
            if self.switched.load(Ordering::Relaxed) {
                self.protocol = Protocol::Other;
            } else {
                framing.follow(bytes)?;
            }
        }
        Ok(())
    }

    /// Ends the connection of a client that receives nothing for too long.
    fn unless_stalled<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(self.send)));
        stalled
            .as_mut()
            .poll(context)
            .map(|()| Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncWrite + Unpin> GuardedStream<S> {
    /// Ends the connection of a client whose request is ambiguous. If no response can be in
    /// progress, the reason is sent, as far as the socket accepts it at once.
    fn refuse(&mut self, context: &mut Context<'_>, fault: Fault) -> io::Error {
        metrics::counter!(MALFORMED_REQUESTS).increment(1);
        if let Protocol::Http1(framing) = &self.protocol
            && framing.in_first_head()
        {
            let answer = bad_request(fault);
            let mut stream = Pin::new(&mut self.stream);
            if stream
                .as_mut()
                .poll_write(context, answer.as_bytes())
                .is_ready()
            {
                let _ = stream.poll_flush(context);
            }
        }
        io::Error::new(ErrorKind::InvalidData, fault)
    }
}

fn bad_request(fault: Fault) -> String {
    let text = format!("This request is ambiguous: {fault}.\n");
    let length = text.len();
    format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncache-control: no-store\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{text}"
    )
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        match Pin::new(&mut this.stream).poll_read(context, buffer) {
            Poll::Ready(Ok(())) => {
                let fresh = buffer.filled().get(before..).unwrap_or_default();
                let heard = this.heard(fresh);
                Poll::Ready(heard.map_err(|fault| this.refuse(context, fault)))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => match &mut this.protocol {
                Protocol::Nothing { deadline, .. } => deadline
                    .as_mut()
                    .poll(context)
                    .map(|()| Err(ErrorKind::TimedOut.into())),
                _ => Poll::Pending,
            },
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> GuardedStream<S> {
    /// Discards what the client still sends, until it closes its side too or its time is over.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let lingering = self.lingering.get_or_insert_with(|| LingeringClose {
            deadline: Box::pin(sleep(LINGER_TIMEOUT)),
            passed_over: 0,
        });
        if lingering.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut scratch = [MaybeUninit::uninit(); 4096];
        while lingering.passed_over < MAX_LINGERING_BYTES {
            let mut buffer = ReadBuf::uninit(&mut scratch);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let came = buffer.filled().len();
            if read.is_err() || came == 0 {
                break;
            }
            lingering.passed_over += came;
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(context, bytes);
        this.unless_stalled(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(context, slices);
        this.unless_stalled(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.stream).poll_flush(context);
        this.unless_stalled(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.lingering.is_none() {
            let shut = Pin::new(&mut this.stream).poll_shutdown(context);
            ready!(this.unless_stalled(context, shut))?;
            if this.switched.load(Ordering::Relaxed) {
                // only this direction ends: the other is still read by its new owner
                return Poll::Ready(Ok(()));
            }
        }
        this.linger(context).map(Ok)
    }
}
