use super::*;
use crate::upstream::address::Address;
use http_body_util::{Full, StreamBody};
use std::{
    future::poll_fn,
    sync::atomic::{AtomicUsize, Ordering},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

/// A server that answers so many requests on each connection, then closes it.
async fn server(each: usize) -> (ConnectionPool, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&accepted);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                for _ in 0..each {
                    if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
                        return;
                    }
                    let _ = stream.write_all(ANSWER).await;
                }
            });
        }
    });
    (pool(&url), accepted)
}

fn pool(url: &str) -> ConnectionPool {
    let url = url::Url::parse(url).expect("url");
    let address = Address::of(&url).expect("address");
    let connector = Connector::new(address.way, None, Duration::from_secs(5), true);
    ConnectionPool::new(connector, 16 << 10, Duration::from_millis(400))
}

/// A server that handles its first connection as configured.
async fn first_connection<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> ConnectionPool
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("accepted");
        serve(stream).await;
    });
    pool(&url)
}

/// Reads an answer to its end, and gives its connection back.
async fn read(answered: Answered) -> Vec<u8> {
    let (response, mut lease) = answered.expect("an answer");
    let mut body = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| lease.poll_frame(&mut body, context)).await {
        bytes.extend_from_slice(&frame.expect("a frame").into_data().expect("data"));
    }
    bytes
}

async fn ask(pool: &ConnectionPool) {
    let answered = pool.request(Request::new(Body::empty())).await;
    assert_eq!(read(answered).await, b"ok");
    // a server that closes its connection is given the time to
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let (pool, accepted) = server(100).await;
    for _ in 0..5 {
        ask(&pool).await;
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
    assert_eq!(pool.0.idle.lock().len(), 1);
}

#[tokio::test]
async fn one_that_the_server_has_closed_is_not_used_again() {
    let (pool, accepted) = server(1).await;
    for _ in 0..3 {
        ask(&pool).await;
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn two_requests_at_once_have_a_connection_each() {
    let (pool, accepted) = server(100).await;
    tokio::join!(ask(&pool), ask(&pool));
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
    assert_eq!(pool.0.idle.lock().len(), 2);
}

#[tokio::test]
async fn an_answer_that_is_not_read_to_its_end_takes_its_connection_along() {
    let (pool, accepted) = server(100).await;
    let answered = pool.request(Request::new(Body::empty())).await;
    drop(answered.expect("an answer"));
    ask(&pool).await;
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
    assert_eq!(pool.0.idle.lock().len(), 1);
}

#[tokio::test]
async fn none_is_kept_for_longer_than_it_may() {
    let (pool, accepted) = server(100).await;
    ask(&pool).await;
    tokio::time::sleep(Duration::from_millis(450)).await;
    ask(&pool).await;
    assert_eq!(accepted.load(Ordering::SeqCst), 2);
    tokio::time::sleep(Duration::from_millis(450)).await;
    pool.prune();
    assert!(pool.0.idle.lock().is_empty());
}

#[tokio::test]
async fn a_server_that_is_not_there_has_seen_nothing() {
    let pool = pool("http://127.0.0.1:9");
    let asked = pool.request(Request::new(Body::empty())).await;
    assert!(matches!(asked, Err(RequestError::Unsent(_))), "{asked:?}");
}

#[tokio::test]
async fn a_server_that_has_closed_an_idle_connection_is_heard_without_a_request() {
    let (pool, _) = server(1).await;
    ask(&pool).await;
    pool.prune();
    assert!(pool.0.idle.lock().is_empty());
}

#[tokio::test]
async fn an_answer_that_comes_bit_by_bit_is_waited_for() {
    let pool = first_connection(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        for piece in [
            "HTTP/1.1 200 OK\r\n",
            "content-length: 6\r\n\r\n",
            "ab",
            "cd",
            "ef",
        ] {
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.write_all(piece.as_bytes()).await.expect("written");
        }
    })
    .await;
    let answered = pool.request(Request::new(Body::empty())).await;
    assert_eq!(read(answered).await, b"abcdef");
}

#[tokio::test]
async fn an_answer_may_last_until_its_connection_ends() {
    let pool = first_connection(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let answer = b"HTTP/1.0 200 OK\r\n\r\nto the end";
        stream.write_all(answer).await.expect("written");
    })
    .await;
    let answered = pool.request(Request::new(Body::empty())).await;
    assert_eq!(read(answered).await, b"to the end");
    assert!(pool.0.idle.lock().is_empty());
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_an_error() {
    let pool = first_connection(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
        stream.write_all(answer).await.expect("written");
    })
    .await;
    let answered = pool.request(Request::new(Body::empty())).await;
    let (response, mut lease) = answered.expect("a head");
    let mut body = response.into_body();
    let mut frames = Vec::new();
    while let Some(frame) = poll_fn(|context| lease.poll_frame(&mut body, context)).await {
        frames.push(frame.is_ok());
    }
    assert_eq!(frames, [true, false]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_goes_from_task_to_task() {
    let (pool, accepted) = server(1000).await;
    let pool = Arc::new(pool);
    for _ in 0..200 {
        let pool = Arc::clone(&pool);
        let asked = tokio::spawn(async move {
            let answered = pool.request(Request::new(Body::empty())).await;
            read(answered).await
        });
        assert_eq!(asked.await.expect("no panic"), b"ok");
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_all_get_their_answers() {
    let (pool, _) = server(usize::MAX).await;
    let pool = Arc::new(pool);
    let tasks = (0..16).map(|_| {
        let pool = Arc::clone(&pool);
        tokio::spawn(async move {
            for _ in 0..100 {
                let answered = pool.request(Request::new(Body::empty())).await;
                assert_eq!(read(answered).await, b"ok");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("no panic");
    }
}

#[tokio::test]
async fn a_request_with_a_body_gives_its_connection_back() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let pool = pool(&format!(
        "http://{}",
        listener.local_addr().expect("address")
    ));
    let router = axum::Router::new().fallback(|body: bytes::Bytes| async { body });
    tokio::spawn(axum::serve(listener, router).into_future());
    for round in 0..3 {
        let body = Body::new(Full::from(format!("round {round}")));
        let mut request = Request::post("/").body(body).expect("a request");
        request
            .headers_mut()
            .insert("host", http::HeaderValue::from_static("localhost"));
        let answered = pool.request(request).await;
        assert_eq!(read(answered).await, format!("round {round}").as_bytes());
        // its task is notified that the answer was read
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert_eq!(pool.0.idle.lock().len(), 1, "one connection for all");
    }
}

#[tokio::test]
async fn a_body_is_sent_while_the_answer_is_not_read() {
    const LENGTH: usize = 8 << 20;
    let (received, all) = oneshot::channel();
    let pool = first_connection(|mut stream| async move {
        let mut buffer = vec![0; 64 << 10];
        let first = stream.read(&mut buffer).await.expect("a head");
        assert!(first > 0);
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {LENGTH}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.expect("written");
        let mut count = first;
        while count < LENGTH {
            match stream.read(&mut buffer).await.unwrap_or(0) {
                0 => break,
                more => count += more,
            }
        }
        let _ = received.send(count);
        std::future::pending::<()>().await;
    })
    .await;
    let pieces =
        (0..128).map(|_| Ok::<_, BoxError>(Frame::data(Bytes::from(vec![b'x'; 64 << 10]))));
    let body = Body::new(StreamBody::new(futures::stream::iter(pieces)));
    let request = Request::post("/").body(body).expect("a request");
    let answered = pool.request(request).await.expect("a head");
    let count = tokio::time::timeout(Duration::from_secs(10), all).await;
    assert!(count.expect("all came").expect("counted") >= LENGTH);
    drop(answered);
}

#[tokio::test]
async fn an_abandoned_request_closes_its_connection() {
    for body in [Body::empty(), Body::new(Full::from("a body"))] {
        let (closed, is_closed) = oneshot::channel();
        let pool = first_connection(|mut stream| async move {
            while stream.read(&mut [0; 4096]).await.unwrap_or(0) > 0 {}
            let _ = closed.send(());
        })
        .await;
        let request = Request::new(body);
        let waited = tokio::time::timeout(Duration::from_millis(50), pool.request(request)).await;
        assert!(waited.is_err(), "there was an answer");
        let closed = tokio::time::timeout(Duration::from_secs(5), is_closed).await;
        assert!(closed.is_ok_and(|closed| closed.is_ok()));
    }
}
