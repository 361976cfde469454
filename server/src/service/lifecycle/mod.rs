//! Clusters that Magnum makes: what the pages show and do, with the caller's own token in the project of
//! the URL. The rules are those of `portico-lifecycle`, the calls those of `portico-openstack`.
//!
//! A cluster of another project is not found, also for an administrator. What the policy forbids is
//! predicted with [`portico_lifecycle::rights`]; Magnum's own answer decides.
mod access;
pub mod api_server;
mod attempts;
mod card;
mod certificates;
mod change;
#[cfg(test)]
pub(in crate::service) mod changing_magnum;
mod cloud_api;
mod conductor;
mod creation;
mod deletion;
mod durations;
mod enrolment;
mod enrolment_state;
mod error;
mod feeds;
#[cfg(test)]
mod fixtures;
mod following;
mod health;
mod inside;
mod inspector;
mod journal;
mod list;
mod managed;
mod node_groups;
mod node_progress;
mod nodes;
mod origin;
mod own;
mod ownership;
mod pace;
mod pods;
mod progress;
mod protection;
mod settling;
#[cfg(test)]
mod stand_in;
mod stored_attempts;
mod templates_page;
mod upgrade;
mod usage;
mod viewer;
mod words;

pub use access::{MagnumAccess, MagnumParts};
pub use attempts::{Attempts, NoAttempts};
pub use certificates::{certificates, rotate, sign};
pub use cloud_api::{
    CloudRefusal, CloudRequest, cloud_enrol, cloud_enrolment, cloud_protection, pass_on,
    records_refused_enrolment, remove_cloud_record, set_cloud_protection,
};
pub use creation::{continue_creation, create, dismiss_creation, options, read_file, review};
pub use deletion::{delete, inventory, leftovers};
pub use enrolment::{configuration, enrol};
pub use feeds::{Accepted, describe_metrics};
pub use health::health;
pub use journal::{
    CHANGE_TIMEOUT, Change, Journal, NodeEvents, RequestOutcome, begin, ensure_exists,
    export as export_journal, follow_nodes, journal, record,
};
pub use list::list;
pub use node_groups::{
    action_of, change as change_node_group, node_groups, review as review_node_group, target_of,
    waiting,
};
pub use nodes::{
    DRAIN, DrainBegun, REPLACE, Stage, begin_drain, continue_drain, nodes,
    planned as planned_replacement, planned_drain, planned_in_place, planned_refill, refill,
    remove as remove_node, review as review_node_removal, review_replacement,
    running as running_replacement, running_drain, start as start_replacement, start_in_place,
    stop as stop_replacement, stop_drain,
};
pub use ownership::{
    ROTATE_CREDENTIAL, ownership, passing as credential_passing, rotate_credential,
};
pub use progress::{follow, progress};
pub use protection::{protection, set_protection, was_protected};
pub use settling::{settle, settlement};
pub use stored_attempts::StoredAttempts;
pub use templates_page::{copy_template, delete_template, set_template_flag, template, templates};
pub use upgrade::{choice as upgrade_choice, options as upgrade_options, upgrade};
pub use usage::project_usage;
pub use viewer::Viewer;
