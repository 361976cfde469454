//! The end of support of Kubernetes' minor versions. From
//! <https://kubernetes.io/releases/patch-releases/>.
use jiff::civil::{Date, date};
use portico_domain::panel::{Health, VersionSupport};

/// Minor versions of Kubernetes 1 with the last day of upstream support.
const ENDS: [(u32, Date); 16] = [
    (20, date(2022, 2, 28)),
    (21, date(2022, 6, 28)),
    (22, date(2022, 10, 28)),
    (23, date(2023, 2, 28)),
    (24, date(2023, 7, 28)),
    (25, date(2023, 10, 28)),
    (26, date(2024, 2, 28)),
    (27, date(2024, 6, 28)),
    (28, date(2024, 10, 28)),
    (29, date(2025, 2, 28)),
    (30, date(2025, 6, 28)),
    (31, date(2025, 10, 28)),
    (32, date(2026, 2, 28)),
    (33, date(2026, 6, 28)),
    (34, date(2026, 10, 27)),
    (35, date(2027, 2, 28)),
];

/// Warns this many days before the end of support.
const WARNING_DAYS: i32 = 60;

/// Returns the support state of a version such as `v1.20.2` on a day.
pub fn support(version: &str, today: Date) -> VersionSupport {
    let (health, support) = minor(version).map_or_else(
        || (Health::Unknown, "Not a version of Kubernetes 1".to_owned()),
        |minor| state(minor, today),
    );
    VersionSupport {
        version: version.to_owned(),
        health,
        support,
    }
}

fn state(minor: u32, today: Date) -> (Health, String) {
    let Some((_, end)) = ENDS.iter().find(|(known, _)| *known == minor) else {
        return if minor < ENDS[0].0 {
            (
                Health::Failed,
                "Upstream support ended before 2022".to_owned(),
            )
        } else {
            (
                Health::Ok,
                "Newer than the support dates known here".to_owned(),
            )
        };
    };
    let day = end.strftime("%-d %B %Y");
    let left = (*end - today).get_days();
    if left < 0 {
        (Health::Failed, format!("Upstream support ended on {day}"))
    } else if left <= WARNING_DAYS {
        (Health::Warning, format!("Upstream support ends on {day}"))
    } else {
        (Health::Ok, format!("Upstream support until {day}"))
    }
}

/// Returns the minor version of `v1.20.2-gke.1`, `1.31+`.
pub fn minor(version: &str) -> Option<u32> {
    let rest = version.trim_start_matches('v').strip_prefix("1.")?;
    let digits = rest
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_supported_until_their_last_day() {
        let on = |version: &str, today: Date| {
            let answer = support(version, today);
            (answer.health, answer.support)
        };
        assert_eq!(
            on("v1.20.2", date(2026, 11, 21)),
            (
                Health::Failed,
                "Upstream support ended on 28 February 2022".to_owned()
            )
        );
        assert_eq!(on("v1.35.0", date(2026, 11, 21)).0, Health::Ok);
        assert_eq!(on("v1.35.0", date(2027, 2, 28)).0, Health::Warning);
        assert_eq!(on("v1.35.0", date(2027, 3, 1)).0, Health::Failed);
        assert_eq!(on("v1.99.0", date(2026, 11, 21)).0, Health::Ok);
        assert_eq!(on("v1.12.0", date(2026, 11, 21)).0, Health::Failed);
        assert_eq!(on("nonsense", date(2026, 11, 21)).0, Health::Unknown);
    }

    #[test]
    fn vendor_suffixes_do_not_matter() {
        assert_eq!(minor("v1.29.1-eks-508b6b3"), Some(29));
        assert_eq!(minor("1.31+"), Some(31));
    }
}
