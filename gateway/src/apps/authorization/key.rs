//! What gives a user access to an app: a role in a project, as Keystone reports it now, or a
//! provider's group, as of the last refresh.
use std::sync::Arc;

use crate::sessions::live::ProjectToken;

/// What gives a user access to an app.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    /// Roles in a project, through this token.
    Role(Arc<ProjectToken>),
    /// A group of the session's provider.
    Group,
    /// A rule for this user, or for all signed-in users.
    Person,
}

impl Key {
    /// Returns the token whose project and roles are passed to the app.
    pub fn token(&self) -> Option<&ProjectToken> {
        match self {
            Key::Role(token) => Some(token),
            Key::Group | Key::Person => None,
        }
    }
}
