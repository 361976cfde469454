//! Escaping of characters in JSON that JSON leaves as they are, but on which a terminal acts.
use std::fmt::Write as _;
use std::io::{self, Write};
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// Passes on JSON in which a terminal finds nothing to act on. Each write must be a whole line.
#[derive(Clone, Debug)]
pub(super) struct TerminalSafe<T>(pub T);

impl<'w, M: MakeWriter<'w>> MakeWriter<'w> for TerminalSafe<M> {
    type Writer = TerminalSafe<M::Writer>;

    fn make_writer(&'w self) -> Self::Writer {
        TerminalSafe(self.0.make_writer())
    }

    fn make_writer_for(&'w self, metadata: &Metadata<'_>) -> Self::Writer {
        TerminalSafe(self.0.make_writer_for(metadata))
    }
}

impl<W: Write> Write for TerminalSafe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if may_act_on_terminal(bytes)
            && let Ok(text) = std::str::from_utf8(bytes)
        {
            return self.0.write_all(escaped(text).as_bytes());
        }
        self.0.write_all(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Such characters are in strings only, where JSON has an escape for every character (RFC 8259, 7).
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if acts_on_terminal(character) {
            // each is in the basic multilingual plane; writing to a string cannot fail
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Returns whether there may be a character that [`acts_on_terminal`], by the first byte of its
/// encoding.
fn may_act_on_terminal(bytes: &[u8]) -> bool {
    // all bytes at once: searching for the first takes longer. Most lines have ASCII only, which the
    // largest byte tells.
    bytes.iter().copied().fold(0, u8::max) >= 0x7f
        && bytes.iter().fold(false, |found, byte| {
            found | matches!(byte, 0x7f | 0xc2 | 0xd8 | 0xe2)
        })
}

/// Returns whether a terminal would interpret a character that JSON leaves unescaped: control
/// characters from DEL on, and those that change the direction of the text.
fn acts_on_terminal(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_is_escaped_is_found_by_its_first_byte() {
        for character in '\u{7f}'..='\u{ffff}' {
            let mut buffer = [0; 4];
            let bytes = character.encode_utf8(&mut buffer).as_bytes();
            assert!(
                !acts_on_terminal(character) || may_act_on_terminal(bytes),
                "{character:?}"
            );
        }
    }

    #[test]
    fn other_text_is_passed_on_unchanged() {
        let mut written = TerminalSafe(Vec::new());
        // two of the first bytes, in characters on which no terminal acts
        let line = "{\"a\":\"é”東 £ \\u009b\"}\n";
        written.write_all(line.as_bytes()).unwrap();
        written.write_all(b"\"\xc2\x9b\"").unwrap();
        let text = String::from_utf8(written.0).unwrap();
        assert_eq!(text, format!("{line}\"\\u009b\""));
    }
}
