//! The rounds of a run: the answers of the browser's script, and what was measured beside it.
use super::fill::Filled;
use serde::{Deserialize, Serialize};

/// The throttling of the network; the processor is throttled to a quarter in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// 1.6 Mbit/s, 150 ms.
    Slow,
    /// 10 Mbit/s, 40 ms.
    Medium,
}

/// The overview of the cluster, with an empty cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FirstPage {
    pub network: Network,
    /// Bytes as transferred, headers included, of all requests that were sent before the page was
    /// interactive.
    pub bytes: u64,
    pub requests: u64,
    pub fcp_ms: f64,
    pub interactive_ms: f64,
    /// Bytes until the page was idle.
    pub settled_bytes: u64,
    /// `path bytes` of each request.
    pub files: Vec<String>,
}

/// The list of all pods, from the navigation to its first rows.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct FirstRows {
    /// Whether another viewer had the list open, so that Portico had its rows.
    #[serde(default)]
    pub is_shared: bool,
    pub first_rows_ms: f64,
    /// Bytes of the page and its files, which were cached by the browser except in the first round.
    pub bytes: u64,
}

/// A filter or an order, from the input event.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interaction {
    /// Until the rows were painted.
    pub shown_ms: f64,
    /// Between the request for the rows and their arrival, the gateway and the browser's network
    /// stack included.
    pub answer_ms: Option<f64>,
    /// The longest task of more than 50 ms; 0 if there was none.
    pub longest_task_ms: f64,
    /// The text of the number of objects.
    #[serde(default, skip_serializing)]
    pub count: String,
}

/// What a tab occupies after a garbage collection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Memory {
    /// Of JavaScript, without WASM memory.
    pub js_heap_mb: f64,
    pub wasm_mb: f64,
    /// Elements of the document.
    pub dom_nodes: u64,
}

impl Memory {
    pub fn heap_mb(&self) -> f64 {
        self.js_heap_mb + self.wasm_mb
    }
}

/// The list's watch while it has many viewers.
#[derive(Clone, Debug, Serialize)]
pub struct Viewing {
    pub viewers: usize,
    /// Sessions belong to this many users.
    pub users: usize,
    /// Watches of pods at the API server, by its own metrics, more than without viewers.
    pub watches: usize,
    /// By Portico's metrics.
    pub shared_watches: usize,
    /// Memory of Portico, all roles in one process, before the first viewer.
    pub rss_before_mb: f64,
    /// Once a second with all viewers, at first without changes, then with them.
    pub rss_mb: Vec<f64>,
    /// Changes made each second during the second half.
    pub changes_per_second: f64,
    /// Messages to all viewers during these changes.
    pub messages: usize,
}

/// From the request that changes a pod at the API server to the painted row, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct EventToScreen {
    /// While the list has many viewers, and no other changes are made.
    pub quiet_ms: Vec<f64>,
    /// While, besides, other pods change.
    pub busy_ms: Vec<f64>,
}

/// A tab that shows a list in which pods change.
#[derive(Clone, Debug, Serialize)]
pub struct Changing {
    pub seconds: u64,
    pub per_second: f64,
    /// At the start, then once a minute.
    pub memory: Vec<Memory>,
}

/// A followed log since the sample before: what of it arrived and is shown, and what the tab occupies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LogSample {
    /// From the last message of the sample before to the last one of this.
    pub seconds: f64,
    /// Lines that the container printed meanwhile, by their numbers.
    pub printed: u64,
    pub received: u64,
    /// Lines that Portico dropped because the browser was slower, as it reports them to the page.
    pub skipped: u64,
    /// The number of the newest line that arrived.
    pub newest: u64,
    /// The number of the newest line on the page.
    pub newest_shown: u64,
    /// Lines in the document.
    pub lines_shown: u64,
    /// The longest time between two messages with lines.
    pub longest_silence_ms: f64,
    /// 99 of 100 frames took no longer, since the first sample; in whole milliseconds.
    pub frame_p99_ms: f64,
    pub longest_frame_ms: f64,
    /// Frames of more than 50 ms.
    pub slow_frames: u64,
    /// Every task of more than 50 ms.
    pub long_tasks_ms: Vec<f64>,
    /// After a garbage collection.
    pub memory: Memory,
    /// Resident memory of the tab's process, before it.
    pub tab_rss_mb: f64,
}

/// A tab that follows a log.
#[derive(Clone, Debug, Serialize)]
pub struct Following {
    pub seconds: u64,
    /// At even intervals.
    pub samples: Vec<LogSample>,
    /// Memory of Portico, all roles in one process, once a second.
    pub server_rss_mb: Vec<f64>,
}

/// Everything that a run has measured of lists and the first page.
pub struct Figures {
    pub browser: String,
    pub filled: Filled,
    pub first_pages: Vec<FirstPage>,
    pub first_rows: Vec<FirstRows>,
    pub filters: Vec<Interaction>,
    pub sorts: Vec<Interaction>,
    pub memory: Memory,
    pub viewing: Viewing,
    pub event_to_screen: EventToScreen,
    pub changing: Changing,
}
