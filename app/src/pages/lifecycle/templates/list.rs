//! The list of templates.
use super::{
    super::{list_crumb, view_change::use_view_shown},
    TITLE, gaps_view, words,
};
use crate::{
    api::cluster_templates::list_cluster_templates,
    components::{ErrorState, NameList, PageHead},
    context::use_session,
    format,
    routes::managed_clusters::ManagedClustersPage,
    ui::{SkeletonTable, StateMessage, Status, TableRegion, Tone, icons, suspended},
};
use leptos::prelude::*;
use portico_domain::{
    identity::Named,
    panel::{
        VersionSupport,
        lifecycle::{ClusterTemplates, TemplateRow},
    },
};

#[component]
pub fn TemplateList() -> impl IntoView {
    let session = use_session();
    let crumbs = vec![list_crumb(&session.project.get_untracked())];
    use_view_shown(ManagedClustersPage::Templates, TITLE.to_owned());
    let data = Resource::new(move || session.project.get(), |_| list_cluster_templates());
    let retry = Callback::new(move |()| data.refetch());
    view! {
        <PageHead
            title=TITLE
            icon=icons::LAYERS
            crumbs
            lede="The templates from which clusters of this project can be made: its own, and public ones. A \
                  new one is made from a copy, on the page of a template."
        />
        <Suspense fallback=|| view! { <SkeletonTable /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(page) => content(page, &session.project.get_untracked()),
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

fn content(page: ClusterTemplates, project: &str) -> AnyView {
    let ClusterTemplates { templates, gaps } = page;
    let body = if templates.is_empty() {
        view! {
            <StateMessage
                icon=icons::LAYERS
                title="No cluster templates"
                text="A cluster is made from a template, and this cloud has none that you may use. Ask the \
                      operator of the cloud for one."
                state="empty"
            />
        }
        .into_any()
    } else {
        table(templates, project)
    };
    view! {
        <div class="form-groups">
            {gaps_view(gaps)}
            <div class="card">{body}</div>
        </div>
    }
    .into_any()
}

fn table(templates: Vec<TemplateRow>, project: &str) -> AnyView {
    let names: Vec<String> = templates.iter().map(|one| one.name.clone()).collect();
    let rows = templates
        .into_iter()
        .map(|template| {
            let same = names.iter().filter(|name| **name == template.name);
            let is_twice = same.count() > 1;
            row(template, is_twice, project)
        })
        .collect_view();
    view! {
        <TableRegion label="Cluster templates" stacked=true>
            <thead>
                <tr>
                    <th scope="col">"Name"</th>
                    <th scope="col">"Kubernetes"</th>
                    <th scope="col">"Driver"</th>
                    <th scope="col">"Flavors"</th>
                    <th scope="col">"Visibility"</th>
                    <th scope="col">"Used by"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

fn row(template: TemplateRow, is_twice: bool, project: &str) -> AnyView {
    let href = ManagedClustersPage::Template(template.id).address(project);
    let (visibility, flavors) = (words::visibility(&template), words::flavors(&template));
    let id = template.id.to_string();
    let template_name = template.name.clone();
    view! {
        <tr data-row="" data-template=template_name>
            <th scope="row" class="cell-name">
                <a href=href>{template.name}</a>
                {is_twice.then(|| view! { <span class="block text-faint mono">{id}</span> })}
            </th>
            <td class="cell-text" data-label="Kubernetes">{version(template.version)}</td>
            <td class="cell-text" data-label="Driver">
                {template.driver}
                {template.refusal.map(|text| view! {
                    <span class="block"><Status tone=Tone::Bad text /></span>
                })}
            </td>
            <td class="cell-text" data-label="Flavors">{flavors}</td>
            <td class="cell-text" data-label="Visibility">{visibility}</td>
            <td class="cell-text" data-label="Used by">{users(template.used_by)}</td>
        </tr>
    }
    .into_any()
}

/// Returns the version of Kubernetes with its support state.
pub fn version(version: Option<VersionSupport>) -> AnyView {
    match version {
        Some(version) => view! {
            <span class="block">{version.version}</span>
            <Status tone=Tone::from(version.health) text=version.support />
        }
        .into_any(),
        None => "not known".into_any(),
    }
}

fn users(used_by: Vec<Named>) -> AnyView {
    if used_by.is_empty() {
        return view! { <span class="text-muted">"no cluster of this project"</span> }.into_any();
    }
    let count = format::counted(used_by.len(), "cluster");
    let names: Vec<_> = used_by.into_iter().map(|one| one.name).collect();
    view! { <span class="block">{count}</span> <NameList names shown=3 /> }.into_any()
}
