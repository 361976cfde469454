//! The key that signs identity, and the previous one, whose public key stays published until every
//! assertion signed with it has expired.
use std::sync::Arc;

use parking_lot::Mutex;
use portico_assertion::Signer;
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Signing {
    current: Mutex<Arc<Signer>>,
    before: Mutex<Option<Arc<Signer>>>,
}

impl Signing {
    pub fn new(signer: Signer) -> Self {
        Self {
            current: Mutex::new(Arc::new(signer)),
            before: Mutex::default(),
        }
    }

    pub fn now(&self) -> Arc<Signer> {
        Arc::clone(&self.current.lock())
    }

    /// Signs with another key from now on.
    pub fn replace(&self, signer: Signer) {
        let mut current = self.current.lock();
        let before = std::mem::replace(&mut *current, Arc::new(signer));
        *self.before.lock() = Some(before);
    }

    /// Returns the public keys, the current one's first.
    pub fn jwks(&self) -> Value {
        let before = self.before.lock().clone();
        let keys: Vec<Value> = std::iter::once(self.now())
            .chain(before)
            .filter_map(|signer| signer.jwks()["keys"].as_array().cloned())
            .flatten()
            .collect();
        json!({ "keys": keys })
    }
}
