//! The state of a workload's replicas: a strip with one part for each group, and the same in words.
use crate::ui::{Card, Icon, icons};
use leptos::prelude::*;
use portico_domain::panel::Rollout;

pub fn view(rollout: Rollout) -> AnyView {
    let words = words(&rollout);
    let parts = squares(parts(&rollout))
        .into_iter()
        .map(|class| view! { <span class=format!("rollout-part {class}")></span> })
        .collect_view();
    let paused = rollout.is_paused.then(|| {
        view! {
            <span class="badge is-warn">
                <Icon icon=icons::PAUSE />
                <span>"Paused"</span>
            </span>
        }
        .into_any()
    });
    view! {
        <div class="mb-4" data-part="rollout">
            <Card title="Rollout" aside=paused.into_any()>
                <div class="rollout" aria-hidden="true">{parts}</div>
                <p role="status">{words}</p>
                <p class="text-muted">{rollout.strategy}</p>
            </Card>
        </div>
    }
    .into_any()
}

/// Maximum number of squares of the strip; each then is more than one replica.
const MAX_SQUARES: i64 = 40;

/// Returns the class of each square: one a replica, or their shares if there are many.
fn squares(parts: [(&'static str, i64); 4]) -> Vec<&'static str> {
    let total: i64 = parts.iter().map(|(_, count)| count).sum();
    let mut squares = Vec::new();
    for (class, count) in parts {
        let count = if total > MAX_SQUARES && count > 0 {
            (count * MAX_SQUARES / total).max(1)
        } else {
            count
        };
        squares.extend((0..count).map(|_| class));
    }
    squares
}

/// Returns the parts of the strip with their classes, in order.
fn parts(rollout: &Rollout) -> [(&'static str, i64); 4] {
    // the newest revision's replicas become available last
    let available = rollout.available.min(rollout.desired);
    let new_available = available
        .saturating_sub(rollout.outdated)
        .clamp(0, rollout.updated);
    let starting = (rollout.updated - new_available).max(0);
    let missing = (rollout.desired - rollout.updated - rollout.outdated).max(0);
    [
        ("is-available", new_available),
        ("is-starting", starting),
        ("is-outdated", rollout.outdated),
        ("is-missing", missing),
    ]
}

fn words(rollout: &Rollout) -> String {
    let desired = rollout.desired;
    if desired == 0 && rollout.updated + rollout.outdated == 0 {
        return "Scaled to zero.".to_owned();
    }
    if rollout.is_complete() {
        return format!(
            "Complete: {desired} of {desired} replicas run the newest revision and are available."
        );
    }
    let mut text = format!(
        "{} of {desired} replicas run the newest revision; {} of {desired} are available",
        rollout.updated.min(desired),
        rollout.available.min(desired)
    );
    match rollout.outdated {
        0 => {}
        1 => text.push_str("; 1 of an earlier revision is still there"),
        count => {
            text.push_str("; ");
            text.push_str(&count.to_string());
            text.push_str(" of earlier revisions are still there");
        }
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rollout(desired: i64, updated: i64, available: i64, outdated: i64) -> Rollout {
        Rollout {
            desired,
            updated,
            ready: available,
            available,
            outdated,
            is_paused: false,
            strategy: String::new(),
        }
    }

    #[test]
    fn a_rollout_is_described_in_words() {
        assert_eq!(
            words(&rollout(3, 3, 3, 0)),
            "Complete: 3 of 3 replicas run the newest revision and are available."
        );
        assert_eq!(
            words(&rollout(3, 1, 3, 3)),
            "1 of 3 replicas run the newest revision; 3 of 3 are available; 3 of earlier revisions \
             are still there."
        );
        assert_eq!(words(&rollout(0, 0, 0, 0)), "Scaled to zero.");
    }

    #[test]
    fn the_strip_shows_every_replica_once() {
        let counts = |rollout: &Rollout| parts(rollout).map(|(_, count)| count);
        assert_eq!(counts(&rollout(3, 3, 3, 0)), [3, 0, 0, 0]);
        assert_eq!(counts(&rollout(3, 1, 2, 2)), [0, 1, 2, 0]);
        assert_eq!(counts(&rollout(4, 2, 1, 0)), [1, 1, 0, 2]);
        let few = squares(parts(&rollout(3, 1, 2, 2)));
        assert_eq!(few, ["is-starting", "is-outdated", "is-outdated"]);
        let many = squares(parts(&rollout(1000, 999, 999, 1)));
        assert!(
            many.len() <= 42 && many.contains(&"is-outdated"),
            "{many:?}"
        );
    }
}
