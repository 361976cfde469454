use super::progress::Progress;
use crate::{
    components::{missing_permission, outcome_badge},
    context::use_session,
    format, routes,
    ui::{Card, Status, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::{AppliedDocument, CreationKind, Effect};
use uuid::Uuid;

/// What was changed, with links to the objects.
#[component]
pub fn Outcome(cluster: Uuid, applied: Vec<AppliedDocument>) -> impl IntoView {
    let project = use_session().project.get_untracked();
    let title = summary(&applied);
    let rows = applied
        .into_iter()
        .map(|document| {
            let progress = is_followed(&document).then(|| {
                let object = document.object.clone()?;
                Some(view! { <Progress cluster object /> })
            });
            let name = match document.object {
                Some(object) => view! {
                    <a class="wrap-anywhere" href=routes::object(&project, cluster, &object)>
                        {document.title}
                    </a>
                }
                .into_any(),
                None => {
                    view! { <strong class="wrap-anywhere">{document.title}</strong> }.into_any()
                }
            };
            view! {
                <li class="plan-entry">
                    <p class="flex flex-wrap items-center gap-2">{outcome_badge(document.effect)}{name}</p>
                    {document.error.map(|text| view! {
                        <p class="wrap-anywhere"><Status tone=Tone::Bad text /></p>
                    })}
                    {missing_permission(document.missing.as_deref())}
                    {progress.flatten()}
                </li>
            }
        })
        .collect_view();
    view! {
        <div class="mt-4" data-part="outcome" role="status">
            <Card title>
                <ul class="plan" aria-label="Outcome">{rows}</ul>
            </Card>
        </div>
    }
    .into_any()
}

/// Returns whether an object reaches its result only after it was created, by a controller.
fn is_followed(document: &AppliedDocument) -> bool {
    let object = document.object.as_ref();
    document.effect != Effect::Refused
        && object.is_some_and(|object| CreationKind::of(&object.resource).is_some())
}

/// Returns `2 created, 1 changed, 1 refused`.
pub fn summary(applied: &[AppliedDocument]) -> String {
    let counts = [
        (Effect::Create, "created"),
        (Effect::Change, "changed"),
        (Effect::Nothing, "unchanged"),
        (Effect::Refused, "refused"),
    ];
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(effect, word)| {
            (
                applied.iter().filter(|one| one.effect == effect).count(),
                word,
            )
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{} {word}", format::count(count)))
        .collect();
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_counts_each_outcome() {
        let document = |effect| AppliedDocument {
            index: 0,
            title: String::new(),
            object: None,
            effect,
            error: None,
            missing: None,
        };
        let applied = [Effect::Create, Effect::Refused, Effect::Create].map(document);
        assert_eq!(summary(&applied), "2 created, 1 refused");
    }
}
