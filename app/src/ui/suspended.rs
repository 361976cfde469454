//! Content that waits for data.
use leptos::prelude::*;
use std::future::Future;

/// Returns content for a `Suspense`, as `Suspend::new` does. On the server it is made once.
///
/// The server's `Suspense` polls its content up to three times before it renders it, to look for data that
/// is read synchronously, and drops what it gets. When the data of a page had arrived by then, its content
/// was made several times, and the resources inside it took more numbers than they do in the browser, which
/// makes it once: it did not find their data, and hydration ended with a panic. No page reads data
/// synchronously, so that such a poll needs no content.
#[cfg(feature = "ssr")]
pub fn suspended<V: 'static>(content: impl Future<Output = V> + Send + 'static) -> Suspend<V> {
    use std::task::Poll;

    Suspend::new(async move {
        std::future::poll_fn(|context| {
            // the waker of a look (`now_or_never`) wakes nothing, and has no data
            if context.waker().data().is_null() {
                Poll::Pending
            } else {
                Poll::Ready(())
            }
        })
        .await;
        content.await
    })
}

/// Returns content for a `Suspense`, as `Suspend::new` does. Data that the page brought is ready at the first
/// poll.
#[cfg(not(feature = "ssr"))]
#[inline(always)]
pub fn suspended<V: 'static>(content: impl Future<Output = V> + Send + 'static) -> Suspend<V> {
    Suspend::new(content)
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::suspended;
    use futures::executor::block_on;
    use leptos::prelude::*;
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    #[test]
    fn content_whose_data_is_ready_is_made_once() {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&made);
        let mut content = move || {
            let counter = Arc::clone(&counter);
            suspended(async move {
                counter.fetch_add(1, Ordering::Relaxed);
                "content"
            })
        };
        // as `Suspense` does: once when it is rendered, once when no data is outstanding
        content.dry_resolve();
        content.dry_resolve();
        assert_eq!(made.load(Ordering::Relaxed), 0);
        assert_eq!(block_on(content.resolve()), Some("content"));
        assert_eq!(made.load(Ordering::Relaxed), 1);
    }
}
