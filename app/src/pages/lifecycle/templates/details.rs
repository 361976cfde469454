//! The page of a template: what is in it, what its driver ignores, who uses it, and its changes.
use super::{
    super::{create::abilities, list_crumb, view_change::use_view_shown, without_scripts},
    TITLE, copy, deletion, flags, gaps_view, list, words,
};
use crate::{
    api::cluster_templates::get_cluster_template,
    components::{Crumb, ErrorState, NeedsScripts, PageHead},
    context::use_session,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Card, DescriptionList, SkeletonLines, Status, TableRegion, Tone, icons, suspended},
};
use leptos::{children::ViewFn, prelude::*};
use portico_domain::{
    identity::Named,
    panel::lifecycle::{TemplateDetails, TemplateLabel, TemplateRow, TemplateValues},
};
use uuid::Uuid;

const PAGE: &str = "Cluster template";

#[component]
pub fn TemplatePage(template: Uuid) -> impl IntoView {
    let session = use_session();
    let project = session.project.get_untracked();
    let list = ManagedClustersPage::Templates.address(&project);
    let crumbs = vec![list_crumb(&project), Crumb::new(TITLE, list)];
    use_view_shown(ManagedClustersPage::Template(template), PAGE.to_owned());
    let data = Resource::new(
        move || session.project.get(),
        move |_| get_cluster_template(template),
    );
    let reload = Callback::new(move |()| data.refetch());
    view! {
        <PageHead title=PAGE icon=icons::LAYERS crumbs />
        <Suspense fallback=|| view! { <SkeletonLines lines=8 /> }>
            {move || suspended(async move {
                match data.await {
                    Ok(page) => content(page, &session.project.get_untracked(), reload),
                    Err(error) => view! {
                        <div class="card"><ErrorState error retry=reload /></div>
                    }
                    .into_any(),
                }
            })}
        </Suspense>
    }
    .into_any()
}

fn content(page: TemplateDetails, project: &str, reload: Callback<()>) -> AnyView {
    let TemplateDetails {
        template,
        values,
        fixed,
        capabilities,
        labels,
        choices,
        refusals,
        gaps,
    } = page;
    let notice = without_scripts([
        format!(
            "portico cluster template create NAME --from {}",
            template.id
        ),
        format!("portico cluster template delete {}", template.id),
    ]);
    let summary = summary(&template, &values, fixed, project);
    let forms = move || {
        view! {
            {flags::card(&template, &refusals, reload)}
            {copy::card(template.id, values.clone(), choices.clone(), refusals.copy.clone())}
            {deletion::card(&template, refusals.delete.clone())}
        }
        .into_any()
    };
    view! {
        {gaps_view(gaps)}
        {summary}
        {label_table(labels)}
        <div class="mt-4 card" data-part="capabilities">{abilities(capabilities)}</div>
        <NeedsScripts notice console=ViewFn::from(forms) />
    }
    .into_any()
}

fn summary(
    template: &TemplateRow,
    values: &TemplateValues,
    fixed: Vec<String>,
    project: &str,
) -> AnyView {
    let text = |value: &str| words::value(value).into_any();
    let row = |name: &str, value: AnyView| (name.to_owned(), value);
    let network = if values.network.is_empty() {
        "The driver makes one for each cluster".to_owned()
    } else {
        values.network.clone()
    };
    let id = template.id.to_string();
    let rows = vec![
        row(
            "UUID",
            view! { <span class="mono wrap-anywhere">{id}</span> }.into_any(),
        ),
        row("Kubernetes", list::version(template.version.clone())),
        row("Driver", template.driver.clone().into_any()),
        row("Visibility", words::visibility(template).into_any()),
        row("Used by", users(&template.used_by, project)),
        row("Image", text(&values.image)),
        row("Flavor of the workers", text(&values.flavor)),
        row(
            "Flavor of the control plane",
            text(&values.control_plane_flavor),
        ),
        row("Key pair", text(&values.keypair)),
        row("External network", text(&values.external_network)),
        row("Network of the nodes", network.into_any()),
        row("Subnet of the nodes", text(&values.subnet)),
    ];
    let fixed = (!fixed.is_empty()).then(|| {
        let lines = fixed
            .into_iter()
            .map(|line| view! { <li>{line}</li> })
            .collect_view();
        view! { <ul class="notes">{lines}</ul> }
    });
    let refusal = template.refusal.clone().map(|text| {
        view! { <Status tone=Tone::Bad text /> }
    });
    view! {
        <div data-part="template">
            <Card title=template.name.clone()>
                <div class="grid grid-cols-1 gap-3">
                    {refusal}
                    <DescriptionList rows />
                    {fixed}
                </div>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns links to the clusters of the project that use a template.
fn users(used_by: &[Named], project: &str) -> AnyView {
    if used_by.is_empty() {
        return "No cluster of this project".into_any();
    }
    let links = used_by
        .iter()
        .map(|cluster| {
            let name = cluster.name.clone();
            let uuid = Uuid::parse_str(&cluster.id).ok();
            match uuid.map(|uuid| ManagedClustersPage::Cluster(uuid).address(project)) {
                Some(href) => view! { <li><a href=href>{name}</a></li> }.into_any(),
                None => view! { <li>{name}</li> }.into_any(),
            }
        })
        .collect_view();
    view! { <ul>{links}</ul> }.into_any()
}

fn label_table(labels: Vec<TemplateLabel>) -> AnyView {
    let content = if labels.is_empty() {
        view! { <p class="card-body text-muted">"This template has no labels."</p> }.into_any()
    } else {
        let rows = labels.into_iter().map(label_row).collect_view();
        view! {
            <TableRegion label="Labels">
                <thead>
                    <tr>
                        <th scope="col">"Label"</th>
                        <th scope="col">"Value"</th>
                        <th scope="col">"Meaning"</th>
                        <th scope="col">"Notes"</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </TableRegion>
        }
        .into_any()
    };
    view! {
        <div class="mt-4" data-part="labels">
            <Card title="Labels" flush=true>{content}</Card>
        </div>
    }
    .into_any()
}

fn label_row(label: TemplateLabel) -> AnyView {
    let notes = label
        .notes
        .into_iter()
        .map(|text| view! { <span class="block"><Status tone=Tone::Warn text /></span> })
        .collect_view();
    view! {
        <tr>
            <th scope="row" class="cell-name mono">{label.key}</th>
            <td class="cell-text mono wrap-anywhere">{label.value}</td>
            <td class="cell-text">{label.meaning}</td>
            <td class="cell-text">{notes}</td>
        </tr>
    }
    .into_any()
}
