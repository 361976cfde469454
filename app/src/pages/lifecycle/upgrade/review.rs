//! What the upgrade to the chosen template would change, and its checks.
use super::state::UpgradeForm;
use crate::{
    pages::lifecycle::checks,
    ui::{Card, Status, TableRegion, Tone},
};
use leptos::prelude::*;
use portico_domain::panel::lifecycle::{LabelDifference, UpgradeReview};

/// Returns the review of what is chosen; nothing while none is chosen, or it is being read.
pub fn of(form: UpgradeForm) -> AnyView {
    let review = Memo::new(move |_| form.review());
    view! { {move || review.get().map(content)} }.into_any()
}

fn content(review: UpgradeReview) -> AnyView {
    let labels = (!review.labels.is_empty()).then(|| labels(review.labels, review.labels_rule));
    view! {
        <div class="mt-4" data-part="effect">
            <Card title="What changes">
                <p class="wrap-anywhere">{review.effect}</p>
            </Card>
        </div>
        {labels}
        {checks::card(review.checks)}
    }
    .into_any()
}

fn labels(labels: Vec<LabelDifference>, rule: String) -> AnyView {
    let rows = labels.into_iter().map(label).collect_view();
    view! {
        <div class="mt-4" data-part="labels">
            <Card title="Labels that differ">
                <p>{rule}</p>
                <TableRegion label="Labels that differ" stacked=true>
                    <thead>
                        <tr>
                            <th scope="col">"Label"</th>
                            <th scope="col">"Cluster"</th>
                            <th scope="col">"Template"</th>
                            <th scope="col">"Effect"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </TableRegion>
            </Card>
        </div>
    }
    .into_any()
}

fn label(label: LabelDifference) -> AnyView {
    let (tone, effect) = match label.is_applied {
        true => (Tone::Ok, "Taken over"),
        false => (Tone::Idle, "Not taken over"),
    };
    let present = label.present.unwrap_or_else(|| "–".to_owned());
    view! {
        <tr>
            <th scope="row" class="cell-name"><code>{label.key}</code></th>
            <td class="cell-text" data-label="Cluster">{present}</td>
            <td class="cell-text" data-label="Template">{label.target}</td>
            <td data-label="Effect"><Status tone text=effect /></td>
        </tr>
    }
    .into_any()
}
