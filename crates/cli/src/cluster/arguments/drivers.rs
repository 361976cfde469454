//! What a user states about the drivers of a cloud.
use portico_lifecycle::driver::Family;

/// Drivers with their families, separated by commas. None in an empty text: a variable that is set but
/// empty is as one that is not set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverList(Vec<(String, Family)>);

/// A major release of Magnum; `None` in an empty text, as with [`DriverList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release(Option<u16>);

impl DriverList {
    /// Returns the drivers with their families.
    pub fn families(&self) -> impl Iterator<Item = (String, Family)> {
        self.0.iter().cloned()
    }
}

impl Release {
    /// Returns the number; `None`: it is not stated.
    pub fn number(self) -> Option<u16> {
        self.0
    }
}

/// Reads `k8s_acme=complete,k8s_other=heat`.
pub fn drivers(text: &str) -> Result<DriverList, String> {
    if text.is_empty() {
        return Ok(DriverList(Vec::new()));
    }
    let drivers: Result<Vec<_>, _> = text.split(',').map(driver).collect();
    drivers.map(DriverList)
}

/// Reads a number such as 20, so that a year such as 2025 is not taken for one.
pub fn release(text: &str) -> Result<Release, String> {
    if text.is_empty() {
        return Ok(Release(None));
    }
    let number: Option<u16> = text.parse().ok();
    let number = number.filter(|number| (1..=99).contains(number));
    number.map(|number| Release(Some(number))).ok_or_else(|| {
        format!(
            "{text:?} is not a major release of Magnum: write a number from 1 to 99, such as 20"
        )
    })
}

/// Reads `k8s_acme=complete`.
fn driver(text: &str) -> Result<(String, Family), String> {
    let (name, word) = text.split_once('=').unwrap_or((text, ""));
    let family: Option<Family> = word.parse().ok().filter(|_| !name.is_empty());
    family
        .map(|family| (name.to_owned(), family))
        .ok_or_else(|| {
            format!(
                "{text:?} is not a driver: write NAME=FAMILY with the family {}",
                Family::words()
            )
        })
}
