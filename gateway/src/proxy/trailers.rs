//! Trailer fields (RFC 9110 6.5): a second header section, which nothing has been decided on.
use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body, Frame, SizeHint};

use super::headers;

/// A request's body without its trailers. No upstream needs a client's, and some merge them into
/// the headers that they take identity from.
#[derive(Debug)]
pub(crate) struct WithoutTrailers<B> {
    body: B,
    over: bool,
}

impl<B> WithoutTrailers<B> {
    pub fn new(body: B) -> Self {
        Self { body, over: false }
    }
}

impl<B: Body + Unpin> Body for WithoutTrailers<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let this = self.get_mut();
        if this.over {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut this.body).poll_frame(context));
        if matches!(&frame, Some(Ok(frame)) if frame.is_trailers()) {
            // they are the last
            this.over = true;
            return Poll::Ready(None);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A frame of a response, its trailers without what a response may not say either.
pub(crate) fn cleaned<D>(frame: Frame<D>) -> Frame<D> {
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
    use futures::stream;
    use http::{HeaderMap, HeaderValue};
    use http_body_util::{BodyExt as _, StreamBody};
    use std::convert::Infallible;

    fn with_trailers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut trailers = HeaderMap::new();
        for (name, value) in pairs {
            trailers.append(*name, HeaderValue::from_static(value));
        }
        trailers
    }

    #[tokio::test]
    async fn attack_21_a_clients_trailers_go_no_further() {
        let trailers = with_trailers(&[("impersonate-user", "admin"), ("x-any", "1")]);
        let frames = [
            Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"all of "))),
            Ok(Frame::data(Bytes::from_static(b"it"))),
            Ok(Frame::trailers(trailers)),
        ];
        let body = WithoutTrailers::new(StreamBody::new(stream::iter(frames)));
        let collected = body.collect().await.expect("body");
        assert!(collected.trailers().is_none());
        assert_eq!(collected.to_bytes(), "all of it", "the twin");
    }

    #[test]
    fn a_responses_trailers_set_no_cookie_and_keep_what_grpc_says() {
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
