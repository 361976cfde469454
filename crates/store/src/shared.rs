//! What all repositories of one store use.
use crate::audit::writer::Writer;
use crate::sealing::KeyRing;

/// The keys of a store, and the queue of its audit log.
#[derive(Debug)]
pub(crate) struct Shared {
    pub keys: KeyRing,
    pub audit_writer: Writer,
}

impl Shared {
    pub fn new(keys: KeyRing) -> Self {
        Self {
            keys,
            audit_writer: Writer::default(),
        }
    }
}
