//! Names: services do not keep them unique, so they are resolved here and only IDs are acted on.
use super::error::ErrorKind;
use super::paging::Listing;
use jiff::Timestamp;

/// An object that a name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub id: String,
    pub name: String,
    /// Its state, in the service's word.
    pub status: Option<String>,
    pub created_at: Option<Timestamp>,
}

/// Several objects have the same name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} objects have the name {name:?}: {}", .candidates.len(), ids(.candidates))]
pub struct AmbiguousName {
    pub name: String,
    pub candidates: Vec<Candidate>,
}

fn ids(candidates: &[Candidate]) -> String {
    let ids: Vec<_> = candidates.iter().map(|one| one.id.as_str()).collect();
    ids.join(", ")
}

/// Returns the object with this ID, or the only one with this name. An ID wins over a name that
/// looks like it.
///
/// # Errors
/// [`ErrorKind::NotFound`]; [`ErrorKind::Ambiguous`] with the candidates;
/// [`ErrorKind::Malformed`] if the list is incomplete, so that others may have the name.
pub fn resolve<T>(
    listing: Listing<T>,
    wanted: &str,
    candidate: impl Fn(&T) -> Candidate,
) -> Result<T, ErrorKind> {
    let cut = listing.cut;
    let mut named = Vec::new();
    for item in listing.items {
        let description = candidate(&item);
        if description.id.eq_ignore_ascii_case(wanted) {
            return Ok(item);
        }
        if description.name == wanted {
            named.push((item, description));
        }
    }
    if named.len() > 1 {
        let candidates = named.into_iter().map(|(_, description)| description);
        return Err(ErrorKind::Ambiguous(AmbiguousName {
            name: wanted.to_owned(),
            candidates: candidates.collect(),
        }));
    }
    if cut.is_some() {
        return Err(ErrorKind::Malformed(
            "a list that ends early, in which a name cannot be looked up",
        ));
    }
    match named.pop() {
        Some((item, _)) => Ok(item),
        None => Err(ErrorKind::NotFound(format!(
            "nothing has the name {wanted:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::paging::Cut;
    use super::*;

    fn named(id: &str, name: &str) -> Candidate {
        Candidate {
            id: id.to_owned(),
            name: name.to_owned(),
            status: None,
            created_at: None,
        }
    }

    fn find(wanted: &str, cut: Option<Cut>) -> Result<String, ErrorKind> {
        let items = vec![
            named("a1", "one"),
            named("b2", "two"),
            named("c3", "two"),
            named("d4", "a1"),
        ];
        resolve(Listing { items, cut }, wanted, Candidate::clone).map(|found| found.id)
    }

    #[test]
    fn a_name_of_several_objects_is_refused_with_all_of_them() {
        assert_eq!(find("one", None).unwrap(), "a1");
        assert_eq!(find("B2", None).unwrap(), "b2");
        let ErrorKind::Ambiguous(error) = find("two", None).unwrap_err() else {
            panic!("not ambiguous");
        };
        assert_eq!(error.candidates, [named("b2", "two"), named("c3", "two")]);
        assert_eq!(error.to_string(), "2 objects have the name \"two\": b2, c3");
        assert!(matches!(find("three", None), Err(ErrorKind::NotFound(_))));
    }

    #[test]
    fn an_id_wins_over_the_same_text_as_a_name() {
        assert_eq!(find("a1", None).unwrap(), "a1");
    }

    #[test]
    fn a_list_that_ends_early_resolves_ids_only() {
        let cut = Some(Cut::RepeatedLink);
        assert_eq!(find("b2", cut).unwrap(), "b2");
        for name in ["one", "three"] {
            assert!(matches!(find(name, cut), Err(ErrorKind::Malformed(_))));
        }
    }
}
