//! Strict HTTP/1.1 framing: refuses messages that can be interpreted in more than one way (RFC
//! 9112).
//!
//! All recipients of a message must agree where it ends and the next one starts, or a request can
//! be hidden in another's body. The HTTP library accepts some heads leniently, as the RFC allows (a
//! line that ends without CR, both lengths at once), and has no switch for it. This parser follows
//! the bytes beside it and ends the connection at everything that a proxy in front could have
//! interpreted differently; the framing of what passes is the same for both.

/// Longer than any head that the HTTP library accepts.
const MAX_LINE_BYTES: usize = 128 * 1024;

/// The position of the last byte in the stream of requests.
#[derive(Debug, Default)]
pub(super) struct Framing {
    part: Part,
    /// The incomplete line.
    line: Vec<u8>,
    head: Head,
    /// Whether a head has ended: from then on a response may be in progress.
    past_first_head: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Part {
    #[default]
    RequestLine,
    Field,
    /// Remaining bytes of a body with a stated length.
    Body(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer,
}

/// What the current head states about its body.
#[derive(Clone, Copy, Debug, Default)]
struct Head {
    http_1_0: bool,
    length: Option<u64>,
    chunked: bool,
}

/// The reason why a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("a line does not end with CR LF")]
    LineEnd,
    #[error("a line holds a control character")]
    ControlCharacter,
    #[error("a line is too long")]
    TooLong,
    #[error("a folded header line")]
    Folded,
    #[error("a header line without a plain name before its colon")]
    FieldName,
    #[error("a Content-Length that is not a number, or two of them")]
    ContentLength,
    #[error("a Transfer-Encoding that is not `chunked`, or two of them")]
    TransferEncoding,
    #[error("Content-Length and Transfer-Encoding at once")]
    TwoLengths,
    #[error("a chunk without a plain size")]
    ChunkSize,
    #[error("a chunk that is longer than its size")]
    ChunkEnd,
}

impl Framing {
    /// Follows received bytes.
    pub fn follow(&mut self, mut bytes: &[u8]) -> Result<(), Fault> {
        while !bytes.is_empty() {
            if let Part::Body(left) | Part::Chunk(left) = &mut self.part {
                let here = usize::try_from(*left).map_or(bytes.len(), |n| n.min(bytes.len()));
                *left -= u64::try_from(here).unwrap_or(*left);
                bytes = bytes.get(here..).unwrap_or_default();
                match self.part {
                    Part::Body(0) => self.part = Part::RequestLine,
                    Part::Chunk(0) => self.part = Part::ChunkEnd,
                    _ => {}
                }
                continue;
            }
            // almost every line arrives whole and without other control characters: one search finds
            // its end and that there are none
            if self.line.is_empty()
                && let Some(end) = memchr::memchr3(b'\r', b'\n', 0, bytes)
                && let Some((line, rest)) = bytes.split_at_checked(end)
                && let Some(rest) = rest.strip_prefix(b"\r\n")
            {
                self.clean_line(line)?;
                bytes = rest;
                continue;
            }
            let Some(end) = memchr::memchr(b'\n', bytes) else {
                if self.line.len() + bytes.len() > MAX_LINE_BYTES {
                    return Err(Fault::TooLong);
                }
                self.line.extend_from_slice(bytes);
                return Ok(());
            };
            let (line, rest) = bytes.split_at(end + 1);
            bytes = rest;
            if self.line.is_empty() {
                self.line_ends(line)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.line_ends(&whole)?;
            }
        }
        Ok(())
    }

    /// Returns whether no request can have been answered yet.
    pub fn in_first_head(&self) -> bool {
        !self.past_first_head
    }

    fn line_ends(&mut self, line: &[u8]) -> Result<(), Fault> {
        let line = line.strip_suffix(b"\r\n").ok_or(Fault::LineEnd)?;
        if memchr::memchr2(b'\r', 0, line).is_some() {
            return Err(Fault::ControlCharacter);
        }
        self.clean_line(line)
    }

    /// Follows a line without its end, which has neither CR, LF nor NUL.
    fn clean_line(&mut self, line: &[u8]) -> Result<(), Fault> {
        self.part = match self.part {
            // RFC 9112, 2.2: an empty line before a request is ignored
            Part::RequestLine if line.is_empty() => Part::RequestLine,
            Part::RequestLine => {
                self.head = Head {
                    http_1_0: line.ends_with(b" HTTP/1.0"),
                    ..Head::default()
                };
                Part::Field
            }
            Part::Field if line.is_empty() => {
                let body = self.head.body()?;
                self.past_first_head = true;
                body
            }
            Part::Field => {
                self.head.field(line)?;
                Part::Field
            }
            Part::ChunkSize => match chunk_size(line)? {
                0 => Part::Trailer,
                size => Part::Chunk(size),
            },
            Part::ChunkEnd if line.is_empty() => Part::ChunkSize,
            Part::ChunkEnd => return Err(Fault::ChunkEnd),
            Part::Trailer if line.is_empty() => Part::RequestLine,
            Part::Trailer => {
                name_and_value(line)?;
                Part::Trailer
            }
            // counted, not read by lines
            part @ (Part::Body(_) | Part::Chunk(_)) => part,
        };
        Ok(())
    }
}

impl Head {
    fn field(&mut self, line: &[u8]) -> Result<(), Fault> {
        let (name, value) = name_and_value(line)?;
        if name.eq_ignore_ascii_case(b"content-length") {
            let length = number(trimmed(value), 10).ok_or(Fault::ContentLength)?;
            if self.length.replace(length).is_some() {
                return Err(Fault::ContentLength);
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            let plain = trimmed(value).eq_ignore_ascii_case(b"chunked");
            // RFC 9112, 6.1: HTTP/1.0 has no transfer codings
            if !plain || self.chunked || self.http_1_0 {
                return Err(Fault::TransferEncoding);
            }
            self.chunked = true;
        }
        Ok(())
    }

    fn body(self) -> Result<Part, Fault> {
        match (self.length, self.chunked) {
            (Some(_), true) => Err(Fault::TwoLengths),
            (None, true) => Ok(Part::ChunkSize),
            (Some(0) | None, false) => Ok(Part::RequestLine),
            (Some(length), false) => Ok(Part::Body(length)),
        }
    }
}

/// Splits a header line (RFC 9112, 5: a token directly before the colon). The value is as it was
/// sent, with the blanks around it.
fn name_and_value(line: &[u8]) -> Result<(&[u8], &[u8]), Fault> {
    if line.first().is_some_and(is_blank) {
        return Err(Fault::Folded);
    }
    // names are short: one pass finds the colon and the blanks that may not be before it
    let end = line.iter().position(|byte| *byte == b':' || is_blank(byte));
    let (name, rest) = line.split_at(end.ok_or(Fault::FieldName)?);
    let value = rest.strip_prefix(b":").ok_or(Fault::FieldName)?;
    if name.is_empty() {
        return Err(Fault::FieldName);
    }
    Ok((name, value))
}

/// Returns a value without the blanks around it.
fn trimmed(value: &[u8]) -> &[u8] {
    let first = value.iter().position(|b| !is_blank(b));
    let last = value.iter().rposition(|b| !is_blank(b));
    let within = first
        .zip(last)
        .and_then(|(first, last)| value.get(first..=last));
    within.unwrap_or_default()
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Parses a chunk's size (RFC 9112, 7.1): hexadecimal, followed by extensions that are ignored.
fn chunk_size(line: &[u8]) -> Result<u64, Fault> {
    let size = line.split(|b| *b == b';').next().unwrap_or_default();
    number(size, 16).ok_or(Fault::ChunkSize)
}

/// Parses a number from digits only.
fn number(text: &[u8], radix: u32) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let plain = text.chars().all(|c| c.is_digit(radix));
    (plain && text.len() <= 16)
        .then(|| u64::from_str_radix(text, radix).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEXT: &str = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

    /// Follows the stream in pieces of every length, which must not make a difference.
    fn follow(stream: &str) -> Result<Part, Fault> {
        let whole = |size: usize| {
            let mut framing = Framing::default();
            for piece in stream.as_bytes().chunks(size) {
                framing.follow(piece)?;
            }
            Ok(framing.part)
        };
        let first = whole(stream.len());
        for size in 1..40 {
            assert_eq!(whole(size), first, "in pieces of {size}: {stream:?}");
        }
        first
    }

    #[test]
    fn plain_requests_pass_one_after_the_other() {
        for first in [
            "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "\r\nGET / HTTP/1.0\r\nHost: a\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na\nb\rc",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:0\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n\
             5;x=y\r\na\nb\rc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nEmpty:\r\nTab:\tx\t\r\nContent-Length: 3\r\n\r\nabc",
        ] {
            assert_eq!(follow(first), Ok(Part::RequestLine), "{first:?}");
            assert_eq!(
                follow(&format!("{first}{NEXT}")),
                Ok(Part::RequestLine),
                "{first:?}"
            );
        }
    }

    #[test]
    fn what_others_may_read_otherwise_is_cut() {
        let with = |lines: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n");
        for (lines, fault) in [
            (
                "Content-Length: 5\r\nTransfer-Encoding: chunked",
                Fault::TwoLengths,
            ),
            (
                "Transfer-Encoding: chunked\r\nContent-Length: 5",
                Fault::TwoLengths,
            ),
            (
                "Content-Length: 5\r\nContent-Length: 6",
                Fault::ContentLength,
            ),
            (
                "Content-Length: 5\r\nContent-Length: 5",
                Fault::ContentLength,
            ),
            ("Content-Length: 5, 5", Fault::ContentLength),
            ("Content-Length: +5", Fault::ContentLength),
            ("Content-Length: 0x5", Fault::ContentLength),
            ("Content-Length: 99999999999999999999", Fault::ContentLength),
            ("Transfer-Encoding: xchunked", Fault::TransferEncoding),
            (
                "Transfer-Encoding: chunked, identity",
                Fault::TransferEncoding,
            ),
            (
                "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
                Fault::TransferEncoding,
            ),
            (
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                Fault::TransferEncoding,
            ),
            ("Transfer-Encoding: \x0bchunked", Fault::TransferEncoding),
            ("X: a\r\n b", Fault::Folded),
            ("X : a", Fault::FieldName),
            ("X", Fault::FieldName),
            (": a", Fault::FieldName),
            ("X: a\nY: b", Fault::LineEnd),
            ("X: a\rY: b", Fault::ControlCharacter),
            ("X: a\0b", Fault::ControlCharacter),
        ] {
            assert_eq!(follow(&with(lines)), Err(fault), "{lines:?}");
        }
    }

    #[test]
    fn chunks_are_read_strictly() {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        for (chunks, fault) in [
            ("3\nabc\r\n0\r\n\r\n", Fault::LineEnd),
            ("3 \r\nabc\r\n0\r\n\r\n", Fault::ChunkSize),
            ("-3\r\nabc\r\n", Fault::ChunkSize),
            ("0x3\r\nabc\r\n", Fault::ChunkSize),
            ("\r\nabc\r\n", Fault::ChunkSize),
            ("fffffffffffffffff\r\n", Fault::ChunkSize),
            ("3\r\nabcd\r\n", Fault::ChunkEnd),
            ("0\r\n folded: x\r\n\r\n", Fault::Folded),
        ] {
            assert_eq!(follow(&format!("{head}{chunks}")), Err(fault), "{chunks:?}");
        }
    }

    #[test]
    fn http_1_0_has_no_chunks() {
        let request = "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(follow(request), Err(Fault::TransferEncoding));
    }

    #[test]
    fn a_line_without_end_is_not_kept() {
        let mut framing = Framing::default();
        let piece = [b'a'; 1024];
        let cut = (0..1000).find(|_| framing.follow(&piece).is_err());
        assert!(cut.is_some_and(|pieces| pieces <= MAX_LINE_BYTES / piece.len()));
    }
}
