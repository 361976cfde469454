//! `[apps.limits]`: how much one person may ask of an app.
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AppConfig, ConfigError, LimitsConfig};

/// A burst is so many seconds' worth unless it is set: a page may fetch dozens of files at once.
const BURST_SECONDS: u32 = 10;

/// `[apps.limits]`: how much one person may ask of an app. Each process counts for itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AppLimits {
    /// The largest request body, in bytes. Without it `gateway.limits.body` counts alone.
    pub body: Option<u64>,
    /// How many requests a second one user may send, with whatever sessions and tokens, and one
    /// address (an IPv6 address counts as its /64) without any. More are answered with 429.
    /// Without it: any number.
    pub requests_per_second: Option<NonZeroU32>,
    /// How many may come at once. Without it: ten seconds' worth.
    pub burst: Option<NonZeroU32>,
}

impl AppLimits {
    /// How many requests may come a second, and at once.
    pub(crate) fn rate(&self) -> Option<(NonZeroU32, NonZeroU32)> {
        let rate = self.requests_per_second?;
        let burst = NonZeroU32::new(BURST_SECONDS).map_or(rate, |n| rate.saturating_mul(n));
        Some((rate, self.burst.unwrap_or(burst)))
    }
}

pub(super) fn validate(apps: &[AppConfig], all: &LimitsConfig) -> Result<(), ConfigError> {
    for app in apps {
        if app.limits.burst.is_some() && app.limits.requests_per_second.is_none() {
            return Err(ConfigError::BurstAlone(app.id.clone()));
        }
        if app.limits.body.is_some_and(|body| body > all.body) {
            return Err(ConfigError::AppBody(app.id.clone()));
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
    fn limits_that_would_not_hold_are_refused() {
        let all = LimitsConfig::default();
        for (limits, expected) in [
            ("{}", Ok(())),
            (
                r#"{"body": 1000, "requests_per_second": 5, "burst": 1}"#,
                Ok(()),
            ),
            (
                r#"{"burst": 5}"#,
                Err(ConfigError::BurstAlone("logs".to_owned())),
            ),
            (
                r#"{"body": 9000000000}"#,
                Err(ConfigError::AppBody("logs".to_owned())),
            ),
        ] {
            assert_eq!(validate(&[app(limits)], &all), expected, "{limits}");
        }
    }

    #[test]
    fn zero_is_no_rate_and_unknown_keys_are_errors() {
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
