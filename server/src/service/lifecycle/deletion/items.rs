//! Items of an inventory, as the pages show them and send them back.
use portico_domain::panel::lifecycle::{DeletionItem, DeletionRecord, Fate};
use portico_lifecycle::inventory::{self, Inventory, Item, Kind};

/// Maximum number of items of a record; more are not remembered.
const MAX_ITEMS: usize = 2_000;

/// Returns one list of an inventory.
pub fn views(list: &[(Item, &'static str)]) -> Vec<DeletionItem> {
    let views = list.iter().map(|(item, reason)| DeletionItem {
        kind: item.kind.name().to_owned(),
        id: item.id.clone(),
        name: item.name.clone(),
        reason: (*reason).to_owned(),
    });
    views.collect()
}

/// Returns the ID of each item with its predicted fate.
pub fn fates(inventory: &Inventory) -> Vec<(String, Fate)> {
    let lists = [
        (&inventory.goes, Fate::Goes),
        (&inventory.depends, Fate::Depends),
        (&inventory.stays, Fate::Stays),
    ];
    let all = lists
        .into_iter()
        .flat_map(|(list, fate)| list.iter().map(move |(item, _)| (item.id.clone(), fate)));
    all.take(MAX_ITEMS).collect()
}

/// Returns the inventory that a record remembers: IDs and fates, which is all that leftovers are
/// compared by.
pub fn remembered(record: &DeletionRecord) -> Inventory {
    let mut inventory = Inventory::default();
    for (id, fate) in record.items.iter().take(MAX_ITEMS) {
        let list = match fate {
            Fate::Goes => &mut inventory.goes,
            Fate::Depends => &mut inventory.depends,
            Fate::Stays => &mut inventory.stays,
        };
        let item = Item {
            kind: Kind::Server,
            id: id.clone(),
            name: String::new(),
        };
        list.push((item, ""));
    }
    inventory
}

/// Returns a fate for the page.
pub fn fate(fate: inventory::Fate) -> Fate {
    match fate {
        inventory::Fate::Goes => Fate::Goes,
        inventory::Fate::Depends => Fate::Depends,
        inventory::Fate::Stays => Fate::Stays,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(kind: Kind, id: &str) -> Item {
        Item {
            kind,
            id: id.to_owned(),
            name: "name".to_owned(),
        }
    }

    #[test]
    fn a_record_remembers_what_was_predicted() {
        let inventory = Inventory {
            goes: vec![(item(Kind::Server, "s1"), "")],
            depends: vec![(item(Kind::ServiceLoadBalancer, "lb1"), "")],
            stays: vec![(item(Kind::VolumeSnapshot, "v1"), "")],
        };
        let record = DeletionRecord {
            cluster: uuid::Uuid::nil(),
            name: "shop".to_owned(),
            driver_id: None,
            items: fates(&inventory),
            accepted_at: 0,
        };
        let before = remembered(&record);
        assert_eq!(fates(&before), record.items);
    }
}
