//! The script groups. A script that the server does not know yet is loaded first.
use ::redis::Script;
use std::sync::LazyLock;

macro_rules! group {
    ($name:ident, $file:literal) => {
        pub(super) static $name: LazyLock<Script> = LazyLock::new(|| {
            Script::new(concat!(
                include_str!("scripts/entries.lua"),
                include_str!(concat!("scripts/", $file)),
            ))
        });
    };
}

group!(SESSIONS, "sessions.lua");
group!(KEYSTONE_TOKENS, "keystone_tokens.lua");
group!(SIGN_IN, "sign_in.lua");
group!(BROWSER_SESSIONS, "browser_sessions.lua");
group!(CODES, "codes.lua");
group!(DEVICES, "devices.lua");
group!(AUDIT, "audit.lua");
group!(PROVIDER_TOKENS, "provider_tokens.lua");
group!(CHANGES, "changes.lua");
group!(CREDENTIALS, "credentials.lua");
group!(NAMESPACE_CANDIDATES, "namespace_candidates.lua");
group!(SWEEP, "sweep.lua");
