//! A cluster's page: what needs attention, version, nodes, capacity, rights, and the terminal.
pub mod terminal_help;

use crate::{
    api::clusters::get_cluster,
    cluster_states::use_cluster_states,
    components::{Age, AttentionList, ErrorState, NameList, PageHead, not_permitted, who_can_link},
    context::use_session,
    error::UiError,
    format,
    hooks::{keep_fresh, refresh_quietly},
    pages::{not_found::Nowhere, use_cluster_id},
    routes,
    ui::{
        Badge, Banner, Card, DescriptionList, Icon, Meter, SkeletonPage, StateMessage, Status,
        TableRegion, Tone, icons, suspended,
    },
};
use leptos::prelude::*;
use portico_domain::panel::{
    Capacity, ClusterOverview, CpuMemory, NodeRow, ObjectRef, Reading, ResourceRef, RightQuestion,
    RightsSummary,
};
use std::time::Duration;
use uuid::Uuid;

#[component]
pub fn Cluster() -> impl IntoView {
    let cluster = use_cluster_id();
    move || match cluster.get() {
        Some(cluster) => view! { <Overview cluster /> }.into_any(),
        None => view! { <Nowhere /> }.into_any(),
    }
}

#[component]
fn Overview(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_cluster(cluster, false),
    );
    let outdated = RwSignal::new(false);
    // what is used differs every time; the page must not be replaced for that
    let usage = RwSignal::new(None::<Reading<CpuMemory>>);
    let ask = move || async move {
        let mut page = get_cluster(cluster, true).await?;
        let shown = data.try_with_untracked(|shown| match shown {
            Some(Ok(shown)) => Some(shown.usage.clone()),
            _ => None,
        });
        let newest = page.usage.clone();
        if let Some(shown) = shown.flatten() {
            page.usage = shown;
        }
        let _ = usage.try_set(Some(newest));
        Ok::<_, UiError>(page)
    };
    keep_fresh(data, Duration::from_secs(15), outdated, ask);
    // what takes long in a large cluster follows
    Effect::new(move |_| {
        let is_pending = data.with(|data| matches!(data, Some(Ok(data)) if data.is_pending));
        if is_pending {
            refresh_quietly(data, outdated, ask());
        }
    });
    let retry = Callback::new(move |()| data.refetch());
    view! {
        {move || outdated.get().then(|| view! {
            <div class="mb-4">
                <Banner tone=Tone::Warn>
                    "The cluster did not respond; the data shown is from an earlier response."
                </Banner>
            </div>
        })}
        <Suspense fallback=|| view! { <SkeletonPage /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(data) => full(data, usage, &session.project.get_untracked()),
                    Err(error) => view! {
                        <PageHead title="Cluster" />
                        <div class="card"><ErrorState error retry /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn full(
    data: ClusterOverview,
    usage: RwSignal<Option<Reading<CpuMemory>>>,
    project: &str,
) -> AnyView {
    let cluster = data.card.id;
    use_cluster_states().note(&data.card);
    let nodes = nodes(data.nodes, data.card.nodes_total, project, cluster);
    let terminal = terminal_help::view(&data.terminal, project, cluster);
    let kubeconfig = terminal_help::kubeconfig(project, cluster, "Download kubeconfig");
    let (attention, capacity) = if data.is_pending {
        let attention = pending("Checking the workloads of this cluster…");
        (
            view! { <div class="px-4.5 py-3">{attention}</div> }.into_any(),
            pending("Adding up the requests of all pods…"),
        )
    } else {
        let attention = view! { <AttentionList items=data.attention gaps=data.attention_gaps /> };
        let first = data.usage;
        let usage = Signal::derive(move || usage.get().unwrap_or_else(|| first.clone()));
        (attention.into_any(), capacity(data.capacity, usage))
    };
    let badges = view! {
        <Status tone=Tone::from(data.card.health) text=data.card.status />
        {data.version.map(|version| view! {
            <Badge tone=Tone::from(version.health) text=format!("{} · {}", version.version, version.support) />
        })}
    }
    .into_any();
    view! {
        <PageHead title=data.card.name.clone() icon=icons::BOXES crumbs=Vec::new() aside=badges actions=kubeconfig />
        <Card title="Needs attention" flush=true>
            {attention}
        </Card>
        <div class="grid-halves mt-4">
            <Card title="Capacity">{capacity}</Card>
            <Card title="Your rights here">{rights(data.rights, data.card.rights_hint)}</Card>
        </div>
        <div class="mt-4">
            <Card title="Nodes" flush=true>{nodes}</Card>
        </div>
        <div class="grid-halves mt-4">
            <Card title="Use from your terminal">
                {terminal}
            </Card>
            <Card title="Details">
                <DescriptionList rows=vec![
                    ("Cluster ID".to_owned(), view! { <code>{cluster.to_string()}</code> }.into_any()),
                    ("API server".to_owned(), view! { <code>{data.api_url}</code> }.into_any()),
                ] />
            </Card>
        </div>
    }
    .into_any()
}

/// What is shown while the server still reads; it follows by itself where scripts run.
fn pending(text: &'static str) -> AnyView {
    view! {
        <p class="text-muted" role="status" data-state="pending">
            {text}
            <noscript>" Load this page again to see it."</noscript>
        </p>
    }
    .into_any()
}

fn capacity(reading: Reading<Capacity>, usage: Signal<Reading<CpuMemory>>) -> AnyView {
    match reading {
        Reading::NotPermitted(refusal) => not_permitted("see the capacity", &refusal),
        Reading::Unavailable(reason) => unavailable(reason),
        Reading::Known(known) => {
            let none = known.cpu_allocatable == 0 && known.pods_allocatable == 0;
            if none {
                return view! {
                    <StateMessage
                        icon=icons::SERVER
                        title="No node is ready yet"
                        text="As soon as a node is ready, its capacity appears here."
                        state="empty"
                    />
                }
                .into_any();
            }
            view! {
                <div class="grid gap-4">
                    <Meter
                        label="CPU"
                        part=known.cpu_requested
                        whole=known.cpu_allocatable
                        text=format!(
                            "{} of {} cores requested",
                            format::cores(known.cpu_requested),
                            format::cores(known.cpu_allocatable),
                        )
                    />
                    <Meter
                        label="Memory"
                        part=known.memory_requested
                        whole=known.memory_allocatable
                        text=format!(
                            "{} of {} requested",
                            format::bytes(known.memory_requested),
                            format::bytes(known.memory_allocatable),
                        )
                    />
                    <Meter
                        label="Pods"
                        part=known.pods
                        whole=known.pods_allocatable
                        text=format!("{} of {}", known.pods, known.pods_allocatable)
                    />
                    {known.limits.map(|limits| view! { <p class="text-muted">{limits}</p> })}
                    {move || used(usage.get(), known.cpu_allocatable, known.memory_allocatable)}
                </div>
            }
            .into_any()
        }
    }
}

/// Returns what the nodes use of what they can allocate, or why it is not known.
fn used(reading: Reading<CpuMemory>, cpu_allocatable: u64, memory_allocatable: u64) -> AnyView {
    let unknown = |reason: String, missing: Option<&RightQuestion>| {
        view! {
            <p class="text-muted" data-part="usage">
                "Usage unknown. "{reason}" "{who_can_link(missing)}
            </p>
        }
        .into_any()
    };
    match reading {
        Reading::NotPermitted(refusal) => unknown(refusal.reason, refusal.missing.as_deref()),
        Reading::Unavailable(reason) => unknown(reason, None),
        Reading::Known(used) => view! {
            <div class="grid gap-4" data-part="usage">
                <Meter
                    label="CPU in use"
                    part=used.cpu
                    whole=cpu_allocatable
                    text=format!(
                        "{} of {} cores",
                        format::cores(used.cpu),
                        format::cores(cpu_allocatable),
                    )
                />
                <Meter
                    label="Memory in use"
                    part=used.memory
                    whole=memory_allocatable
                    text=format!(
                        "{} of {}",
                        format::bytes(used.memory),
                        format::bytes(memory_allocatable),
                    )
                />
            </div>
        }
        .into_any(),
    }
}

fn unavailable(reason: String) -> AnyView {
    view! {
        <StateMessage icon=icons::WARNING title="No answer right now" text=reason state="error" />
    }
    .into_any()
}

fn rights(rights: Vec<RightsSummary>, hint: Option<String>) -> AnyView {
    if rights.is_empty() {
        let text = hint.unwrap_or_else(|| {
            "No role binding of this cluster names you, your roles or your project.".to_owned()
        });
        return view! {
            <StateMessage icon=icons::KEY title="You may do nothing here yet" text state="no-rights" />
        }
        .into_any();
    }
    let rows = rights
        .into_iter()
        .map(|right| {
            let place = if right.namespaces.is_empty() {
                "Whole cluster".into_any()
            } else {
                view! { <NameList names=right.namespaces /> }.into_any()
            };
            view! {
                <li class="grid gap-1">
                    <div class="font-medium wrap-anywhere">{place}</div>
                    <span>{right.summary}</span>
                    {right
                        .not
                        .into_iter()
                        .map(|not| view! {
                            <span class="inline-flex gap-2 text-muted">
                                <span class="mt-0.5"><Icon icon=icons::MINUS /></span>
                                {not}
                            </span>
                        })
                        .collect_view()}
                </li>
            }
        })
        .collect_view();
    view! { <ul class="grid gap-4">{rows}</ul> }.into_any()
}

fn nodes(
    reading: Reading<Vec<NodeRow>>,
    total: Option<u32>,
    project: &str,
    cluster: Uuid,
) -> AnyView {
    let nodes = match reading {
        Reading::NotPermitted(refusal) => return not_permitted("see the nodes", &refusal),
        Reading::Unavailable(reason) => return unavailable(reason),
        Reading::Known(nodes) => nodes,
    };
    if nodes.is_empty() {
        return view! {
            <StateMessage
                icon=icons::SERVER
                title="This cluster has no nodes"
                text="Pods stay pending until a node joins."
                state="empty"
            />
        }
        .into_any();
    }
    let total = total.and_then(|total| usize::try_from(total).ok());
    let more = total.filter(|total| *total > nodes.len()).map(|total| {
        let text = format!(
            "{} of {} nodes are shown, those with problems first. ",
            format::count(nodes.len()),
            format::count(total)
        );
        view! {
            <p class="text-muted px-4.5 py-3">
                {text}
                <a href=routes::list(project, cluster, &ResourceRef::core("nodes"))>"All nodes"</a>
            </p>
        }
    });
    let rows = nodes
        .into_iter()
        .map(|node| {
            let object = ObjectRef {
                resource: ResourceRef::core("nodes"),
                namespace: None,
                name: node.name.clone(),
            };
            view! {
                <tr>
                    <th scope="row" class="cell-name">
                        <a href=routes::object(project, cluster, &object) data-row="">{node.name}</a>
                    </th>
                    <td><Status tone=Tone::from(node.health) text=node.status /></td>
                    <td class="cell-wide">{if node.problems.is_empty() { "–".to_owned() } else { node.problems.join("; ") }}</td>
                    <td>{node.version}</td>
                    <td><Age at=node.created_at /></td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Nodes">
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Status"</th>
                    <th scope="col">"Problems"</th>
                    <th scope="col">"Version"</th>
                    <th scope="col">"Age"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
        {more}
    }
    .into_any()
}
