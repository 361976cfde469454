//! `[apps.limits]`: limits on the requests of one user.
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AppConfig, ConfigError};

/// The default burst, in seconds of the rate: a page may fetch dozens of files at once.
const DEFAULT_BURST_SECONDS: u32 = 10;

/// `[apps.limits]`: limits on the requests of one user to an app. Each process counts separately.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AppLimits {
    /// Maximum number of requests per second from one user, over all their sessions and tokens, or
    /// from one address (an IPv6 address counts as its /64) without a user. Further requests are
    /// answered with 429. Without it: unlimited.
    pub requests_per_second: Option<NonZeroU32>,
    /// Maximum number of requests at once. Without it: ten seconds' worth.
    pub burst: Option<NonZeroU32>,
}

impl AppLimits {
    /// Returns the requests per second and the burst; `None` without a limit.
    pub(crate) fn rate(&self) -> Option<(NonZeroU32, NonZeroU32)> {
        let rate = self.requests_per_second?;
        let burst = NonZeroU32::new(DEFAULT_BURST_SECONDS).map_or(rate, |n| rate.saturating_mul(n));
        Some((rate, self.burst.unwrap_or(burst)))
    }
}

pub(super) fn validate(apps: &[AppConfig]) -> Result<(), ConfigError> {
    for app in apps {
        if app.limits.burst.is_some() && app.limits.requests_per_second.is_none() {
            return Err(ConfigError::BurstAlone(app.id.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(limits: &str) -> AppConfig {
        let limits: serde_json::Value = serde_json::from_str(limits).expect("JSON");
        serde_json::from_value(serde_json::json!({
            "id": "logs", "name": "Logs", "project": "p1", "url": "http://127.0.0.1:9090",
            "limits": limits,
        }))
        .expect("valid shape")
    }

    #[test]
    fn a_burst_alone_is_refused() {
        let alone = ConfigError::BurstAlone("logs".to_owned());
        for (limits, expected) in [
            ("{}", Ok(())),
            (r#"{"requests_per_second": 5, "burst": 1}"#, Ok(())),
            (r#"{"burst": 5}"#, Err(alone)),
        ] {
            assert_eq!(validate(&[app(limits)]), expected, "{limits}");
        }
    }

    #[test]
    fn zero_is_not_a_rate_and_unknown_keys_are_errors() {
        for limits in [r#"{"requests_per_second": 0}"#, r#"{"rate": 5}"#] {
            assert!(
                serde_json::from_str::<AppLimits>(limits).is_err(),
                "{limits}"
            );
        }
    }

    #[test]
    fn a_burst_is_ten_seconds_worth() {
        let of = |limits: &str| {
            let rate = app(limits).limits.rate();
            rate.map(|(rate, burst)| (rate.get(), burst.get()))
        };
        assert_eq!(of("{}"), None);
        assert_eq!(of(r#"{"requests_per_second": 5}"#), Some((5, 50)));
        assert_eq!(
            of(r#"{"requests_per_second": 5, "burst": 1}"#),
            Some((5, 1))
        );
    }
}
