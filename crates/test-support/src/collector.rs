//! A receiver of OTLP/HTTP traces: it decodes the protobuf that a real collector gets. There is no
//! packaged collector of this size that a test can query.
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, routing::post};
use http::HeaderMap;
use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest, trace::v1::Span,
};
use prost::Message as _;
use tokio::net::TcpListener;

#[derive(Clone, Default)]
pub struct Received(Arc<Mutex<Vec<(HeaderMap, ExportTraceServiceRequest)>>>);

pub struct Collector {
    pub address: SocketAddr,
    pub received: Received,
}

impl Collector {
    pub async fn start() -> Self {
        let received = Received::default();
        let router = Router::new()
            .route("/v1/traces", post(take))
            .with_state(received.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("port");
        let address = listener.local_addr().expect("address");
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, received }
    }

    pub fn url(&self) -> String {
        format!("http://{}/v1/traces", self.address)
    }
}

async fn take(State(received): State<Received>, headers: HeaderMap, body: Bytes) {
    let request = ExportTraceServiceRequest::decode(body).expect("a batch of spans");
    received.0.lock().expect("batches").push((headers, request));
}

impl Received {
    pub fn headers(&self) -> Vec<HeaderMap> {
        let batches = self.0.lock().expect("batches");
        batches.iter().map(|(headers, _)| headers.clone()).collect()
    }

    pub fn spans(&self) -> Vec<Span> {
        let batches = self.0.lock().expect("batches");
        batches
            .iter()
            .flat_map(|(_, batch)| &batch.resource_spans)
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| scope.spans.clone())
            .collect()
    }

    /// Returns the attributes of the process that sent the spans, in words.
    pub fn resource(&self) -> String {
        let batches = self.0.lock().expect("batches");
        format!(
            "{:?}",
            batches.first().expect("a batch").1.resource_spans[0].resource
        )
    }
}

pub fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}
