//! One snapshot for each page: what it has inside of the layout. The document around them, and pages
//! as they are sent, are compared in `gateway/tests/http`.

/// Compares a page with its snapshot.
macro_rules! assert_page {
    ($name:literal, $page:expr) => {{
        let page: $crate::pages::layout::Page = $page;
        portico_testkit::snapshot_settings().bind(|| {
            insta::assert_snapshot!($name, page.snapshot());
        });
    }};
}

mod apps;
mod command_line;
mod error_response;
mod sessions;
mod sign_in;
