//! The running Keystone, and the accounts in it.
use std::time::{SystemTime, UNIX_EPOCH};

use hmac::{Hmac, Mac as _};
use portico_testkit::TestEnv;
use sha1::Sha1;

use crate::{
    database::Database,
    stack::{Stack, Wanted},
};

pub struct Running {
    pub env: TestEnv,
    pub stack: Stack,
    pub acme: String,
}

/// Starts a gateway in front of the stack's Keystone.
pub async fn running() -> Running {
    running_with(serde_json::json!({})).await
}

/// Does the same with other settings in `[gateway]`.
pub async fn running_with(gateway: serde_json::Value) -> Running {
    running_for(gateway, &[]).await
}

/// Does the same with an app that accepts these bearer tokens.
pub async fn running_for(gateway: serde_json::Value, bearer: &[&str]) -> Running {
    running_at(Database::FromEnvironment, gateway, bearer).await
}

/// Does the same with the given store.
pub async fn running_at(
    database: Database<'_>,
    gateway: serde_json::Value,
    bearer: &[&str],
) -> Running {
    let env = TestEnv::load().expect("the stack's env file");
    let acme = env.get("PROJECT_ID_ACME").expect("acme").to_owned();
    let wanted = Wanted {
        keystone: env.get("KEYSTONE_URL").expect("address"),
        project: &acme,
        gateway,
        bearer,
        database,
        ..Wanted::default()
    };
    let stack = Stack::start(wanted).await;
    Running { env, stack, acme }
}

impl Running {
    pub fn password(&self) -> &str {
        self.env.get("DEMO_PASSWORD").expect("password")
    }
}

/// Returns the code that an authenticator app shows now (RFC 6238).
pub fn totp(secret: &str) -> String {
    let key = base32(secret);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("clock");
    let counter = now.as_secs() / 30;
    let mut mac = Hmac::<Sha1>::new_from_slice(&key).expect("any length");
    mac.update(&counter.to_be_bytes());
    let digest = mac.finalize().into_bytes();
    let at = usize::from(digest[19] & 0xf);
    let word = u32::from_be_bytes(digest[at..at + 4].try_into().expect("four bytes"));
    format!("{:06}", (word & 0x7fff_ffff) % 1_000_000)
}

fn base32(text: &str) -> Vec<u8> {
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::new());
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'2'..=b'7' => letter - b'2' + 26,
            _ => continue,
        };
        bits = (bits << 5) | u32::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    out
}
