//! One request of a server function and its response, over the browser's `fetch`.
use crate::error::{UiError, UiErrorKind};
use futures::{Stream, stream};
use http::Method;
use leptos::{
    __reexports::send_wrapper::SendWrapper,
    prelude::window,
    server_fn::{Bytes, redirect::REDIRECT_HEADER, request::ClientReq, response::ClientRes},
};
use std::future::Future;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Headers, RequestInit, Response};

/// A request with a text body; server functions here need nothing else.
pub struct Call {
    path: String,
    content_type: String,
    accepts: String,
    body: String,
}

impl Call {
    /// Sends the call with more headers.
    pub async fn send(self, more: &[(&str, &str)]) -> Result<Reply, JsValue> {
        let headers = Headers::new()?;
        headers.set("Content-Type", &self.content_type)?;
        headers.set("Accept", &self.accepts)?;
        for (name, value) in more {
            headers.set(name, value)?;
        }
        let request = RequestInit::new();
        request.set_method("POST");
        request.set_headers(&headers);
        request.set_body(&JsValue::from_str(&self.body));
        let sent = window().fetch_with_str_and_init(&self.path, &request);
        let response: Response = JsFuture::from(sent).await?.dyn_into()?;
        Ok(Reply(SendWrapper::new(response)))
    }

    fn new(path: &str, content_type: &str, accepts: &str, body: String) -> Self {
        Self {
            path: path.to_owned(),
            content_type: content_type.to_owned(),
            accepts: accepts.to_owned(),
            body,
        }
    }
}

fn unsupported<T>() -> Result<T, UiError> {
    Err(UiError::new(
        UiErrorKind::Internal,
        "This kind of request is not supported.",
    ))
}

impl ClientReq<UiError> for Call {
    type FormData = ();

    fn try_new_req_query(_: &str, _: &str, _: &str, _: &str, _: Method) -> Result<Self, UiError> {
        unsupported()
    }

    fn try_new_req_text(
        path: &str,
        content_type: &str,
        accepts: &str,
        body: String,
        _: Method,
    ) -> Result<Self, UiError> {
        Ok(Self::new(path, content_type, accepts, body))
    }

    fn try_new_req_bytes(
        path: &str,
        content_type: &str,
        accepts: &str,
        body: Bytes,
        _: Method,
    ) -> Result<Self, UiError> {
        let body = String::from_utf8(body.into()).or_else(|_| unsupported())?;
        Ok(Self::new(path, content_type, accepts, body))
    }

    fn try_new_req_form_data(
        _: &str,
        _: &str,
        _: &str,
        (): (),
        _: Method,
    ) -> Result<Self, UiError> {
        unsupported()
    }

    fn try_new_req_multipart(_: &str, _: &str, (): (), _: Method) -> Result<Self, UiError> {
        unsupported()
    }

    fn try_new_req_streaming(
        _: &str,
        _: &str,
        _: &str,
        _: impl Stream<Item = Bytes> + Send + 'static,
        _: Method,
    ) -> Result<Self, UiError> {
        unsupported()
    }
}

/// The response to a call.
pub struct Reply(SendWrapper<Response>);

impl Reply {
    pub fn status_code(&self) -> u16 {
        self.0.status()
    }

    pub fn header(&self, name: &str) -> Option<String> {
        self.0.headers().get(name).ok().flatten()
    }

    pub fn is_json(&self) -> bool {
        self.header("content-type")
            .is_some_and(|kind| kind.contains("json"))
    }

    async fn text(self) -> Result<String, JsValue> {
        let text = JsFuture::from(self.0.text()?).await?;
        Ok(text.as_string().unwrap_or_default())
    }
}

impl ClientRes<UiError> for Reply {
    fn try_into_string(self) -> impl Future<Output = Result<String, UiError>> + Send {
        SendWrapper::new(async move {
            self.text().await.map_err(|_| {
                UiError::new(
                    UiErrorKind::Unavailable,
                    "The connection closed before the response was complete.",
                )
                .next_step("Try again.")
            })
        })
    }

    async fn try_into_bytes(self) -> Result<Bytes, UiError> {
        self.try_into_string().await.map(Bytes::from)
    }

    fn try_into_stream(
        self,
    ) -> Result<impl Stream<Item = Result<Bytes, Bytes>> + Send + Sync + 'static, UiError> {
        unsupported::<stream::Empty<_>>()
    }

    fn status(&self) -> u16 {
        self.status_code()
    }

    fn status_text(&self) -> String {
        self.0.status_text()
    }

    fn location(&self) -> String {
        self.header("Location").unwrap_or_else(|| self.0.url())
    }

    fn has_redirect(&self) -> bool {
        self.header(REDIRECT_HEADER).is_some()
    }
}
