//! What the operator states about the drivers of the cloud: Magnum's API does not report how they behave.
use portico_lifecycle::driver::Family;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The drivers of the cloud; cheap to clone. The default states nothing: drivers are then recognised by
/// their names, by the form of a cluster's ID, or by labels.
#[derive(Clone, Debug, Default)]
pub struct Drivers {
    families: Arc<BTreeMap<String, Family>>,
    /// The major release of Magnum, such as 20.
    pub release: Option<u16>,
}

impl Drivers {
    /// Returns drivers with their families, by the name in the field `driver` of a template.
    pub fn new(families: BTreeMap<String, Family>, release: Option<u16>) -> Self {
        Self {
            families: Arc::new(families),
            release,
        }
    }

    /// Returns the families by the names of the drivers.
    pub fn families(&self) -> &BTreeMap<String, Family> {
        &self.families
    }
}
