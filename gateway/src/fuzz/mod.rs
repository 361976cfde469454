//! Fuzz targets: input of untrusted clients and of operators, mutated at random from seeds. See
//! [`portico_testkit::fuzz`].
mod cookies;
mod headers;
mod paths;
mod return_paths;
mod rules;
mod rules_files;

use http::{HeaderMap, HeaderName, HeaderValue};

/// Returns the headers of a text with one `name: value` per line; what HTTP does not accept is left
/// out.
fn headers_in(text: &[u8]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in text.split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        let (name, value) = line.split_at(colon);
        let name = HeaderName::from_bytes(name);
        let value = HeaderValue::from_bytes(value[1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value) {
            headers.append(name, value);
        }
    }
    headers
}
