//! Filters headers of requests and responses.
pub mod cache_control;
pub mod cookies;
mod hop_by_hop;
pub mod path_route;
mod request;
mod response;
pub mod trailers;

use http::HeaderMap;

pub use request::clean_request;
pub use response::{clean_response, clean_trailers};

/// The origin of a response: the panel, or an app, which is untrusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    Panel,
    App,
}

/// Returns the size of names and values in bytes, for the limit on requests.
pub fn size(headers: &HeaderMap) -> usize {
    headers
        .iter()
        .map(|(name, value)| name.as_str().len() + value.len() + 4)
        .sum()
}

#[cfg(test)]
mod tests;
