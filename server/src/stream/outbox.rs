//! The bounded queue for the messages of a tab's subscriptions: a slow browser slows them down
//! instead of filling memory.
use portico_domain::stream::Message;
use tokio::sync::mpsc;

/// Maximum number of messages that wait for the browser.
const MAX_QUEUED_MESSAGES: usize = 64;

/// One subscription's sender to the browser.
#[derive(Clone)]
pub struct Outbox(mpsc::Sender<Message>);

/// The browser has disconnected.
#[derive(Debug)]
pub struct Gone;

impl Outbox {
    pub fn new() -> (Self, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_MESSAGES);
        (Self(sender), receiver)
    }

    /// Sends a message; waits while the queue is full.
    pub async fn send(&self, message: Message) -> Result<(), Gone> {
        self.0.send(message).await.map_err(|_| Gone)
    }

    /// Returns whether a message would have to wait.
    pub fn is_full(&self) -> bool {
        self.0.capacity() == 0
    }
}
