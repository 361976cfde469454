//! A client's connection, with what HTTP libraries do not look after: that it says at all what it
//! speaks, that it takes what is there for it, that HTTP/1.1 is framed in one way only, and that no
//! answer is lost by the end of its connection.
use super::Limits;
use super::admission::Place;
use super::framing::{Fault, Framing};
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

/// How long whoever got its last byte may take to close its side. RFC 9112, 9.6: a socket that is
/// closed while its client still sends is reset, and a reset can take with it what the client has
/// not read yet.
const LINGER: Duration = Duration::from_secs(1);
/// How many bytes it may still send meanwhile: what can be on its way, as full as both systems'
/// buffers get. Whoever sends more is flooding.
const LEFTOVERS: usize = 16 * 1024 * 1024;
/// RFC 9113, 3.4.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) struct Wire<S> {
    stream: S,
    speaks: Speaks,
    /// Set when the connection becomes something else, a WebSocket.
    switched: Arc<AtomicBool>,
    send: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    /// Set once everything was sent and our side is closed.
    lingers: Option<Lingers>,
    /// Held for as long as the connection is, which may be longer than it speaks HTTP.
    _place: Place,
}

/// The time after the last byte.
struct Lingers {
    deadline: Pin<Box<Sleep>>,
    /// How many bytes came in it.
    passed_over: usize,
}

/// What the client speaks.
enum Speaks {
    /// Not known yet: so many bytes of HTTP/2's preface have come.
    Nothing {
        matched: usize,
        deadline: Pin<Box<Sleep>>,
    },
    Http1(Framing),
    /// HTTP/2, or whatever was switched to.
    Other,
}

impl<S> Wire<S> {
    pub fn new(stream: S, limits: &Limits, switched: Arc<AtomicBool>, place: Place) -> Self {
        Self {
            stream,
            speaks: Speaks::Nothing {
                matched: 0,
                deadline: Box::pin(sleep(limits.header_read)),
            },
            switched,
            send: limits.send,
            stalled: None,
            lingers: None,
            _place: place,
        }
    }

    /// Looks at what has come.
    fn heard(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if let Speaks::Nothing { matched, .. } = &mut self.speaks {
            let expected = PREFACE.get(*matched..).unwrap_or_default();
            let compared = expected.len().min(bytes.len());
            if bytes.get(..compared) == expected.get(..compared) {
                *matched += compared;
                if *matched == PREFACE.len() {
                    self.speaks = Speaks::Other;
                }
                return Ok(());
            }
            let mut framing = Framing::default();
            let before = PREFACE.get(..*matched).unwrap_or_default();
            let followed = framing.follow(before);
            self.speaks = Speaks::Http1(framing);
            followed?;
        }
        if let Speaks::Http1(framing) = &mut self.speaks {
            if self.switched.load(Ordering::Relaxed) {
                self.speaks = Speaks::Other;
            } else {
                framing.follow(bytes)?;
            }
        }
        Ok(())
    }

    /// Ends the connection of a client that takes nothing for too long.
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

impl<S: AsyncWrite + Unpin> Wire<S> {
    /// Ends the connection of a client that could be read in two ways. Where no answer can be under
    /// way it is told why, as far as the socket takes that at once.
    fn refuse(&mut self, context: &mut Context<'_>, fault: Fault) -> io::Error {
        metrics::counter!(MALFORMED_REQUESTS).increment(1);
        if let Speaks::Http1(framing) = &self.speaks
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
    let text = format!("This request could be read in more than one way: {fault}.\n");
    let length = text.len();
    format!(
        "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncache-control: no-store\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{text}"
    )
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Wire<S> {
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
            Poll::Pending => match &mut this.speaks {
                Speaks::Nothing { deadline, .. } => deadline
                    .as_mut()
                    .poll(context)
                    .map(|()| Err(ErrorKind::TimedOut.into())),
                _ => Poll::Pending,
            },
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Passes over what the client still sends, until it closes its side too or has had its time.
    fn linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let lingers = self.lingers.get_or_insert_with(|| Lingers {
            deadline: Box::pin(sleep(LINGER)),
            passed_over: 0,
        });
        if lingers.deadline.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut scratch = [MaybeUninit::uninit(); 4096];
        while lingers.passed_over < LEFTOVERS {
            let mut buffer = ReadBuf::uninit(&mut scratch);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let came = buffer.filled().len();
            if read.is_err() || came == 0 {
                break;
            }
            lingers.passed_over += came;
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
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
        if this.lingers.is_none() {
            let shut = Pin::new(&mut this.stream).poll_shutdown(context);
            ready!(this.unless_stalled(context, shut))?;
            if this.switched.load(Ordering::Relaxed) {
                // only this direction ends: the other is still read by whoever it was handed to
                return Poll::Ready(Ok(()));
            }
        }
        this.linger(context).map(Ok)
    }
}
