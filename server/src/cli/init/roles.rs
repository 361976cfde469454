//! Keystone's roles: their names, for users, and the IDs that Kubernetes binds.
use std::fmt;
use std::str::FromStr;

/// The value of `--admin-role` and similar options: a name, and the ID if it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct RoleSpec {
    pub name: String,
    pub id: Option<String>,
}

impl FromStr for RoleSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, id) = match text.split_once('=') {
            Some((name, id)) => (name, Some(id)),
            None => (text, None),
        };
        if name.is_empty() || name.chars().any(|c| c.is_control() || c == '"') {
            return Err("the role's name is empty or has unusual characters".to_owned());
        }
        let id = id.map(role_id).transpose()?;
        Ok(Self {
            name: name.to_owned(),
            id,
        })
    }
}

impl fmt::Display for RoleSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.id.iter().try_for_each(|id| write!(f, "={id}"))
    }
}

/// Checks the ID of a role, which also becomes the name of a group in a manifest and an argument in
/// a unit.
///
/// # Errors
/// If it has characters that an ID of Keystone's cannot have.
pub(super) fn role_id(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if (1..=64).contains(&text.len()) && text.chars().all(good) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` is not a role's ID: `openstack role show NAME -f value -c id` prints it"
        ))
    }
}

/// The three roles that Portico uses.
#[derive(Clone, Debug)]
pub(super) struct Roles {
    pub admin: RoleSpec,
    pub developer: RoleSpec,
    pub viewer: RoleSpec,
}

impl Roles {
    pub fn all(&self) -> [&RoleSpec; 3] {
        [&self.admin, &self.developer, &self.viewer]
    }

    /// Returns the IDs of developer and viewer, which `portico kube-auth bootstrap` binds.
    pub fn bound(&self) -> Option<(&str, &str)> {
        Some((self.developer.id.as_deref()?, self.viewer.id.as_deref()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_a_name_with_or_without_its_id() {
        let role: RoleSpec = "k8s_admin=46ab329696bb45acbe6c219746c59c3b"
            .parse()
            .unwrap();
        assert_eq!(role.name, "k8s_admin");
        assert_eq!(
            role.to_string(),
            "k8s_admin=46ab329696bb45acbe6c219746c59c3b"
        );
        assert_eq!("reader".parse::<RoleSpec>().unwrap().id, None);
        for wrong in ["", "=1", "a=", "a=b c", "a=x\"\n- rule"] {
            assert!(wrong.parse::<RoleSpec>().is_err(), "{wrong}");
        }
    }
}
