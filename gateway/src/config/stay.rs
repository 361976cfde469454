//! Staying signed in after the end of a Keystone token: whether it is offered, and for how long.
use std::time::Duration;

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SessionConfig;

/// Bounds how long a session can last without a new sign-in.
pub(super) const MAX_STAY_SIGNED_IN: Duration = Duration::from_secs(24 * 3600);

/// Whether users may choose to stay signed in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StaySignedIn {
    /// Sessions end with their Keystone token.
    #[default]
    Off,
    /// The sign-in page offers it as a checkbox.
    Offered,
}

impl SessionConfig {
    /// Returns the maximum duration of a session that stays signed in; `None` where that is not
    /// offered.
    pub(crate) fn stays(&self) -> Option<SignedDuration> {
        match self.stay_signed_in {
            StaySignedIn::Off => None,
            StaySignedIn::Offered => SignedDuration::try_from(self.stay_signed_in_for).ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ConfigError;
    use crate::config::GatewayConfig;

    #[test]
    fn no_session_stays_signed_in_for_more_than_a_day() {
        let mut config: GatewayConfig = serde_json::from_value(serde_json::json!({
            "public_url": "https://a.example",
            "apps_domain": "apps.example",
            "assertion_key_file": "assertion.pem",
            "panel_url": "http://127.0.0.1:9190",
            "panel_sealing_key_file": "panel.pub",
        }))
        .expect("valid shape");
        assert_eq!(config.session.stays(), None, "off unless asked for");
        config.session.stay_signed_in = StaySignedIn::Offered;
        config.session.stay_signed_in_for = MAX_STAY_SIGNED_IN;
        assert_eq!(config.validate(&[]), Ok(()));
        config.session.stay_signed_in_for += Duration::from_secs(1);
        assert_eq!(config.validate(&[]), Err(ConfigError::LongStay));
    }
}
