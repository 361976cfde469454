//! The panel's routes and layers, in order.
use super::{
    app_addresses, body_limit, cloud_api, completion, csrf, download, forms, headers, schema, ssr,
    ssr::PageState,
};
use crate::caller::audit;
use crate::caller::{self, Gatekeeper};
use crate::config::panel::PanelConfig;
use crate::{
    kube::Clusters,
    service::{
        Apps, Services,
        access::UndoStore,
        authentication::{KubeAuthMetrics, RecentTests},
        details::Details,
        enrolment::Enrolment,
        lifecycle::MagnumAccess,
        lists::Arrangements,
        programs::Programs,
        usage::{Prometheus, PrometheusSetupError},
    },
    session_budgets::SessionBudgets,
    shared_watch::SharedWatches,
    stream,
};
use axum::{
    Json, Router,
    extract::{Request, State},
    http::{StatusCode, Uri},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use gateway::config::AppConfig;
use leptos::config::LeptosOptions;
use portico_assertion::{PrivateKey, Verifier};
use portico_clock::Clock;
use portico_openstack::keystone;
use portico_runtime::lifecycle::Lifecycle;
use std::{path::Path, sync::Arc};
use tower_http::{
    CompressionLevel,
    catch_panic::CatchPanicLayer,
    compression::{CompressionLayer, Predicate, predicate::NotForContentType},
    services::{ServeDir, ServeFile},
};
use url::Url;

/// With Brotli, the first level that models the context of bytes: the first page is close to its limit
/// of 350 kB. The library's default is 4. With gzip, for clients that do not accept Brotli, it is one level
/// below the library's default of 6.
const PAGE_COMPRESSION: CompressionLevel = CompressionLevel::Precise(5);

/// The parts of the panel; the configuration's other sections are the caller's.
pub struct PanelParts {
    pub config: PanelConfig,
    /// Verifies the gateway's assertions.
    pub verifier: Verifier,
    /// The public address; it is also the assertions' issuer.
    pub public_url: Url,
    /// `gateway.apps_domain`.
    pub apps_domain: String,
    /// Their enrolled ones are replaced while the panel runs.
    pub clusters: Arc<Clusters>,
    pub apps: Vec<AppConfig>,
    /// For data that a viewer's own token may read at Keystone.
    pub keystone: Option<keystone::Client>,
    /// The URL of kube-auth's metrics; without it, the pages say so.
    pub kube_auth_metrics_url: Option<Url>,
    /// `None`: the operator permits no enrolment.
    pub enrolment: Option<Enrolment>,
    /// `None`: the operator has not named Magnum as a source of clusters.
    pub magnum: Option<MagnumAccess>,
    pub clock: Clock,
    /// Waits for changes that are not completed when the process stops.
    pub lifecycle: Lifecycle,
}

/// The reason why the panel cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum PanelError {
    #[error("panel.private_key_file: {0}")]
    Key(#[from] portico_assertion::keys::KeyError),
    #[error("the client for apps and metrics: {0}")]
    Client(#[from] reqwest::Error),
    #[error(transparent)]
    Prometheus(#[from] PrometheusSetupError),
}

/// Makes the panel's router. Must be called inside the async runtime, after a rustls provider is
/// installed.
pub fn router(parts: PanelParts) -> Result<Router, PanelError> {
    let key = PrivateKey::read(&parts.config.private_key_file)?;
    let gatekeeper = Gatekeeper::new(
        parts.verifier,
        vec![key],
        &parts.public_url,
        parts.clock.clone(),
    );
    // Prometheus knows the operator's clusters: their values are not a tenant's to choose
    let snapshot = parts.clusters.snapshot();
    let prometheus = parts
        .config
        .prometheus
        .as_ref()
        .map(|section| Prometheus::new(section, snapshot.configured(), parts.clock.clone()))
        .transpose()?;
    let services = Arc::new(Services {
        clusters: parts.clusters,
        apps: Apps::new(parts.apps, parts.public_url.clone(), parts.apps_domain)?,
        undo: UndoStore::default(),
        tests: RecentTests::default(),
        kube_auth_metrics: KubeAuthMetrics::new(parts.kube_auth_metrics_url, parts.clock.clone())?,
        public_url: parts.public_url,
        support_contact: parts.config.support_contact,
        role_names: parts.config.role_names,
        keystone: parts.keystone,
        docs_url: parts.config.docs_url,
        budgets: SessionBudgets::new(parts.config.streams),
        watches: SharedWatches::new(parts.clock.clone()),
        arrangements: Arrangements::new(parts.clock.clone()),
        details: Details::default(),
        programs: Programs::new(parts.config.downloads),
        enrolment: parts.enrolment,
        magnum: parts.magnum,
        prometheus,
        clock: parts.clock,
    });
    // absolute: a relative one is looked for beside the program
    let hashes = std::path::absolute(parts.config.site_root.join("hash.txt")).ok();
    let hashes = hashes.filter(|path| path.exists());
    let leptos = LeptosOptions::builder()
        .output_name("app")
        .site_root(parts.config.site_root.to_string_lossy().into_owned())
        .site_addr(parts.config.listen)
        .hash_files(hashes.is_some())
        .hash_file(hashes.unwrap_or_default().to_string_lossy().as_ref().into())
        .build();
    Ok(assemble(services, gatekeeper, leptos, parts.lifecycle))
}

fn assemble(
    services: Arc<Services>,
    gatekeeper: Gatekeeper,
    leptos: LeptosOptions,
    lifecycle: Lifecycle,
) -> Router {
    let public_url = Arc::new(services.public_url.clone());
    let state = PageState {
        leptos: leptos.clone(),
        services: Arc::clone(&services),
    };
    let streams = Router::new()
        .route("/projects/{project}/stream", get(stream::tab::open))
        .route(
            "/projects/{project}/clusters/{cluster}/namespaces/{namespace}/pods/{pod}/exec",
            get(stream::terminal::open),
        )
        .route(
            "/projects/{project}/clusters/{cluster}/kubeconfig",
            get(download::kubeconfig),
        )
        .route(
            "/projects/{project}/managed-clusters/{cluster}/journal.jsonl",
            get(download::journal),
        )
        .route(
            "/projects/{project}/clusters/{cluster}/schema",
            get(schema::of_kind),
        )
        .route(
            "/projects/{project}/clusters/{cluster}/schema/kinds",
            get(schema::kinds),
        )
        .layer(CompressionLayer::new().compress_when(worth_compressing()))
        .with_state(Arc::clone(&services));
    // without compression, which would take the length and the ranges from a program
    let programs = Router::new()
        .route(
            "/projects/{project}/downloads/{file}",
            get(download::program),
        )
        .with_state(Arc::clone(&services));
    // without the cookie of a browser: the gateway serves them to command lines only
    let cloud = Router::new()
        .route(
            "/projects/{project}/cloud/portico/clusters/{cluster}/journal.jsonl",
            get(cloud_api::journal),
        )
        .route(
            "/projects/{project}/cloud/portico/clusters/{cluster}/protection",
            get(cloud_api::protection).put(cloud_api::set_protection),
        )
        .route(
            "/projects/{project}/cloud/portico/clusters/{cluster}/enrolment",
            get(cloud_api::enrolment)
                .put(cloud_api::enrol)
                .delete(cloud_api::remove_record),
        )
        .route("/projects/{project}/cloud/{*path}", any(cloud_api::call))
        .with_state(Arc::clone(&services));
    let pages = ssr::routes(&state).fallback(other).with_state(state).layer(
        CompressionLayer::new()
            .quality(PAGE_COMPRESSION)
            .compress_when(worth_compressing()),
    );
    let pages = Router::new()
        .merge(streams)
        .merge(programs)
        .merge(cloud)
        .merge(pages)
        // from the inside out: the last layer runs first
        .layer(from_fn_with_state(public_url, forms::redirect_within_panel))
        .layer(from_fn(ssr::to_project))
        .layer(from_fn_with_state(services, app_addresses::lead_to_app))
        .layer(from_fn(csrf::require))
        .layer(from_fn(body_limit::require))
        .layer(from_fn(audit::report))
        .layer(from_fn_with_state(lifecycle, completion::complete_changes));
    let pages = headers::set_for_pages(admitted(pages, gatekeeper.clone()));
    headers::set(pages.merge(admitted(files(&leptos), gatekeeper)))
}

/// Returns the built files. Precompressed .br and .gz files are beside those of a release build.
fn files(leptos: &LeptosOptions) -> Router {
    let site = Path::new(&*leptos.site_root);
    let mut files = Router::new().nest_service(
        "/pkg",
        ServeDir::new(site.join(&*leptos.site_pkg_dir))
            .append_index_html_on_directories(false)
            .precompressed_br()
            .precompressed_gzip(),
    );
    for asset in headers::ASSETS {
        let file = site.join(asset.trim_start_matches('/'));
        files = files.route_service(asset, ServeFile::new(file));
    }
    files.layer(from_fn(headers::cache_assets))
}

/// Refuses requests that do not come from the gateway, and answers those whose handler panics.
fn admitted(router: Router, gatekeeper: Gatekeeper) -> Router {
    router
        .layer(from_fn_with_state(gatekeeper, caller::require))
        .layer(CatchPanicLayer::custom(|_| {
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The panel has failed; its log has the reason. Reload the page, or tell your \
                 administrators.\n",
            )
                .into_response()
        }))
}

/// Handles requests without a route: a call gets an error in the calls' format, anything else a
/// page.
async fn other(State(state): State<PageState>, uri: Uri, request: Request) -> Response {
    if let Some(error) = ssr::unknown_call(uri.path()) {
        return (StatusCode::NOT_FOUND, Json(error)).into_response();
    }
    ssr::no_such_page(&state, request).await
}

/// Returns which responses are compressed: not small ones and event streams.
fn worth_compressing() -> impl Predicate {
    tower_http::compression::predicate::SizeAbove::new(512)
        .and(NotForContentType::new("image/"))
        .and(NotForContentType::SSE)
}
