//! Forwards a permitted request, with metrics, tracing and a connection that ends with its session.
use std::pin::pin;

use axum::{body::Body, response::Response};
use http::{Method, Request, header};
use portico_proxy::{
    forward::{Added, ForwardError},
    headers::Trust,
    stream::connections::Connection,
    upstream::Upstream,
};
use tokio::time::Instant;
use tracing::{Instrument as _, Span, field::Empty};

use super::{ReverseProxy, panel_audit::OnBehalf};
use crate::{
    hosts::App,
    http::{access_log, error_response::Problem, interrupt::Interrupt},
    metrics,
    request_context::Context,
    sessions::{assertion::SignedHeaders, live::Caller},
};

impl ReverseProxy {
    /// Forwards a request to the panel. Returns its response, or the problem.
    pub(super) async fn pass_on_to_panel(
        &self,
        context: &Context,
        connection: Connection,
        on_behalf: OnBehalf,
        identity: SignedHeaders,
        request: Request<Body>,
    ) -> Result<Response, Interrupt> {
        let upstream = &self.panel;
        let added = self.added(context, upstream, identity);
        let measurement = Measurement::begin(upstream);
        let forwarded = pin!(self.forward_to_panel(context, request, added, connection, on_behalf));
        let result = forwarded.instrument(measurement.span.clone()).await;
        measurement.end(result)
    }

    /// Forwards a request to an upstream. Returns its response, or the problem.
    pub(super) async fn pass_on(
        &self,
        context: &Context,
        connection: Connection,
        upstream: &Upstream,
        trust: Trust,
        identity: SignedHeaders,
        request: Request<Body>,
    ) -> Result<Response, Interrupt> {
        let added = self.added(context, upstream, identity);
        let measurement = Measurement::begin(upstream);
        let forwarded =
            pin!(
                self.forwarder
                    .forward(request, upstream, trust, added, connection, |_| {})
            );
        let result = forwarded.instrument(measurement.span.clone()).await;
        measurement.end(result)
    }

    fn added(&self, context: &Context, upstream: &Upstream, identity: SignedHeaders) -> Added {
        Added {
            scheme: if self.hosts.secure() { "https" } else { "http" },
            client: context.client,
            identity,
            named: self.upstream_identity.identities.named(&upstream.id),
        }
    }

    /// Forwards a request without any identity, and without a body if it is a preflight.
    pub(super) async fn pass_on_bare(
        &self,
        context: &Context,
        app: &App,
        mut request: Request<Body>,
    ) -> Result<Response, Interrupt> {
        request.headers_mut().remove(header::COOKIE);
        if request.method() == Method::OPTIONS {
            request.headers_mut().remove(header::CONTENT_LENGTH);
            *request.body_mut() = Body::empty();
        }
        let connection = self.connection(app, None);
        let (upstream, identity) = (&app.upstream, SignedHeaders::default());
        self.pass_on(context, connection, upstream, Trust::App, identity, request)
            .await
    }

    /// Registers the connection of a request: it ends with the session, or, without a user, when
    /// the rules that permit it change.
    pub(super) fn connection(&self, app: &App, caller: Option<&Caller>) -> Connection {
        match caller {
            Some(caller) => caller.live.connections.open(),
            None => self.authorization.rules.open(app),
        }
    }
}

/// What is measured of a request that is being forwarded. The future of the request is pinned where
/// it is made: two kilobytes large, it would be moved by each function that it is passed to.
struct Measurement<'u> {
    upstream: &'u Upstream,
    started: Instant,
    span: Span,
}

impl<'u> Measurement<'u> {
    fn begin(upstream: &'u Upstream) -> Self {
        Self {
            upstream,
            started: Instant::now(),
            span: tracing::debug_span!(
                "upstream",
                otel.kind = "client",
                peer.service = upstream.id,
                http.response.status_code = Empty
            ),
        }
    }

    /// Records the result. Returns the response, or the problem.
    fn end(self, result: Result<Response, ForwardError>) -> Result<Response, Interrupt> {
        let upstream = self.upstream;
        metrics::upstream(&upstream.id, self.started.elapsed());
        if let Ok(response) = &result {
            let status = i64::from(response.status().as_u16());
            self.span.record("http.response.status_code", status);
            access_log::passed_on();
        }
        result.map_err(|error| {
            let problem = Problem::forwarding(&upstream.name, &error);
            if problem.status.is_server_error() {
                tracing::warn!(upstream = upstream.id, %error, "an upstream did not answer");
            }
            problem.into()
        })
    }
}
