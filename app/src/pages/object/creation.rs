//! The link to the form for an object that belongs before another one.
use crate::{context::use_session, routes};
use leptos::prelude::*;
use portico_domain::panel::{CreationKind, ObjectView};
use uuid::Uuid;

/// Returns the link to the form for what is put before the object: a Service before the pods of a
/// workload, an Ingress before a Service.
pub fn create_link(cluster: Uuid, object: &ObjectView) -> Option<AnyView> {
    let reference = &object.reference;
    let (label, kind, from) = match (
        reference.resource.group.as_str(),
        reference.resource.plural.as_str(),
    ) {
        ("apps", "deployments" | "statefulsets" | "daemonsets") => {
            let from = format!("{}/{}", object.kind.kind, reference.name);
            ("Expose", CreationKind::Service, from)
        }
        ("", "services") => (
            "Add an Ingress",
            CreationKind::Ingress,
            reference.name.clone(),
        ),
        _ => return None,
    };
    let project = use_session().project.get_untracked();
    let namespace = reference.namespace.as_deref();
    let href = routes::create_form(&project, cluster, namespace, kind, &from);
    Some(view! { <a class="btn" href=href>{label}</a> }.into_any())
}
