//! What a user accepts to lose with the pods of a node: it is for this node only.
use portico_domain::panel::DrainOptions;

/// Returns what was accepted for the node on a server: nothing, if it was accepted for another one.
pub fn loss_of((of, options): &(String, DrainOptions), server: &str) -> DrainOptions {
    if of == server {
        *options
    } else {
        DrainOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_accepted_for_one_node_only() {
        let options = DrainOptions {
            unmanaged: true,
            local_data: true,
        };
        let accepted = ("one".to_owned(), options);
        assert_eq!(loss_of(&accepted, "one"), options);
        assert_eq!(loss_of(&accepted, "two"), DrainOptions::default());
    }
}
