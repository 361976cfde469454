//! Filters trailer fields (RFC 9110 6.5): a second header section, on which no decision is based.
use http::{HeaderName, header};
use http_body::Frame;
use portico_runtime::request_id::X_REQUEST_ID;

use crate::headers;

/// Returns a frame of a request. Its trailers are forwarded if the upstream accepts any (`named`:
/// headers that only the gateway may send to it), without fields that clients may not send as
/// headers: some programs merge trailers into the headers that they read identity from. Other
/// upstreams get no trailers.
pub fn of_request<D>(frame: Frame<D>, named: Option<&[HeaderName]>) -> Option<Frame<D>> {
    match frame.into_trailers() {
        Ok(mut trailers) => {
            headers::clean_request(&mut trailers, named?);
            // the request ID is the gateway's own, which replaces a client's header
            for name in [
                header::COOKIE,
                header::HOST,
                header::CONTENT_LENGTH,
                X_REQUEST_ID,
            ] {
                trailers.remove(name);
            }
            Some(Frame::trailers(trailers))
        }
        Err(frame) => Some(frame),
    }
}

/// Returns a frame of a response, its trailers without fields that a response may not contain.
pub fn cleaned<D>(frame: Frame<D>) -> Frame<D> {
    match frame.into_trailers() {
        Ok(mut trailers) => {
            headers::clean_trailers(&mut trailers);
            Frame::trailers(trailers)
        }
        Err(frame) => frame,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::{HeaderMap, HeaderValue};

    fn with_trailers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        for (name, value) in pairs {
            trailers.append(*name, HeaderValue::from_static(value));
        }
        trailers
    }

    #[test]
    fn attack_21_a_clients_trailers_carry_no_identity() {
        let trailers = || {
            Frame::<Bytes>::trailers(with_trailers(&[
                ("impersonate-user", "admin"),
                ("x-grafana-user", "admin"),
                ("cookie", "a=b"),
                ("x-request-id", "forged"),
                ("x-checksum", "1"),
            ]))
        };
        assert!(of_request(trailers(), None).is_none());
        let named = [HeaderName::from_static("x-grafana-user")];
        let frame = of_request(trailers(), Some(&named)).expect("the control case");
        let left = frame.into_trailers().expect("trailers");
        assert_eq!(
            left.keys().map(HeaderName::as_str).collect::<Vec<_>>(),
            ["x-checksum"]
        );
        let data = Frame::data(Bytes::from_static(b"all of it"));
        assert!(of_request(data, None).is_some_and(|frame| frame.is_data()));
    }

    #[test]
    fn a_responses_trailers_set_no_cookie_and_keep_the_grpc_status() {
        let trailers = with_trailers(&[
            ("grpc-status", "0"),
            ("set-cookie", "portico=stolen"),
            ("connection", "close"),
            ("portico-assertion", "x"),
            ("clear-site-data", "\"*\""),
        ]);
        let frame = cleaned(Frame::<Bytes>::trailers(trailers));
        let left = frame.into_trailers().expect("trailers");
        assert_eq!(
            left.keys().map(|name| name.as_str()).collect::<Vec<_>>(),
            ["grpc-status"]
        );
    }
}
