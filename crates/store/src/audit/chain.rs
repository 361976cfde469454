//! The hash chain over the audit log (ADR 0011).
//!
//! Each entry has a sequence number and a SHA-256 over the hash before it and its own content, and
//! a seal: an HMAC over that hash with a key of the store. The head names both ends of the chain
//! under a seal of its own, so that entries cannot be cut off unnoticed.
use crate::sealing::{KeyRing, Signature};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::Outcome;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

const FORMAT: &[u8] = b"portico audit entry v1";
const ENTRY: &str = "audit entry";
const HEAD: &str = "audit head";

/// The action of the entry that a writer appends when it finds the head changed by another program.
pub(crate) const BREAK: &str = "audit.break";

/// An entry as it is stored: the texts that its hash covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub id: String,
    pub at_millis: i64,
    /// When the entry joined the chain, if it was written without a place in it.
    pub adopted_millis: Option<i64>,
    pub request_id: Option<String>,
    pub session_id: Option<String>,
    pub user_id: Option<String>,
    pub user_name: Option<String>,
    pub project_id: Option<String>,
    pub cluster_id: Option<String>,
    pub action: String,
    pub target: String,
    pub outcome: String,
    /// JSON, byte for byte as it is stored.
    pub detail: String,
}

/// An entry's place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub sequence: i64,
    pub hash: String,
    pub seal: String,
}

/// Both ends of the chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    /// The newest entry's sequence number and hash; 0 and nothing before the first.
    pub sequence: i64,
    pub hash: String,
    /// Those of the newest entry that retention has removed.
    pub start_sequence: i64,
    pub start_hash: String,
    pub seal: String,
}

impl Record {
    /// Makes the entry that records why the chain was continued at a head that another program has
    /// changed.
    fn of_break(reason: &str, found: Option<&Head>, at_millis: i64) -> Self {
        let found = found.map(|head| json!({ "sequence": head.sequence, "hash": head.hash }));
        Self {
            id: Uuid::new_v4().to_string(),
            at_millis,
            adopted_millis: None,
            request_id: None,
            session_id: None,
            user_id: None,
            user_name: None,
            project_id: None,
            cluster_id: None,
            action: BREAK.to_owned(),
            target: String::new(),
            outcome: Outcome::Failed.as_str().to_owned(),
            detail: json!({ "reason": reason, "found": found }).to_string(),
        }
    }
}

impl Link {
    /// Checks the seal over the entry's hash and content, without the previous entry.
    pub fn check(&self, keys: &KeyRing, record: &Record) -> Signature {
        let text = sealed_text(&self.hash, self.sequence, record);
        keys.check(ENTRY, &text, &self.seal)
    }
}

impl Head {
    /// Appends an entry; the head must be sealed afterwards.
    pub fn extend(&mut self, keys: &KeyRing, record: &Record) -> Link {
        self.sequence += 1;
        self.hash = digest(&self.hash, self.sequence, record);
        Link {
            sequence: self.sequence,
            hash: self.hash.clone(),
            seal: keys.sign(ENTRY, &sealed_text(&self.hash, self.sequence, record)),
        }
    }

    /// Signs both ends with the current key.
    pub fn seal(&mut self, keys: &KeyRing) {
        self.seal = keys.sign(HEAD, &self.text());
    }

    /// Checks the signature over both ends.
    pub fn check(&self, keys: &KeyRing) -> Signature {
        keys.check(HEAD, &self.text(), &self.seal)
    }

    /// Returns whether the chain is new and empty.
    pub fn is_new(&self) -> bool {
        *self == Self::default()
    }

    fn text(&self) -> String {
        format!(
            "{}:{}:{}:{}",
            self.sequence, self.hash, self.start_sequence, self.start_hash
        )
    }

    /// Decides where a writer continues. An unchanged head is continued. A changed one is continued
    /// too, since no entry may be lost, after the newest existing entry (`last`); the returned
    /// record must then be appended first, so that [`super::Audit::verify`] reports the break from
    /// then on.
    pub fn resume(
        found: Option<Self>,
        keys: &KeyRing,
        last: Option<&Link>,
        at_millis: i64,
    ) -> (Self, Option<Record>) {
        let reason = match found.as_ref().map(|head| head.check(keys)) {
            Some(Signature::Valid) => None,
            Some(Signature::Invalid) => Some("the head of the chain was changed"),
            Some(Signature::UnknownKey) => {
                Some("the head of the chain was sealed with a key that is not configured")
            }
            None => Some("the head of the chain was removed"),
        };
        let Some(reason) = reason else {
            return (found.unwrap_or_default(), None);
        };
        tracing::error!(
            reason,
            "the audit log was changed by something else; `portico audit verify` shows where"
        );
        metrics::counter!(super::BREAKS).increment(1);
        let record = Record::of_break(reason, found.as_ref(), at_millis);
        let mut head = found.unwrap_or_default();
        if let Some(last) = last.filter(|last| last.sequence > head.sequence) {
            head.sequence = last.sequence;
            head.hash.clone_from(&last.hash);
        }
        (head, Some(record))
    }
}

/// Returns the text that an entry's seal covers. Without the previous entry, the hash alone would
/// not show that the content was changed.
fn sealed_text(hash: &str, sequence: i64, record: &Record) -> String {
    format!("{hash}:{}", digest("", sequence, record))
}

/// Returns the hash of an entry at its place: SHA-256 over the hash before it and every field, each
/// with its length, so that two entries never have the same encoding.
pub(crate) fn digest(previous: &str, sequence: i64, record: &Record) -> String {
    let sequence = sequence.to_string();
    let at = record.at_millis.to_string();
    let adopted = record.adopted_millis.map(|millis| millis.to_string());
    let fields = [
        Some(previous),
        Some(sequence.as_str()),
        Some(record.id.as_str()),
        Some(at.as_str()),
        adopted.as_deref(),
        record.request_id.as_deref(),
        record.session_id.as_deref(),
        record.user_id.as_deref(),
        record.user_name.as_deref(),
        record.project_id.as_deref(),
        record.cluster_id.as_deref(),
        Some(record.action.as_str()),
        Some(record.target.as_str()),
        Some(record.outcome.as_str()),
        Some(record.detail.as_str()),
    ];
    let mut hash = Sha256::new_with_prefix(FORMAT);
    for field in fields {
        match field {
            None => hash.update([0]),
            Some(text) => {
                hash.update([1]);
                hash.update((text.len() as u64).to_be_bytes());
                hash.update(text);
            }
        }
    }
    URL_SAFE_NO_PAD.encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;
    use secrecy::SecretString;

    fn keys(bytes: &[u8]) -> KeyRing {
        let keys: Vec<SecretString> = bytes
            .iter()
            .map(|byte| SecretString::from(STANDARD.encode([*byte; 32])))
            .collect();
        KeyRing::from_base64(&keys).unwrap()
    }

    fn record(action: &str) -> Record {
        Record {
            action: action.to_owned(),
            ..Record::of_break("", None, 7)
        }
    }

    #[test]
    fn audit_hash_covers_every_field_and_the_place() {
        let one = Record {
            user_id: Some("u1".to_owned()),
            user_name: None,
            ..record("a")
        };
        let hash = digest("", 1, &one);
        assert_eq!(hash, digest("", 1, &one.clone()));
        assert_ne!(hash, digest("x", 1, &one));
        assert_ne!(hash, digest("", 2, &one));
        let changes: [fn(&mut Record); 12] = [
            |r| r.id.push('x'),
            |r| r.at_millis += 1,
            |r| r.adopted_millis = Some(1),
            |r| r.request_id = Some(String::new()),
            |r| r.session_id = Some(String::new()),
            // moved to the next field
            |r| r.user_name = r.user_id.take(),
            |r| r.project_id = Some(String::new()),
            |r| r.cluster_id = Some(String::new()),
            |r| r.action.push('x'),
            |r| r.target.push('x'),
            |r| r.outcome.push('x'),
            |r| r.detail.push(' '),
        ];
        for change in changes {
            let mut other = one.clone();
            change(&mut other);
            assert_ne!(hash, digest("", 1, &other), "{other:?}");
        }
    }

    #[test]
    fn audit_head_that_was_changed_is_continued_with_a_record_of_it() {
        let keys = keys(&[1]);
        let mut head = Head::default();
        let a = record("a");
        let first = head.extend(&keys, &a);
        let second = head.extend(&keys, &record("b"));
        head.seal(&keys);
        assert_eq!(first.check(&keys, &a), Signature::Valid);
        assert_eq!(first.check(&keys, &record("c")), Signature::Invalid);
        let (same, broken) = Head::resume(Some(head.clone()), &keys, Some(&second), 8);
        assert_eq!((same, broken), (head.clone(), None));

        // a program without the keys cuts off the last entry
        let cut = Head {
            sequence: 1,
            hash: first.hash.clone(),
            ..head.clone()
        };
        let (resumed, broken) = Head::resume(Some(cut), &keys, Some(&first), 8);
        assert_eq!(resumed.sequence, 1);
        assert_eq!(broken.unwrap().action, BREAK);
        // a head that was removed: no sequence number is issued twice
        let (resumed, broken) = Head::resume(None, &keys, Some(&second), 8);
        assert_eq!((resumed.sequence, resumed.hash), (2, second.hash));
        assert!(broken.is_some());
    }

    #[test]
    fn audit_head_outlives_a_rotation_of_keys() {
        let old = keys(&[1]);
        let mut head = Head::default();
        head.extend(&old, &record("a"));
        head.seal(&old);
        assert_eq!(head.check(&keys(&[2, 1])), Signature::Valid);
        assert_eq!(head.check(&keys(&[2])), Signature::UnknownKey);
        head.seal(&keys(&[2, 1]));
        assert_eq!(head.check(&keys(&[2])), Signature::Valid);
    }
}
