//! OpenTelemetry traces: sends the program's spans to a collector, by OTLP over HTTP (protobuf).
//!
//! Off unless `[telemetry.traces]` names an endpoint. Spans go into a bounded queue, and a separate
//! thread sends them: a collector that is slow or unreachable loses spans, but never delays a
//! request. Trace context is propagated by W3C Trace Context (`traceparent`, `tracestate`).
mod collector;
mod config;
mod context;

pub use config::{TelemetryConfig, TracesConfig, TracesError};
pub use context::{Continues, are_on, continue_trace, forget_trace, has_trace, pass_on};

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

/// Maximum number of spans that wait to be sent; further ones are dropped.
const MAX_QUEUED_SPANS: usize = 4096;
const MAX_BATCH_SPANS: usize = 512;
/// How long a span waits to be sent together with others.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// How long shutdown waits until the last spans are sent.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);
/// Targets of Portico's own spans; those of libraries are not exported.
const OWN_TARGETS: [&str; 4] = ["gateway", "portico_", "server", "panel"];

/// The pipeline of spans to the collector. Keep it until the process ends, then [`Self::flush`].
#[derive(Clone, Debug)]
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Prepares the pipeline; returns `None` if traces are off. Must be called within a Tokio
    /// runtime, which then sends the spans. Sends nothing yet, and does not check whether the
    /// collector is reachable.
    ///
    /// # Errors
    /// If the configuration cannot be used.
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
            .with_max_queue_size(MAX_QUEUED_SPANS)
            .with_max_export_batch_size(MAX_BATCH_SPANS)
            .with_scheduled_delay(BATCH_DELAY)
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

    /// Returns the layer that takes spans from `tracing`. It takes Portico's own spans only, and no
    /// events: log lines stay in the log.
    pub fn layer<S>(&self) -> impl Layer<S> + Send + Sync + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let only_ours: FilterFn = filter::filter_fn(is_ours);
        tracing_opentelemetry::layer()
            .with_tracer(self.provider.tracer("portico"))
            // neither threads nor code locations: they do not help an operator
            .with_threads(false)
            .with_location(false)
            .with_tracked_inactivity(false)
            .with_filter(only_ours.with_max_level_hint(Level::DEBUG))
    }

    /// Sends the waiting spans, for a second and a half at most, and nothing afterwards.
    pub async fn flush(self) {
        let ended = tokio::task::spawn_blocking(move || {
            self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT)
        });
        // the sending thread may be in the middle of a call without a response
        match tokio::time::timeout(SHUTDOWN_TIMEOUT, ended).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the last traces were not sent"),
            Ok(Err(_)) | Err(_) => tracing::warn!("the last traces were not sent"),
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    metadata.is_span()
        && *metadata.level() <= Level::DEBUG
        && OWN_TARGETS
            .iter()
            .any(|prefix| metadata.target().starts_with(prefix))
}
