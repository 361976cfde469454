//! Whether a conductor of Magnum answers: without one, Magnum accepts requests and does not act on them.
use crate::clients::Clients;
use portico_openstack::magnum::{Conductor, ConductorState};
use portico_openstack::rest::{Listing, ScopedToken};

/// For a user who waits for a request without one.
pub const NO_CONDUCTOR: &str = "No conductor of Magnum answers: the request waits in its queue. \
     Contact the cloud's operator.";

/// Returns whether a conductor is up, as Magnum reports it: up to some minutes late. `None`: not known,
/// as Magnum permits the call to administrators only.
pub async fn has_conductor(clients: &Clients, token: &ScopedToken) -> Option<bool> {
    let listing = clients.magnum.conductors(token).await.ok()?;
    is_any_up(&listing)
}

fn is_any_up(listing: &Listing<Conductor>) -> Option<bool> {
    let conductors = &listing.items;
    let is_off = |one: &Conductor| one.disabled || one.state == ConductorState::Down;
    if conductors
        .iter()
        .any(|one| !one.disabled && one.state == ConductorState::Up)
    {
        return Some(true);
    }
    // one that is missing in an incomplete list, or has an unknown state, may be up
    let is_certain = listing.cut.is_none() && !conductors.is_empty();
    (is_certain && conductors.iter().all(is_off)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portico_openstack::rest::Cut;

    fn conductor(state: ConductorState, disabled: bool) -> Conductor {
        Conductor {
            id: 1,
            host: "magnum.test".to_owned(),
            binary: "magnum-conductor".to_owned(),
            state,
            disabled,
            disabled_reason: None,
            updated_at: None,
        }
    }

    fn read(items: Vec<Conductor>, cut: Option<Cut>) -> Option<bool> {
        is_any_up(&Listing { items, cut })
    }

    #[test]
    fn conductors_are_missing_only_where_all_are_known_to_be() {
        let up = conductor(ConductorState::Up, false);
        let down = conductor(ConductorState::Down, false);
        let disabled = conductor(ConductorState::Up, true);
        let unknown = conductor(ConductorState::Other("asleep".to_owned()), false);
        assert_eq!(read(vec![down.clone(), up], None), Some(true));
        assert_eq!(read(vec![down.clone(), disabled], None), Some(false));
        assert_eq!(read(vec![down.clone(), unknown], None), None);
        assert_eq!(read(vec![down], Some(Cut::TooLong)), None);
        assert_eq!(read(vec![], None), None);
    }
}
