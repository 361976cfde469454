//! The form for a new cluster: template, size, network and access, review.
mod access;
mod cards;
mod cidr;
mod fields;
mod file;
mod formats;
mod groups;
mod labels;
mod outcome;
pub(super) mod pairs;
mod problems;
pub(super) mod quota;
mod review;
pub(super) mod size;
mod state;
mod steps;
mod stored;
mod template;

pub(super) use cards::abilities;

use super::list_crumb;
use crate::{
    api::lifecycle::get_creation_options,
    components::{ErrorState, PageHead},
    context::use_session,
    error::UiError,
    routes::managed_clusters::ManagedClustersPage,
    ui::{Banner, SkeletonLines, Tone},
};
use leptos::prelude::*;
use leptos_router::{
    NavigateOptions,
    hooks::{use_navigate, use_query_map},
};
use portico_domain::panel::lifecycle::{CreationForm, CreationOptions, FormPage};
use state::Wizard;
use steps::Steps;
use stored::{Storage, Stored};
use uuid::Uuid;

#[component]
pub fn Create() -> impl IntoView {
    let project = use_session().project.get_untracked();
    let crumbs = vec![list_crumb(&project)];
    let notice = view! {
        <Banner tone=Tone::Info>
            <p>"The form needs JavaScript. In a terminal:"</p>
            <p class="mono wrap-anywhere">"portico cluster create --help"</p>
        </Banner>
    }
    .into_any();
    // the form is made in the browser: what the tab has stored is not known elsewhere
    let is_running = RwSignal::new(false);
    Effect::new(move |_| is_running.set(true));
    view! {
        <PageHead
            title="Create cluster"
            crumbs
            lede="Everything is checked before a request is sent. Nothing is created before you confirm."
        />
        <noscript>{notice}</noscript>
        {move || is_running.get().then(|| view! { <Loaded /> })}
    }
    .into_any()
}

/// The form, once what it offers is known.
#[component]
fn Loaded() -> impl IntoView {
    let options = RwSignal::new(None::<Result<CreationOptions, UiError>>);
    let load = Callback::new(move |()| {
        options.set(None);
        leptos::task::spawn_local(async move {
            let answer = get_creation_options().await;
            let _ = options.try_set(Some(answer));
        });
    });
    load.run(());
    move || match options.get() {
        None => view! {
            <div class="card card-body" data-state="loading"><SkeletonLines lines=6 /></div>
        }
        .into_any(),
        Some(Ok(options)) => view! { <Form options /> }.into_any(),
        Some(Err(error)) => view! {
            <div class="card"><ErrorState error retry=load /></div>
        }
        .into_any(),
    }
}

#[component]
fn Form(options: CreationOptions) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let query = use_query_map();
    let of_query = move |name: &str| {
        query
            .with_untracked(|query| query.get(name))
            .unwrap_or_default()
    };
    let storage = Storage::new();
    let begun = begin(
        storage,
        &of_query("attempt"),
        &of_query("from"),
        &of_query("name"),
    );
    let navigate = use_navigate();
    let on_created = Callback::new(move |cluster| {
        let address = ManagedClustersPage::Cluster(cluster).address(&project);
        navigate(&address, NavigateOptions::default());
    });
    let refusal = options.creation.refusal.clone();
    let gaps: Vec<String> = options
        .missing
        .iter()
        .map(|missing| missing.explanation.clone())
        .chain(options.gaps.iter().cloned())
        .collect();
    let wizard = Wizard::new(options, begun.stored, storage, on_created);
    let is_restored = begun.note.is_none() && wizard.has_values();
    wizard.check();
    let gaps = (!gaps.is_empty()).then(|| {
        let gaps = gaps.into_iter().map(|gap| view! { <li>{gap}</li> });
        view! {
            <Banner tone=Tone::Info>
                <ul class="notes">{gaps.collect_view()}</ul>
            </Banner>
        }
    });
    view! {
        <div class="form-groups">
            {refusal.map(|reason| view! { <Banner tone=Tone::Warn>{reason}</Banner> })}
            {begun.note.map(|note| view! { <Banner tone=Tone::Info>{note}</Banner> })}
            {gaps}
            <Steps wizard is_restored />
        </div>
    }
    .into_any()
}

/// With what the form begins.
struct Begun {
    stored: Stored,
    /// What is particular about it, as a sentence.
    note: Option<&'static str>,
}

/// Returns what the form begins with: an attempt that is continued, the values of a cluster that was
/// made by this tab, or what the tab has stored.
fn begin(storage: Storage, attempt: &str, from: &str, name: &str) -> Begun {
    if let Ok(attempt) = Uuid::parse_str(attempt) {
        return match storage.read_attempt(attempt) {
            Some(stored) => Begun { stored, note: None },
            None => continued(attempt, name),
        };
    }
    if let Ok(cluster) = Uuid::parse_str(from) {
        return match storage.read_of_cluster(cluster) {
            Some(form) => Begun {
                stored: Stored {
                    form,
                    furthest: FormPage::Review,
                    ..Stored::default()
                },
                note: Some(
                    "The form has the values of the cluster that failed. Change what is needed.",
                ),
            },
            None => Begun {
                stored: Stored::default(),
                note: Some(
                    "This tab does not have the values of that cluster: they are in the tab that created it.",
                ),
            },
        };
    }
    Begun {
        stored: storage.read().unwrap_or_default(),
        note: None,
    }
}

/// Returns the form of an attempt whose values this tab does not have. It was sent elsewhere: only a
/// refusal ends the attempt, and no error of this tab.
fn continued(attempt: Uuid, name: &str) -> Begun {
    Begun {
        stored: Stored {
            form: CreationForm {
                name: name.to_owned(),
                ..CreationForm::default()
            },
            attempt: Some(attempt),
            is_sent: true,
            ..Stored::default()
        },
        note: Some(
            "This tab does not have the values of the earlier request, and does not need them to continue \
             it: Portico looks for the cluster, and makes no second one.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_of_another_tab_is_locked_until_it_is_refused() {
        let attempt = Uuid::from_u128(7);
        let begun = continued(attempt, "shop");
        assert!(begun.stored.is_sent);
        assert_eq!(begun.stored.attempt, Some(attempt));
        assert_eq!(begun.stored.form.name, "shop");
        assert!(begun.note.is_some());
    }
}
