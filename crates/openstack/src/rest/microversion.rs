//! Microversions: versions of one API that differ by what they add.
use std::fmt;
use std::str::FromStr;

/// A microversion, for example 1.14. It is not a decimal number: 1.9 is before 1.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Microversion {
    pub major: u16,
    pub minor: u16,
}

impl Microversion {
    /// Returns the microversion `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }
}

impl fmt::Display for Microversion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A text that is not a microversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a version of the form 1.9")]
pub struct InvalidMicroversion;

impl FromStr for Microversion {
    type Err = InvalidMicroversion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
            true => part.parse().map_err(|_| InvalidMicroversion),
            false => Err(InvalidMicroversion),
        };
        let (major, minor) = text.split_once('.').ok_or(InvalidMicroversion)?;
        Ok(Self::new(number(major)?, number(minor)?))
    }
}

/// The microversions that a service offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionRange {
    pub min: Microversion,
    pub max: Microversion,
}

impl VersionRange {
    /// Returns the highest microversion that both the service and a client (from `own.min` to
    /// `own.max`) know; `None` if there is none.
    pub fn highest_common(self, own: Self) -> Option<Microversion> {
        let highest = self.max.min(own.max);
        (highest >= self.min && highest >= own.min).then_some(highest)
    }
}

impl fmt::Display for VersionRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", self.min, self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Microversion {
        text.parse().unwrap()
    }

    fn range(min: &str, max: &str) -> VersionRange {
        VersionRange {
            min: version(min),
            max: version(max),
        }
    }

    #[test]
    fn the_minor_number_is_a_number() {
        assert!(version("1.9") < version("1.10"));
        assert_eq!(version("1.14").to_string(), "1.14");
        for text in [
            "", "1", "1.", ".1", "1.x", "1.-1", "1.+1", "1.2.3", "latest", "1.99999",
        ] {
            assert_eq!(
                text.parse::<Microversion>(),
                Err(InvalidMicroversion),
                "{text}"
            );
        }
    }

    #[test]
    fn the_highest_version_that_both_know_is_chosen() {
        let own = range("1.1", "1.14");
        for (offered, chosen) in [
            (range("1.1", "1.14"), Some("1.14")),
            (range("1.1", "1.20"), Some("1.14")),
            (range("1.1", "1.8"), Some("1.8")),
            (range("1.15", "1.20"), None),
        ] {
            assert_eq!(
                offered.highest_common(own),
                chosen.map(version),
                "{offered}"
            );
        }
    }
}
