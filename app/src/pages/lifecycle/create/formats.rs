//! The form in its other notations: each makes the same cluster.
use super::{file::FilePaste, state::Wizard};
use crate::ui::{Card, CodeBlock, DescriptionList, LocalTabs};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{ApiExposure, CreationForm, CreationReview, GroupForm};

pub fn of(wizard: Wizard, review: CreationReview) -> AnyView {
    let CreationReview {
        effective,
        template,
        request,
        command,
        file,
        ..
    } = review;
    let template = template.map_or_else(|| effective.template.clone(), |template| template.name);
    let rows = rows(&effective, template)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into_any()))
        .collect();
    let tabs = vec![
        ("Form", view! { <DescriptionList rows /> }.into_any()),
        ("File", view! { <FilePaste wizard text=file /> }.into_any()),
        (
            "Command",
            view! {
                <p class="text-muted mb-3">"This command creates the same cluster."</p>
                <CodeBlock text=command what="command" />
            }
            .into_any(),
        ),
        (
            "Request body",
            view! {
                <p class="text-muted mb-3">
                    "The body of " <code>"POST /clusters"</code>
                    ". Further node groups are requests of their own."
                </p>
                <CodeBlock text=request what="request body" tall=true />
            }
            .into_any(),
        ),
    ];
    view! {
        <Card title="The same in other notations">
            <LocalTabs
                label="Notations"
                id="new-cluster-notation"
                tabs
                chosen=wizard.notation
            />
        </Card>
    }
    .into_any()
}

/// Returns the values that apply, in words.
fn rows(form: &CreationForm, template: String) -> Vec<(&'static str, String)> {
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let mut rows = vec![
        ("Name", form.name.clone()),
        ("Template", template),
        ("Key pair", or_none(&form.keypair)),
        ("Control plane", control_plane(form)),
    ];
    rows.extend(form.groups.iter().map(|group| ("Workers", workers(group))));
    let network = form.network.as_ref();
    rows.push((
        "Network",
        network
            .and_then(|existing| existing.network.clone())
            .unwrap_or_else(|| "a new one".to_owned()),
    ));
    let exposure = match form.exposure {
        Some(ApiExposure::Public) => "public",
        Some(ApiExposure::Private) => "private",
        None => "as the template has it",
    };
    let reached_from = if form.allowed_cidrs.is_empty() {
        String::new()
    } else {
        format!(", for {}", form.allowed_cidrs.join(", "))
    };
    rows.push(("Kubernetes API", format!("{exposure}{reached_from}")));
    let further = [
        ("Availability zone", form.zone.clone()),
        (
            "Volume for containers",
            form.docker_volume_size.map(|size| format!("{size} GiB")),
        ),
        (
            "Time limit",
            form.create_timeout.map(|minutes| format!("{minutes} min")),
        ),
        (
            "Protection",
            form.protection
                .then(|| "from deletion through Portico".to_owned()),
        ),
        (
            "Services",
            (!form.services.is_empty()).then(|| form.services.join(", ")),
        ),
    ];
    rows.extend(
        further
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    rows
}

fn control_plane(form: &CreationForm) -> String {
    let plane = &form.control_plane;
    let nodes = nodes_in_words(plane.count, plane.flavor.as_deref());
    match plane.load_balancer {
        Some(true) => format!("{nodes}, load balancer"),
        _ => nodes,
    }
}

fn workers(group: &GroupForm) -> String {
    let nodes = nodes_in_words(group.count, group.flavor.as_deref());
    let bounds = match (group.min, group.max) {
        (None, None) => String::new(),
        (min, None) => format!(", at least {}", min.unwrap_or_default()),
        (min, Some(max)) => format!(", from {} to {max}", min.unwrap_or_default()),
    };
    format!("{}: {nodes}{bounds}", group.name)
}

fn nodes_in_words(count: Option<u32>, flavor: Option<&str>) -> String {
    let nodes = crate::format::counted(count.unwrap_or(1) as usize, "node");
    match flavor {
        Some(flavor) => format!("{nodes} of {flavor}"),
        None => nodes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_the_form_are_in_words() {
        let form = CreationForm {
            name: "shop".to_owned(),
            groups: vec![GroupForm {
                name: "gpu".to_owned(),
                count: Some(2),
                flavor: Some("m1.large".to_owned()),
                max: Some(4),
                ..GroupForm::default()
            }],
            exposure: Some(ApiExposure::Public),
            allowed_cidrs: vec!["198.51.100.0/24".to_owned()],
            protection: true,
            ..CreationForm::default()
        };
        let rows = rows(&form, "k8s".to_owned());
        let of = |name: &str| {
            let found = rows.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.as_str())
        };
        assert_eq!(of("Workers"), Some("gpu: 2 nodes of m1.large, from 0 to 4"));
        assert_eq!(of("Control plane"), Some("1 node"));
        assert_eq!(of("Kubernetes API"), Some("public, for 198.51.100.0/24"));
        assert_eq!(of("Protection"), Some("from deletion through Portico"));
    }
}
