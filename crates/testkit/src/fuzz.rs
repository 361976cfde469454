//! Support for fuzz targets. Each runs for `PORTICO_FUZZ_SECONDS` (1 by default; set more to search longer), after it has
//! replayed its seeds. Under a fuzzing engine (`cargo bolero test`) the same targets are guided by
//! coverage.
use serde_json::Value;
use std::time::Duration;

/// A seed and its edits: an operation, a position and a value each.
pub type Change = (u16, Vec<(u8, u16, u8)>);

/// Maximum number of edits of a seed; more would leave nothing of it.
const MAX_EDITS: usize = 32;

/// Returns how long a target runs.
pub fn time() -> Duration {
    let seconds = std::env::var("PORTICO_FUZZ_SECONDS");
    let seconds = seconds.ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1))
}

/// Returns the texts of a corpus: every string in a JSON file, at any place.
///
/// # Panics
/// When it is not JSON or holds none.
pub fn seeds(json: &str) -> Vec<String> {
    fn collect(value: Value, into: &mut Vec<String>) {
        match value {
            Value::String(text) => into.push(text),
            Value::Array(values) => values.into_iter().for_each(|value| collect(value, into)),
            Value::Object(fields) => fields
                .into_iter()
                .for_each(|(_, value)| collect(value, into)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    collect(
        serde_json::from_str(json).expect("a corpus in JSON"),
        &mut texts,
    );
    assert!(!texts.is_empty(), "a corpus without a seed");
    texts
}

/// Returns one of the seeds, edited: bytes inserted, removed, replaced and repeated, replaced with
/// `pieces` that often confuse the parser in question, the end cut off.
pub fn edited<S: AsRef<[u8]>>(seeds: &[S], pieces: &[&str], change: &Change) -> Vec<u8> {
    let (seed, edits) = change;
    let mut bytes = seeds[usize::from(*seed) % seeds.len()].as_ref().to_vec();
    for &(operation, at, with) in edits.iter().take(MAX_EDITS) {
        let at = usize::from(at) % (bytes.len() + 1);
        let to = bytes.len().min(at + usize::from(with) % 16);
        match operation % 6 {
            0 => bytes.insert(at, with),
            1 => drop(bytes.drain(at..to)),
            2 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = with;
                }
            }
            3 => {
                let again = bytes[at..to].to_vec();
                drop(bytes.splice(at..at, again));
            }
            4 => {
                let piece = pieces[usize::from(with) % pieces.len()];
                drop(bytes.splice(at..to, piece.bytes()));
            }
            _ => bytes.truncate(at),
        }
    }
    bytes
}
