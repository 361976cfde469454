use super::Layout;
use crate::{
    hooks::LiveList,
    pages::list::{
        columns::{Content, ShownColumn},
        page::{ListPage, StateLink},
        selection::Picked,
    },
    routes::ListState,
    ui::{Icon, icons},
};
use leptos::prelude::*;
use portico_domain::panel::usual_order;

#[component]
pub fn Head(page: ListPage, list: LiveList, layout: Memo<Layout>, picked: Picked) -> impl IntoView {
    let cells = move || {
        layout
            .get()
            .columns
            .into_iter()
            .map(|column| head_cell(page, column))
            .collect_view()
    };
    let loaded = move || {
        list.rows.with(|rows| {
            let chosen = rows.iter().filter(|row| picked.contains(&row.uid)).count();
            (chosen, rows.len())
        })
    };
    view! {
        <thead>
            <tr role="row" aria-rowindex="1">
                <th scope="col" class="cell-check">
                    <input
                        type="checkbox"
                        aria-label="Select the loaded rows"
                        prop:checked=move || {
                            let (chosen, all) = loaded();
                            all > 0 && chosen == all
                        }
                        prop:indeterminate=move || {
                            let (chosen, all) = loaded();
                            chosen > 0 && chosen < all
                        }
                        on:change=move |event| picked.set_loaded(list, event_target_checked(&event))
                    />
                </th>
                {cells}
                <th scope="col" class="cell-menu">
                    <span class="visually-hidden">"Actions"</span>
                </th>
            </tr>
        </thead>
    }
    .into_any()
}

fn head_cell(page: ListPage, column: ShownColumn) -> AnyView {
    let title = column.title.clone();
    // labels have no order of their own, and usage is known of the rows in the page only
    if matches!(column.content, Content::Label(_) | Content::Usage(_)) {
        let class = if column.is_usage() { "cell-usage" } else { "" };
        return view! { <th scope="col" class=class title=column.description>{title}</th> }
            .into_any();
    }
    let key = StoredValue::new(column.key);
    let order_of = move |state: &ListState| {
        let resource = page.resource.get_value();
        let order = usual_order(&resource, &state.sort);
        let descending = order.starts_with('-');
        key.with_value(|key| (order.trim_start_matches('-') == key).then_some(descending))
    };
    let descends = move || page.state.with(order_of);
    // reads what it changes, not the signal that is locked meanwhile
    let next = move |state: &mut ListState| {
        let key = key.get_value();
        state.sort = match order_of(state) {
            None => key,
            Some(false) => format!("-{key}"),
            Some(true) => String::new(),
        };
    };
    let sorted = move || {
        descends().map(|descending| {
            if descending {
                "descending"
            } else {
                "ascending"
            }
        })
    };
    let icon = move || {
        let icon = if descends()? {
            icons::ARROW_DOWN
        } else {
            icons::ARROW_UP
        };
        Some(view! { <Icon icon /> })
    };
    view! {
        <th scope="col" aria-sort=sorted>
            <StateLink page class="sort" title=column.description change=next>
                {title}
                {icon}
            </StateLink>
        </th>
    }
    .into_any()
}
