//! JSON, decoded like the page's own data: with one decoder for both, the browser's code is smaller
//! by a tenth.
use leptos::server_fn::{Bytes, ContentType, Decodes, Encodes, Format, FormatType, codec::Post};
use serde::{Serialize, de::DeserializeOwned};

/// JSON text.
pub struct JsonText;

/// Arguments or a result as JSON.
pub type Json = Post<JsonText>;

/// The reason why a text could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    #[error(transparent)]
    Text(#[from] std::str::Utf8Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl ContentType for JsonText {
    const CONTENT_TYPE: &'static str = "application/json";
}

impl FormatType for JsonText {
    const FORMAT_TYPE: Format = Format::Text;
}

impl<T: Serialize> Encodes<T> for JsonText {
    type Error = serde_json::Error;

    fn encode(value: &T) -> Result<Bytes, Self::Error> {
        serde_json::to_string(value).map(Bytes::from)
    }
}

impl<T: DeserializeOwned> Decodes<T> for JsonText {
    type Error = DecodeError;

    fn decode(bytes: Bytes) -> Result<T, Self::Error> {
        Ok(serde_json::from_str(std::str::from_utf8(&bytes)?)?)
    }
}
