//! What the API server of a cluster needs that others made.
use super::{cluster_crumb, list_crumb, view_change::use_view_shown};
use crate::{
    api::lifecycle::get_api_server_configuration,
    components::{ErrorState, PageHead},
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, Card, CodeBlock, SkeletonLines, Tone, suspended},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ApiServerConfiguration, ConfigurationBlock};
use uuid::Uuid;

const TITLE: &str = "API server configuration";

#[component]
pub fn Configuration(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let crumbs = vec![list_crumb(&project), cluster_crumb(&project, cluster)];
    use_view_shown(
        ManagedClustersPage::Configuration(cluster),
        TITLE.to_owned(),
    );
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_api_server_configuration(cluster),
    );
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <PageHead
            title=TITLE
            crumbs
            lede="The exact files, flags and commands with which the API server of this cluster asks \
                  Portico for the users of tokens. No secret is in them."
        />
        <Suspense fallback=|| view! { <SkeletonLines lines=8 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(configuration) => content(configuration),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn content(configuration: ApiServerConfiguration) -> AnyView {
    let (tone, state) = match configuration.is_configured {
        Some(true) => (
            Tone::Ok,
            "Reviews of this API server have arrived. It is configured.",
        ),
        Some(false) => (
            Tone::Warn,
            "No review of this API server has arrived yet. Configure it as follows.",
        ),
        None => (
            Tone::Info,
            "Whether this API server is configured is not known.",
        ),
    };
    let introduction = paragraphs(configuration.introduction);
    let blocks = configuration
        .blocks
        .into_iter()
        .enumerate()
        .map(|(index, one)| block(index + 1, one))
        .collect_view();
    let verification = paragraphs(configuration.verification);
    view! {
        <Banner tone>
            <p class="font-semibold wrap-anywhere">{configuration.cluster.name}</p>
            <p>{state}</p>
        </Banner>
        <div class="grid gap-2 mt-4">{introduction}</div>
        {blocks}
        <div class="mt-4">
            <Card title="Check that it works">
                <div class="grid gap-2">{verification}</div>
            </Card>
        </div>
    }
    .into_any()
}

fn paragraphs(texts: Vec<String>) -> Vec<AnyView> {
    texts
        .into_iter()
        .map(|text| view! { <p>{text}</p> }.into_any())
        .collect()
}

fn block(number: usize, block: ConfigurationBlock) -> AnyView {
    let title = format!("{number}. {}", block.title);
    // each block has a name of its own on the page
    let what = format!("block {number}");
    view! {
        <div class="mt-4" data-part="block">
            <Card title>
                <div class="grid grid-cols-1 gap-3">
                    <p>{block.text}</p>
                    {block.path.map(|path| view! {
                        <p>"File: " <code class="wrap-anywhere">{path}</code></p>
                    })}
                    <CodeBlock text=block.lines what />
                </div>
            </Card>
        </div>
    }
    .into_any()
}
