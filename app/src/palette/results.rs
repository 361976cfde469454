//! The options below the field, as a listbox: the field keeps the focus and names the active one.
use super::{
    Palette,
    entries::{Entry, Group, Target},
    groups::Sources,
    option_id,
};
use crate::{
    components::use_toasts,
    hooks::keyboard,
    operations::use_operations,
    ui::{Icon, Status},
};
use leptos::prelude::*;

/// Returns the options of an opened palette.
pub fn results(palette: Palette) -> AnyView {
    let sources = Sources::open(palette);
    let groups = Memo::new_with_compare(move |_| sources.groups(), |_, _| true);
    keep_active(palette, groups);
    let choose = chooser(palette);
    view! {
        <div id="palette-results" class="palette-results" role="listbox" aria-label="Results">
            {move || {
                let mut index = 0;
                groups
                    .get()
                    .into_iter()
                    .map(|group| group_view(group, &mut index, palette, choose))
                    .collect_view()
            }}
        </div>
        <p class="palette-status" role="status">
            {move || sources.status()}
            {move || sources.search_again()}
            {move || sources.who_can()}
        </p>
    }
    .into_any()
}

/// Counts the options. A new text makes the first one active. Options that arrive later leave an
/// option that the user has moved to active, wherever it is then; else the first one is active.
fn keep_active(palette: Palette, groups: Memo<Vec<Group>>) {
    Effect::new(move |before: Option<(String, Vec<Target>)>| {
        let targets: Vec<Target> = groups.with(|groups| {
            let entries = groups.iter().flat_map(|group| &group.entries);
            entries.map(|entry| entry.target.clone()).collect()
        });
        let text = palette.text.get_untracked();
        let moved_to = palette.active.get_untracked();
        let active = before
            .filter(|(known, _)| *known == text && moved_to > 0)
            .and_then(|(_, targets)| targets.get(moved_to).cloned())
            .and_then(|target| targets.iter().position(|other| *other == target))
            .unwrap_or(0);
        palette.active.set(active);
        palette.count.set(targets.len());
        if palette.is_enter_pending.get_untracked() && !targets.is_empty() {
            palette.is_enter_pending.set(false);
            // once the options are in the page
            request_animation_frame(move || {
                keyboard::click(&format!("#{}", option_id(active)));
            });
        }
        (text, targets)
    });
}

/// Returns what the choice of an option does, besides following its link.
fn chooser(palette: Palette) -> Callback<Target> {
    let (toasts, operations) = (use_toasts(), use_operations());
    Callback::new(move |target: Target| {
        palette.open.set(false);
        match target {
            Target::Page(_) | Target::External(_) => {}
            // once the dialog has given the focus back
            Target::Click(selector) => request_animation_frame(move || {
                keyboard::click(&selector);
            }),
            Target::Filter => request_animation_frame(|| {
                keyboard::focus_first("[data-filter]");
            }),
            Target::Help => request_animation_frame(move || palette.help.set(true)),
            Target::Activity => request_animation_frame(move || operations.show_activity()),
            Target::Copy(text) => {
                let written = window().navigator().clipboard().write_text(&text);
                leptos::task::spawn_local(async move {
                    let done = wasm_bindgen_futures::JsFuture::from(written).await.is_ok();
                    toasts.say(if done {
                        format!("Copied: {text}")
                    } else {
                        format!("The browser did not allow copying. The command is: {text}")
                    });
                });
            }
        }
    })
}

fn group_view(
    group: Group,
    index: &mut usize,
    palette: Palette,
    choose: Callback<Target>,
) -> AnyView {
    let id = format!("palette-{}", group.heading.to_lowercase().replace(' ', "-"));
    let heading_id = id.clone();
    let options = group
        .entries
        .into_iter()
        .map(|entry| {
            let at = *index;
            *index += 1;
            option_view(entry, at, palette, choose)
        })
        .collect_view();
    view! {
        <div role="group" aria-labelledby=id>
            <div class="palette-heading" id=heading_id role="presentation">{group.heading}</div>
            {options}
        </div>
    }
    .into_any()
}

fn option_view(entry: Entry, index: usize, palette: Palette, choose: Callback<Target>) -> AnyView {
    let selected = move || {
        if palette.active.get() == index {
            "true"
        } else {
            "false"
        }
    };
    let state = entry
        .state
        .map(|(tone, text)| view! { <Status tone text /> }.into_any());
    let content = view! {
        <Icon icon=entry.icon />
        <span class="palette-label">{entry.label}</span>
        {state}
        <span class="palette-detail">{entry.refusal.clone().unwrap_or(entry.detail)}</span>
    };
    let id = option_id(index);
    let target = entry.target.clone();
    let href = target.href().map(str::to_owned);
    let is_refused = entry.refusal.is_some();
    match href {
        Some(href) => {
            let rel = matches!(target, Target::External(_)).then_some("external");
            let download = href.ends_with("/kubeconfig").then_some("");
            view! {
                <a
                    id=id
                    class="palette-option"
                    role="option"
                    tabindex="-1"
                    aria-selected=selected
                    href=href
                    rel=rel
                    download=download
                    on:click=move |event| {
                        // a new tab leaves this one as it is
                        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                            choose.run(target.clone());
                        }
                    }
                >
                    {content}
                </a>
            }
            .into_any()
        }
        None => view! {
            <div
                id=id
                class="palette-option"
                role="option"
                aria-selected=selected
                aria-disabled=is_refused.then_some("true")
                on:click=move |_| {
                    if !is_refused {
                        choose.run(target.clone());
                    }
                }
            >
                {content}
            </div>
        }
        .into_any(),
    }
}
