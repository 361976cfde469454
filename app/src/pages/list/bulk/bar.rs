use super::Bulk;
use crate::{
    api::resources::select_rows,
    components::{use_toasts, who_can_here},
    format,
    hooks::LiveList,
    pages::list::{
        rights::{Deed, Rights},
        selection::Picked,
    },
    ui::{Button, ButtonKind, Icon, Why, icons},
};
use leptos::prelude::*;
use portico_domain::panel::{MAX_SELECTED, ResourceKind};

/// The number of selected rows, and what can be done with them.
#[component]
pub fn BulkBar(list: LiveList, picked: Picked, bulk: Bulk, rights: Rights) -> impl IntoView {
    let toasts = use_toasts();
    let deeds = bulk.kind.with_value(offered);
    let asked = deeds.clone();
    Effect::new(move |_| {
        if picked.count() > 0 {
            rights.ask(&asked, &picked.namespaces());
        }
    });
    let busy = RwSignal::new(false);
    let select_all = move |_| {
        let Some(query) = list.query() else { return };
        busy.set(true);
        leptos::task::spawn_local(async move {
            let answer = select_rows(bulk.page.cluster, query).await;
            if busy.try_set(false).is_some() {
                return;
            }
            match answer {
                Ok(selection) => picked.add(selection.targets),
                Err(error) => toasts.failed(&error),
            }
        });
    };
    let all = move || {
        let total = list.total.get();
        let count = picked.count();
        (total > count && count < MAX_SELECTED).then(|| {
            let label = if total > MAX_SELECTED {
                format!("Select the first {}", format::count(MAX_SELECTED))
            } else {
                format!("Select all {} that match", format::count(total))
            };
            view! {
                <Button label small=true kind=ButtonKind::Quiet busy on_click=select_all />
            }
        })
    };
    let buttons = move || {
        let namespaces = picked.namespaces();
        deeds
            .clone()
            .into_iter()
            .map(|deed| {
                let (label, name, icon) = face(deed);
                if let Some(refusal) = rights.refusal(deed, &namespaces) {
                    let who_can = refusal.missing.as_deref().and_then(who_can_here);
                    return view! {
                        <Why
                            id=format!("why-bulk-{name}")
                            label
                            reason=refusal.reason
                            action=name
                            class="btn btn-small"
                            who_can
                        />
                    }
                    .into_any();
                }
                view! {
                    <button
                        type="button"
                        class="btn btn-small"
                        data-action=name
                        on:click=move |_| bulk.ask(deed, picked.targets())
                    >
                        <Icon icon />
                        {label}
                    </button>
                }
                .into_any()
            })
            .collect_view()
    };
    let count = Memo::new(move |_| picked.count());
    view! {
        <Show when=move || count.get() != 0>
            <div class="bulk-bar" role="group" aria-label="Selected rows">
                <strong data-selected="">{move || format!("{} selected", format::count(count.get()))}</strong>
                {buttons.clone()}
                <span class="flex-1"></span>
                {all}
                <Button
                    label="Clear selection"
                    small=true
                    kind=ButtonKind::Quiet
                    on_click=move |_| picked.clear()
                />
            </div>
        </Show>
    }
    .into_any()
}

/// Returns what can be done with many objects of a kind at once.
fn offered(kind: &ResourceKind) -> Vec<Deed> {
    let mut deeds = Deed::of(kind);
    deeds.retain(|deed| !matches!(deed, Deed::Logs | Deed::Terminal));
    deeds
}

/// Returns the label, the name for tests, and the icon of an action.
pub fn face(deed: Deed) -> (&'static str, &'static str, icondata_core::Icon) {
    match deed {
        Deed::Restart => ("Restart", "restart", icons::ROTATE),
        Deed::Scale => ("Scale", "scale", icons::SCALE),
        Deed::Label => ("Label", "label", icons::TAG),
        Deed::Delete => ("Delete", "delete", icons::TRASH),
        Deed::Logs => ("Logs", "logs", icons::LOGS),
        Deed::Terminal => ("Terminal", "terminal", icons::TERMINAL),
    }
}
