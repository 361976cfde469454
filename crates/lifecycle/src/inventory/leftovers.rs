//! What still exists after a deletion.
use super::{Fate, Inventory, Item};

/// An item that still exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    pub item: Item,
    /// What the inventory had predicted; `None`: the item was not in it.
    pub predicted: Option<Fate>,
    /// A sentence for users.
    pub text: String,
}

/// Returns what is left, the unexpected first. `existing` is what a new search found after Magnum's
/// record was gone.
pub fn leftovers(before: &Inventory, existing: Vec<Item>) -> Vec<Leftover> {
    let mut left: Vec<Leftover> = existing
        .into_iter()
        .map(|item| {
            let predicted = predicted(before, &item);
            let kind = item.kind.name();
            let text = match predicted {
                Some(Fate::Stays) => format!("The {kind} {} remains, as predicted.", item.name),
                Some(Fate::Goes) => {
                    format!(
                        "The {kind} {} should have been deleted and may incur costs.",
                        item.name
                    )
                }
                Some(Fate::Depends) => {
                    format!(
                        "The {kind} {} was not deleted and may incur costs.",
                        item.name
                    )
                }
                None => format!("The {kind} {} was found after the deletion.", item.name),
            };
            Leftover {
                item,
                predicted,
                text,
            }
        })
        .collect();
    left.sort_by_key(|leftover| match leftover.predicted {
        Some(Fate::Goes) => 0,
        None => 1,
        Some(Fate::Depends) => 2,
        Some(Fate::Stays) => 3,
    });
    left
}

fn predicted(before: &Inventory, item: &Item) -> Option<Fate> {
    let lists = [
        (&before.goes, Fate::Goes),
        (&before.depends, Fate::Depends),
        (&before.stays, Fate::Stays),
    ];
    lists.into_iter().find_map(|(list, fate)| {
        let is_in = list.iter().any(|(other, _)| other.id == item.id);
        is_in.then_some(fate)
    })
}
