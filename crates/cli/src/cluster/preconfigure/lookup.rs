//! Things of a cloud by their names or IDs.
use super::inventory::Read;
use super::report::{Check, Task};
use portico_openstack::rest::Listing;

/// Returns the check for a thing that is not named: any one will do. `first` returns its name.
pub fn any<T>(
    subject: &'static str,
    read: &Read<T>,
    first: impl Fn(&Listing<T>) -> Option<String>,
    what: &str,
    task: Task,
) -> Check {
    match read {
        Err(cause) => Check::not_checked(subject, cause.clone()),
        Ok(listing) => match (first(listing), listing.cut) {
            (Some(name), _) => Check::ok(subject, format!("such as {name}")),
            (None, Some(cut)) => {
                Check::not_checked(subject, format!("the list is incomplete: {cut}"))
            }
            (None, None) => Check::missing(subject, format!("there is no {what}"), task),
        },
    }
}

/// Returns the check for a named thing. `key` returns its ID and its name.
pub fn named<T>(
    subject: &'static str,
    read: &Read<T>,
    wanted: &str,
    key: impl Fn(&T) -> (String, String),
    task: Task,
    then: impl FnOnce(&T) -> Check,
) -> Check {
    let listing = match read {
        Ok(listing) => listing,
        Err(cause) => return Check::not_checked(subject, cause.clone()),
    };
    match find(listing, wanted, key) {
        Found::One(one) => then(one),
        Found::Several(count) => Check::missing(
            subject,
            format!("{count} have the name {wanted}"),
            Task::yours(format!("write the ID in place of {wanted}")),
        ),
        Found::Absent => Check::missing(
            subject,
            format!("{wanted} does not exist, or not for this project"),
            task,
        ),
        Found::Unknown => Check::not_checked(
            subject,
            format!("{wanted} is not in the part of the list that could be read"),
        ),
    }
}

/// What a list has under a name.
pub enum Found<'a, T> {
    One(&'a T),
    Several(usize),
    Absent,
    /// The list is incomplete.
    Unknown,
}

/// Finds by ID, else by name.
pub fn find<'a, T>(
    listing: &'a Listing<T>,
    wanted: &str,
    key: impl Fn(&T) -> (String, String),
) -> Found<'a, T> {
    let items = &listing.items;
    if let Some(one) = items.iter().find(|one| key(one).0 == wanted) {
        return Found::One(one);
    }
    let mut named = items.iter().filter(|one| key(one).1 == wanted);
    match (named.next(), named.count()) {
        (Some(one), 0) => Found::One(one),
        (Some(_), more) => Found::Several(more + 1),
        (None, _) if listing.cut.is_some() => Found::Unknown,
        (None, _) => Found::Absent,
    }
}
