use super::{Bulk, Change, named};
use crate::{
    format,
    pages::list::rights::Deed,
    ui::{Button, ButtonKind, Dialog, Field},
};
use leptos::prelude::*;
use portico_domain::panel::{
    BulkAction, BulkTarget, DeletionGrade, MAX_BULK_TARGETS, deletion_confirmation, label_selector,
};

/// Number of objects that a dialog names without being asked.
const NAMED: usize = 10;
/// From more objects than this, their number has to be typed to delete them.
const MAX_WITHOUT_TYPING: usize = 5;

#[component]
pub fn BulkDialog(bulk: Bulk) -> impl IntoView {
    let title = Signal::derive(move || {
        bulk.asked.with(|asked| {
            asked.as_ref().map_or_else(String::new, |(deed, targets)| {
                let (label, ..) = super::bar::face(*deed);
                match targets.as_slice() {
                    [one] => format!("{label} {}", one.name),
                    more => format!("{label} {}", bulk.counted(more.len())),
                }
            })
        })
    });
    view! {
        <Dialog open=bulk.open id="bulk-title" title>
            {move || bulk.asked.get().map(|(deed, targets)| form(bulk, deed, targets))}
        </Dialog>
    }
    .into_any()
}

fn form(bulk: Bulk, deed: Deed, targets: Vec<BulkTarget>) -> AnyView {
    let typed = RwSignal::new(String::new());
    let input = RwSignal::new(if deed == Deed::Scale { "1" } else { "" }.to_owned());
    let expected = (deed == Deed::Delete)
        .then(|| confirmation(bulk, &targets))
        .flatten();
    let action = Memo::new(move |_| input.with(|text| action_of(deed, text)));
    let is_confirmed = {
        let expected = expected.clone();
        move || {
            expected
                .as_ref()
                .is_none_or(|expected| typed.with(|typed| typed.trim() == expected))
        }
    };
    let error = RwSignal::new(None::<String>);
    let count = targets.len();
    let is_too_many = deed == Deed::Delete
        && count > MAX_BULK_TARGETS
        && bulk.page.resource.with_value(DeletionGrade::highest) == DeletionGrade::TypedName;
    let body = targets.clone();
    let submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        match action.get_untracked() {
            Err(message) => error.set(Some(message)),
            Ok(_) if is_too_many => {
                error.set(Some(format!(
                    "At most {MAX_BULK_TARGETS} of these can be deleted at once. Select fewer."
                )));
            }
            Ok(_) if !untrack(&is_confirmed) => {
                error.set(Some("What you typed is not what is asked for.".to_owned()));
            }
            Ok(mut action) => {
                if let BulkAction::Delete { typed: text } = &mut action {
                    typed.with_untracked(|typed| typed.trim().clone_into(text));
                }
                let targets = targets.clone();
                bulk.confirm(Change { action, targets });
            }
        }
    };
    let label = match deed {
        Deed::Delete => format!("Delete {}", bulk.counted(count)),
        deed => super::bar::face(deed).0.to_owned(),
    };
    let kind = if deed == Deed::Delete {
        ButtonKind::Danger
    } else {
        ButtonKind::Primary
    };
    view! {
        <form on:submit=submit>
            <div class="dialog-body">
                <p>{consequence(bulk, deed)}</p>
                {names(&body)}
                {field(deed, input)}
                {expected.map(|expected| view! {
                    <Field
                        id="bulk-typed"
                        label=format!("Type {expected} to confirm")
                        value=typed
                    />
                })}
                {move || error.get().map(|error| view! {
                    <p class="field-error" role="alert">{error}</p>
                })}
            </div>
            <div class="dialog-foot">
                <Button label="Cancel" on_click=move |_| bulk.open.set(false) />
                <Button label kind submit=true />
            </div>
        </form>
    }
    .into_any()
}

/// Returns the text that has to be typed: what the server demands, else the number of many.
fn confirmation(bulk: Bulk, targets: &[BulkTarget]) -> Option<String> {
    let count = targets.len();
    bulk.page
        .resource
        .with_value(|resource| deletion_confirmation(resource, targets))
        .or_else(|| (count > MAX_WITHOUT_TYPING).then(|| count.to_string()))
}

fn action_of(deed: Deed, text: &str) -> Result<BulkAction, String> {
    match deed {
        Deed::Scale => {
            let replicas = text.trim().parse::<i64>().ok();
            replicas
                .filter(|replicas| (0..=10_000).contains(replicas))
                .map(|replicas| BulkAction::Scale { replicas })
                .ok_or_else(|| "The number of replicas is a whole number from 0 to 10,000.".into())
        }
        Deed::Label => labels(text),
        Deed::Restart => Ok(BulkAction::Restart),
        _ => Ok(BulkAction::Delete {
            typed: String::new(),
        }),
    }
}

/// Reads labels as kubectl does: `app=web` sets one, `tier-` removes one.
fn labels(text: &str) -> Result<BulkAction, String> {
    let (mut set, mut remove) = (Vec::new(), Vec::new());
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
        let checked = if let Some((key, value)) = word.split_once('=') {
            set.push((key.to_owned(), value.to_owned()));
            label_selector::check_key(key).and_then(|()| label_selector::check_value(value))
        } else if let Some(key) = word.strip_suffix('-') {
            remove.push(key.to_owned());
            label_selector::check_key(key)
        } else {
            return Err(format!("\"{word}\" is neither key=value nor key-."));
        };
        checked.map_err(|error| error.to_string())?;
    }
    if set.is_empty() && remove.is_empty() {
        return Err("Enter at least one label, such as tier=front.".to_owned());
    }
    Ok(BulkAction::Label { set, remove })
}

fn field(deed: Deed, input: RwSignal<String>) -> AnyView {
    match deed {
        Deed::Scale => view! {
            <Field
                id="bulk-replicas"
                label="Replicas"
                kind="number"
                required=true
                value=input
                hint="For each of them. 0 stops all pods and keeps the workload."
            />
        }
        .into_any(),
        Deed::Label => view! {
            <Field
                id="bulk-labels"
                label="Labels"
                required=true
                value=input
                placeholder="tier=front old-"
                hint="key=value sets a label, key- removes it; separate with spaces."
            />
        }
        .into_any(),
        _ => ().into_any(),
    }
}

fn names(targets: &[BulkTarget]) -> AnyView {
    let item = |target: &BulkTarget| view! { <li class="wrap-anywhere">{named(target)}</li> };
    let (first, rest) = targets.split_at(targets.len().min(NAMED));
    let first = first.iter().map(item).collect_view();
    let rest = (!rest.is_empty()).then(|| {
        let items = rest.iter().map(item).collect_view();
        view! {
            <details>
                <summary>{format!("and {} more", format::count(rest.len()))}</summary>
                <ul class="bulk-names">{items}</ul>
            </details>
        }
    });
    view! { <div><ul class="bulk-names">{first}</ul>{rest}</div> }.into_any()
}

fn consequence(bulk: Bulk, deed: Deed) -> String {
    let plural = bulk.kind.with_value(|kind| kind.plural.clone());
    let text = match (deed, plural.as_str()) {
        (Deed::Delete, "namespaces") => "Everything in a namespace is deleted with it.",
        (Deed::Delete, "pods") => "A pod with a controller is replaced by a new one.",
        (Deed::Delete, "deployments" | "statefulsets" | "daemonsets" | "replicasets" | "jobs") => {
            "The pods of a workload are deleted with it."
        }
        (Deed::Delete, "persistentvolumeclaims") => "The data may be deleted with its claim.",
        (Deed::Delete, "secrets") => "Pods that use a Secret do not start again without it.",
        (Deed::Delete, _) => "",
        (Deed::Restart, _) => {
            "Pods are replaced one after another, according to the update strategy."
        }
        (Deed::Scale, _) => "Pods are created or deleted until there are as many as you enter.",
        _ => "The labels of the objects change, not those of their pods.",
    };
    if deed == Deed::Delete {
        format!("{text} This cannot be undone once it has begun.")
            .trim_start()
            .to_owned()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_as_kubectl_reads_them() {
        assert_eq!(
            labels("app=web, tier- empty="),
            Ok(BulkAction::Label {
                set: vec![
                    ("app".to_owned(), "web".to_owned()),
                    ("empty".to_owned(), String::new())
                ],
                remove: vec!["tier".to_owned()],
            })
        );
        assert!(labels("").is_err());
        assert!(labels("app").is_err());
        assert!(labels("-x=1").is_err());
    }

    #[test]
    fn replicas_are_a_small_whole_number() {
        let scaled = |text| action_of(Deed::Scale, text);
        assert_eq!(scaled(" 3 "), Ok(BulkAction::Scale { replicas: 3 }));
        for wrong in ["", "-1", "1.5", "10001"] {
            assert!(scaled(wrong).is_err(), "{wrong}");
        }
    }
}
