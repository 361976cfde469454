//! Where the subscriptions of a tab put their messages: bounded, so that a slow browser slows
//! them down instead of filling memory.
use portico_domain::stream::Message;
use tokio::sync::mpsc;

/// Messages that wait for the browser.
const CAPACITY: usize = 64;

/// One subscription's way to the browser.
#[derive(Clone)]
pub struct Outbox(mpsc::Sender<Message>);

/// The browser has gone.
#[derive(Debug)]
pub struct Gone;

impl Outbox {
    pub fn new() -> (Self, mpsc::Receiver<Message>) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        (Self(sender), receiver)
    }

    /// Waits for room.
    pub async fn send(&self, message: Message) -> Result<(), Gone> {
        self.0.send(message).await.map_err(|_| Gone)
    }

    /// Whether a message would have to wait.
    pub fn is_full(&self) -> bool {
        self.0.capacity() == 0
    }
}
