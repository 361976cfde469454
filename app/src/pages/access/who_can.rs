//! Who can do something, and who could grant it. The question is in the address, so that a refusal can
//! lead here; without scripts the form is a plain GET.
use super::{subject, what_can};
use crate::{
    api::access,
    components::{InlineError, who_can_link},
    context::use_session,
    format, routes,
    ui::{Card, Field, Icon, SkeletonTable, TableRegion, icons, suspended},
};
use leptos::prelude::*;
use leptos_router::hooks::{use_navigate, use_query_map};
use portico_domain::panel::{
    BindingRef, GrantMeans, MatchedRule, ObjectRef, PermissionHolder, PermissionScope, ResourceRef,
    Subject, WhoCanView,
};
use uuid::Uuid;

#[component]
pub fn WhoCan(cluster: Uuid) -> impl IntoView {
    let session = use_session();
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        query.with(|query| {
            ["verb", "resource", "namespace"].map(|key| query.get(key).unwrap_or_default())
        })
    });
    let [verb, resource, namespace] = asked.get_untracked();
    let verb = RwSignal::new(if verb.is_empty() {
        "get".to_owned()
    } else {
        verb
    });
    let (resource, namespace) = (RwSignal::new(resource), RwSignal::new(namespace));
    // a link on this page leads to another question
    Effect::new(move |known: Option<()>| {
        let [asked_verb, asked_resource, asked_namespace] = asked.get();
        if known.is_some() && !asked_verb.is_empty() {
            verb.set(asked_verb);
            resource.set(asked_resource);
            namespace.set(asked_namespace);
        }
    });
    let answer = Resource::new(
        move || (session.project.get(), asked.get()),
        move |(_, [verb, resource, namespace]): (String, [String; 3])| async move {
            if verb.is_empty() || resource.is_empty() {
                return None;
            }
            let namespace = Some(namespace).filter(|name| !name.is_empty());
            Some(access::who_can(cluster, verb, resource, namespace).await)
        },
    );
    let page = routes::access(&session.project.get_untracked(), cluster);
    let navigate = use_navigate();
    let target = page.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let typed =
            [verb, resource, namespace].map(|value| value.get_untracked().trim().to_owned());
        if typed == asked.get_untracked() {
            // its address is the same: it is asked again, such as after an outage
            answer.refetch();
            return;
        }
        let query: Vec<String> = ["verb", "resource", "namespace"]
            .iter()
            .zip(&typed)
            .map(|(key, value)| format!("{key}={}", routes::escaped(value)))
            .collect();
        let options = leptos_router::NavigateOptions {
            scroll: false,
            ..Default::default()
        };
        navigate(&format!("{target}?{}", query.join("&")), options);
    };
    view! {
        <div class="mt-4" id="who-can">
            <Card title="Who can …">
                <form class="editor-head" method="get" action=page on:submit=submit>
                    <Field id="who-verb" name="verb" label="Verb" value=verb required=true placeholder="delete" />
                    <Field
                        id="who-resource"
                        name="resource"
                        label="Resource"
                        value=resource
                        required=true
                        placeholder="pods/exec"
                    />
                    <Field
                        id="who-namespace"
                        name="namespace"
                        label="Namespace"
                        value=namespace
                        placeholder="the whole cluster"
                    />
                    <button type="submit" class="btn btn-primary">"Ask"</button>
                </form>
                <Suspense fallback=|| view! { <SkeletonTable rows=3 /> }>
                    {move || suspended(async move {
                        match answer.await {
                            None => view! {
                                <p class="text-muted">
                                    "Asks the roles and bindings that you may read: which subjects have a \
                                     permission, through which binding, and who could grant it."
                                </p>
                            }
                            .into_any(),
                            Some(Ok(view)) => found(view, cluster),
                            Some(Err(error)) => view! { <InlineError error /> }.into_any(),
                        }
                    })}
                </Suspense>
            </Card>
        </div>
    }
    .into_any()
}

fn found(view: WhoCanView, cluster: Uuid) -> AnyView {
    let question = &view.question;
    let resource = match question.subresource.as_str() {
        "" => question.resource.clone(),
        subresource => format!("{}/{subresource}", question.resource),
    };
    let place = match &question.namespace {
        Some(namespace) => format!("in {namespace}"),
        None => "in the whole cluster".to_owned(),
    };
    let asked = format!("{} {resource} {place}", question.verb);
    let gaps = view
        .gaps
        .into_iter()
        .map(|gap| {
            let link = who_can_link(gap.missing.as_deref());
            view! { <li>{gap.reason} " " {link}</li> }
        })
        .collect_view();
    let dangling = view
        .found
        .dangling
        .iter()
        .map(|dangling| {
            format!(
                "RoleBinding {} refers to role {}, which does not exist or which you may not read.",
                dangling.binding.name, dangling.role.name
            )
        })
        .map(|text| view! { <li>{text}</li> })
        .collect_view();
    view! {
        <h3 class="who-title">{format!("Can {asked}")}</h3>
        {table(view.found.holders, "No subject has this permission through a binding that you may read.", cluster)}
        <h3 class="who-title">"Can grant it"</h3>
        {table(view.granters.holders, "No subject that you may see could grant it; ask the administrators of the cluster.", cluster)}
        <ul class="text-muted mt-2">{gaps}{dangling}</ul>
    }
    .into_any()
}

/// Returns the subjects; those of the cluster itself are folded.
fn table(holders: Vec<PermissionHolder>, none: &'static str, cluster: Uuid) -> AnyView {
    if holders.is_empty() {
        return view! { <p class="text-muted">{none}</p> }.into_any();
    }
    let (system, own): (Vec<_>, Vec<_>) = holders.into_iter().partition(is_system);
    let own = (!own.is_empty()).then(|| rows(own, cluster));
    let system = (!system.is_empty()).then(|| {
        let count = format::counted(system.len(), "subject");
        view! {
            <details class="fold mt-2">
                <summary>
                    <Icon icon=icons::CHEVRON_RIGHT />
                    {format!("{count} of the cluster itself")}
                </summary>
                {rows(system, cluster)}
            </details>
        }
    });
    view! { {own}{system} }.into_any()
}

fn is_system(holder: &PermissionHolder) -> bool {
    match &holder.subject {
        Subject::User { name } | Subject::Group { name } => name.starts_with("system:"),
        Subject::ServiceAccount { namespace, .. } => namespace == "kube-system",
        _ => false,
    }
}

fn rows(holders: Vec<PermissionHolder>, cluster: Uuid) -> AnyView {
    let project = use_session().project.get_untracked();
    let rows = holders
        .into_iter()
        .map(|holder| {
            let binding = routes::object(&project, cluster, &binding_object(&holder.binding));
            let scope = match &holder.scope {
                PermissionScope::Cluster => "whole cluster".to_owned(),
                PermissionScope::Namespace { name } => name.clone(),
            };
            view! {
                <tr>
                    <th scope="row">
                        {subject::view(&holder.subject, None)}
                        {what_can::link(&holder.subject, cluster)}
                    </th>
                    <td class="cell-short">{scope}</td>
                    <td class="cell-detail">
                        <a href=binding>{holder.binding.name.clone()}</a>
                        <Icon icon=icons::CHEVRON_RIGHT />
                        {holder.role.name.clone()}
                        {holder.grants_by.map(|means| view! { <p class="text-muted">{words(means)}</p> })}
                    </td>
                    <td class="cell-detail mono">{rule(&holder.rule)}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <TableRegion label="Subjects">
            <thead>
                <tr>
                    <th scope="col">"Subject"</th>
                    <th scope="col">"Where"</th>
                    <th scope="col">"Binding and role"</th>
                    <th scope="col">"Rule"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </TableRegion>
    }
    .into_any()
}

/// Returns the object of a binding.
pub fn binding_object(binding: &BindingRef) -> ObjectRef {
    let plural = if binding.namespace.is_some() {
        "rolebindings"
    } else {
        "clusterrolebindings"
    };
    ObjectRef {
        resource: ResourceRef::new("rbac.authorization.k8s.io", "v1", plural),
        namespace: binding.namespace.clone(),
        name: binding.name.clone(),
    }
}

fn words(means: GrantMeans) -> &'static str {
    match means {
        GrantMeans::Holds => "has the permission and may bind roles",
        GrantMeans::Bind => "may bind a role that includes it",
        GrantMeans::Escalate => "may extend a role with it",
    }
}

fn rule(rule: &MatchedRule) -> String {
    let mut text = format!("{} on {}", rule.verbs.join(", "), rule.resources.join(", "));
    if !rule.names.is_empty() {
        text.push_str(" named ");
        text.push_str(&rule.names.join(", "));
    }
    text
}
