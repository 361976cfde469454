//! The keyboard shortcuts in words.

/// The keys and their actions, for the help.
pub const SHORTCUTS: [(&[&str], &str); 16] = [
    (&["Ctrl", "K"], "Search everything; on a Mac: ⌘ K"),
    (&["/"], "Filter the list"),
    (&["?"], "Show this help"),
    (&["j"], "Next row; also ↓ on a row"),
    (&["k"], "Previous row; also ↑ on a row"),
    (&["Enter"], "Open the row"),
    (&["x"], "Select the row"),
    (&["p"], "Pause or resume the updates of the list"),
    (&["["], "Previous tab of an object"),
    (&["]"], "Next tab of an object"),
    (&["Esc"], "Leave the filter, close a dialog"),
    (&["g", "l"], "Go to the launchpad"),
    (
        &["g", "c"],
        "Go to the cluster's overview; s: switch the cluster",
    ),
    (&["g", "n"], "Go to namespaces; o: nodes, e: events"),
    (
        &["g", "p"],
        "Go to pods; d: deployments, v: services, k: all kinds",
    ),
    (&["g", "a"], "Go to access; i: authentication"),
];
