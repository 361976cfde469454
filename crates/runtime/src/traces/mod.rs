//! OpenTelemetry traces: the program's spans to a collector, by OTLP over HTTP (protobuf).
//!
//! Off unless `[telemetry.traces]` names an endpoint. Spans go into a bounded queue, and a thread
//! of their own sends them: a collector that is slow or away costs spans, never a request. Trace
//! context travels as W3C Trace Context says (`traceparent`, `tracestate`).
mod collector;
mod config;
mod context;

pub use config::{TelemetryConfig, TracesConfig, TracesError};
pub use context::{Continues, are_on, continue_trace, forget_trace, pass_on};

use collector::Collector;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider,
};
use std::time::Duration;
use tracing::{Level, Metadata, Subscriber};
use tracing_subscriber::filter::FilterFn;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer, filter};

/// Spans that wait to be sent; more are dropped.
const QUEUE: usize = 4096;
const BATCH: usize = 512;
/// How long spans wait for others to be sent with.
const DELAY: Duration = Duration::from_secs(2);
/// How long the end of the process may wait for the last spans.
const LAST: Duration = Duration::from_millis(1500);
/// Where our own spans come from; those of libraries stay here.
const OURS: [&str; 4] = ["gateway", "portico_", "server", "panel"];

/// The way of spans to the collector. Keep it until the process ends, then [`Self::flush`].
#[derive(Clone, Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Makes the way ready; `None` when traces are off. Must be called within a Tokio runtime,
    /// which then sends. Nothing is sent yet, and whether somebody listens is not looked at.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub fn start(config: &TracesConfig) -> Result<Option<Self>, TracesError> {
        let Some(endpoint) = config.endpoint.as_deref() else {
            return Ok(None);
        };
        config.validate()?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Collector::new(config)?)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint)
            .with_headers(config.headers()?)
            .with_timeout(config.timeout)
            .build()
            .map_err(|error| TracesError::Exporter(error.to_string()))?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(DELAY)
            .build();
        let processor = BatchSpanProcessor::builder(exporter)
            .with_batch_config(batches)
            .build();
        let sampler =
            Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.sample_ratio)));
        let resource = Resource::builder()
            .with_service_name(config.service_name.clone())
            .with_attribute(opentelemetry::KeyValue::new(
                "service.version",
                env!("CARGO_PKG_VERSION"),
            ))
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(sampler)
            .with_resource(resource)
            .build();
        context::turn_on();
        Ok(Some(Self { provider }))
    }

    /// What takes spans from `tracing`. It takes spans of our own only, and no events: log lines
    /// stay in the log.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let only_ours: FilterFn = filter::filter_fn(is_ours);
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("portico"))
            // neither threads nor places in the code: they say nothing to an operator
            .with_threads(false)
            .with_location(false)
            .with_tracked_inactivity(false)
            .with_filter(only_ours.with_max_level_hint(Level::DEBUG))
    }

    /// Sends what waits, for a second and a half at most, and sends nothing afterwards.
    pub async fn flush(self) {
        let ended = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(LAST));
        // the thread that sends may be in the middle of a call that nobody answers
        match tokio::time::timeout(LAST, ended).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the last traces were not sent"),
            Ok(Err(_)) | Err(_) => tracing::warn!("the last traces were not sent"),
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && *metadata.level() <= Level::DEBUG
        && OURS
            .iter()
            .any(|prefix| metadata.target().starts_with(prefix))
}
