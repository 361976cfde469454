//! The guarantees for connections to a backend, whichever library implements them.
use super::*;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody};
use std::sync::{Arc, atomic::AtomicUsize};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::oneshot,
};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// How many connections a server has accepted, and how many of them are open.
#[derive(Clone, Default)]
struct Counts {
    accepted: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
}

impl Counts {
    fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// Waits until this many connections are open.
    async fn settle(&self, open: usize) {
        let settled = async {
            while self.open.load(Ordering::SeqCst) != open {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let settled = tokio::time::timeout(Duration::from_secs(5), settled).await;
        assert!(settled.is_ok(), "{:?} are open", self.open);
    }
}

/// A server that sends this for each piece of a request, as often as given on each connection, and
/// then closes it.
async fn server(answer: &'static [u8], times: usize) -> (Backend, Counts) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    let counts = Counts::default();
    let counted = counts.clone();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("accepted");
            counted.accepted.fetch_add(1, Ordering::SeqCst);
            counted.open.fetch_add(1, Ordering::SeqCst);
            let open = Arc::clone(&counted.open);
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                for _ in 0..times {
                    if stream.read(&mut buffer).await.unwrap_or(0) == 0 {
                        break;
                    }
                    let _ = stream.write_all(answer).await;
                }
                drop(stream);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    (backend(&url), counts)
}

fn backend(url: &str) -> Backend {
    let url = url::Url::parse(url).expect("url");
    let options = ClientOptions {
        protocol: Protocol::Auto,
        connect: Duration::from_secs(5),
        keep_alive: KEEP_ALIVE,
        response_headers: 8 << 10,
    };
    Backend::new(Address::of(&url).expect("address"), None, &options)
}

/// A server that handles its first connection as configured.
async fn first_connection<F>(serve: impl FnOnce(TcpStream) -> F + Send + 'static) -> Backend
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("http://{}", listener.local_addr().expect("address"));
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("accepted");
        serve(stream).await;
    });
    backend(&url)
}

fn request(method: Method, body: Body) -> Request<Body> {
    let request = Request::builder().method(method).uri("http://a.example/");
    let request = request.header("host", "a.example");
    request.body(body).expect("a request")
}

fn get() -> Request<Body> {
    request(Method::GET, Body::empty())
}

async fn send(backend: &Backend, request: Request<Body>) -> Response<Incoming> {
    let sent = backend.request(request, false).await.expect("HTTP/1.1");
    sent.expect("a response")
}

async fn read(response: Response<Incoming>) -> Bytes {
    response.collect().await.expect("a body").to_bytes()
}

async fn ask(backend: &Backend) {
    assert_eq!(read(send(backend, get()).await).await, "ok");
    // a server that closes its connection is given the time to
    tokio::time::sleep(Duration::from_millis(20)).await;
}

#[tokio::test]
async fn a_connection_serves_one_request_after_the_other() {
    let (backend, counts) = server(ANSWER, 100).await;
    for _ in 0..5 {
        ask(&backend).await;
    }
    assert_eq!(counts.accepted(), 1);
}

#[tokio::test]
async fn one_that_the_server_has_closed_is_not_used_again() {
    let (backend, counts) = server(ANSWER, 1).await;
    for _ in 0..3 {
        ask(&backend).await;
    }
    assert_eq!(counts.accepted(), 3);
}

#[tokio::test]
async fn two_requests_at_once_have_a_connection_each() {
    let (backend, counts) = server(ANSWER, 100).await;
    tokio::join!(ask(&backend), ask(&backend));
    assert_eq!(counts.accepted(), 2);
}

#[tokio::test]
async fn an_unsolicited_response_is_given_to_no_request() {
    let twice = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok\
                  HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged";
    let (backend, counts) = server(twice, 100).await;
    for _ in 0..3 {
        ask(&backend).await;
    }
    assert_eq!(counts.accepted(), 3);
    counts.settle(0).await;
}

#[tokio::test]
async fn a_response_that_is_dropped_before_its_end_closes_its_connection() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
    let (backend, counts) = server(half, 100).await;
    let response = send(&backend, get()).await;
    counts.settle(1).await;
    drop(response);
    counts.settle(0).await;
}

#[tokio::test]
async fn an_idle_connection_is_reused_within_keep_alive_only() {
    let (backend, counts) = server(ANSWER, 100).await;
    ask(&backend).await;
    tokio::time::pause();
    tokio::time::advance(KEEP_ALIVE - Duration::from_secs(1)).await;
    tokio::time::resume();
    ask(&backend).await;
    assert_eq!(counts.accepted(), 1);
    tokio::time::pause();
    tokio::time::advance(KEEP_ALIVE + Duration::from_secs(1)).await;
    tokio::time::resume();
    ask(&backend).await;
    assert_eq!(counts.accepted(), 2);
    // unused ones are closed without a further request
    for _ in 0..2 {
        tokio::time::pause();
        tokio::time::advance(KEEP_ALIVE + Duration::from_secs(1)).await;
        tokio::time::resume();
    }
    counts.settle(0).await;
}

#[tokio::test]
async fn a_refused_connection_has_sent_nothing() {
    let backend = backend("http://127.0.0.1:9");
    let asked = backend.request(get(), false).await;
    assert!(
        matches!(asked, Some(Err(RequestError::Unsent(_)))),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_server_that_closes_its_first_connection_may_have_seen_the_request() {
    let (backend, _) = server(b"", 1).await;
    let asked = backend.request(get(), false).await;
    assert!(
        matches!(asked, Some(Err(RequestError::Broken(_)))),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_response_may_arrive_in_pieces() {
    let backend = first_connection(|mut stream| async move {
        let _ = stream.read(&mut [0; 4096]).await;
        for piece in [
            "HTTP/1.1 200 OK\r\n",
            "content-length: 6\r\n\r\n",
            "ab",
            "cd",
            "ef",
        ] {
            // two pieces without a pause would arrive as one
            tokio::time::sleep(Duration::from_millis(20)).await;
            stream.write_all(piece.as_bytes()).await.expect("written");
        }
    })
    .await;
    assert_eq!(read(send(&backend, get()).await).await, "abcdef");
}

#[tokio::test]
async fn a_request_may_have_more_than_100_headers() {
    let (received, head) = oneshot::channel();
    let backend = first_connection(|mut stream| async move {
        let (mut head, mut buffer) = (Vec::<u8>::new(), [0; 4096]);
        while !head.ends_with(b"\r\n\r\n") {
            let read = stream.read(&mut buffer).await.expect("a head");
            assert!(read > 0, "the head ended early");
            head.extend_from_slice(&buffer[..read]);
        }
        let _ = received.send(String::from_utf8(head).expect("text"));
        stream.write_all(ANSWER).await.expect("written");
    })
    .await;
    let mut request = get();
    for number in 0..150_u32 {
        let name = HeaderName::try_from(format!("x-{number}")).expect("a name");
        request
            .headers_mut()
            .insert(name, HeaderValue::from(number));
    }
    assert_eq!(read(send(&backend, request).await).await, "ok");
    let head = head.await.expect("a head");
    assert_eq!(head.matches("\r\nx-").count(), 150, "{head}");
}

#[tokio::test]
async fn a_response_has_at_most_100_headers() {
    // besides the length
    for (others, is_accepted) in [(99, true), (100, false)] {
        let others: String = (0..others).map(|n| format!("x-{n}: {n}\r\n")).collect();
        let answer = format!("HTTP/1.1 200 OK\r\n{others}content-length: 2\r\n\r\nok");
        let (backend, _) = server(answer.into_bytes().leak(), 100).await;
        let sent = backend.request(get(), false).await.expect("HTTP/1.1");
        match sent {
            Ok(response) => {
                assert!(is_accepted, "{response:?}");
                assert_eq!(response.headers().len(), 100);
            }
            Err(RequestError::Broken(error)) => {
                assert!(!is_accepted, "{error:?}");
                let cause = error.source().and_then(|cause| cause.downcast_ref());
                let is_too_large = cause.is_some_and(hyper::Error::is_parse_too_large);
                assert!(is_too_large, "{error:?}");
            }
            Err(error @ RequestError::Unsent(_)) => panic!("{error:?}"),
        }
    }
}

#[tokio::test]
async fn a_response_may_end_with_its_connection() {
    let (backend, counts) = server(b"HTTP/1.0 200 OK\r\n\r\nto the end", 1).await;
    for accepted in 1..3 {
        assert_eq!(read(send(&backend, get()).await).await, "to the end");
        assert_eq!(counts.accepted(), accepted);
    }
}

#[tokio::test]
async fn a_truncated_response_is_an_error() {
    let half = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf";
    let (backend, _) = server(half, 1).await;
    let mut body = send(&backend, get()).await.into_body();
    let mut frames = Vec::new();
    while let Some(frame) = body.frame().await {
        frames.push(frame.is_ok());
    }
    assert_eq!(frames, [true, false]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_requests_all_get_their_responses() {
    let (backend, _) = server(ANSWER, usize::MAX).await;
    let backend = Arc::new(backend);
    let tasks = (0..16).map(|_| {
        let backend = Arc::clone(&backend);
        tokio::spawn(async move {
            for _ in 0..100 {
                assert_eq!(read(send(&backend, get()).await).await, "ok");
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.expect("no panic");
    }
}

#[tokio::test]
async fn a_connection_is_reused_after_a_request_with_a_body() {
    let (backend, counts) = server(ANSWER, 100).await;
    for _ in 0..3 {
        let body = Body::new(Full::from("a body"));
        assert_eq!(
            read(send(&backend, request(Method::POST, body)).await).await,
            "ok"
        );
        // until the connection is back in the pool, which shows nowhere
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(counts.accepted(), 1);
}

#[tokio::test]
async fn a_connection_with_the_body_of_a_get_is_not_used_again() {
    for (method, answer) in [
        (Method::GET, ANSWER),
        (
            Method::HEAD,
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n",
        ),
    ] {
        // the server keeps the connection open
        let (backend, counts) = server(answer, 100).await;
        for accepted in 1..4 {
            let body = Body::new(Full::from("a body"));
            read(send(&backend, request(method.clone(), body)).await).await;
            assert_eq!(counts.accepted(), accepted, "{method}");
            counts.settle(0).await;
        }
    }
}

#[tokio::test]
async fn over_http_2_a_get_with_a_body_leaves_the_connection_to_others() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
    let url = format!("h2c://{}", listener.local_addr().expect("address"));
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&accepted);
    let listener = listener.tap_io(move |_| {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let router = axum::Router::new().fallback(|body: Bytes| async { body });
    tokio::spawn(axum::serve(listener, router).into_future());
    let backend = backend(&url);
    for _ in 0..3 {
        let body = Body::new(Full::from("a body"));
        let mut request = request(Method::GET, body);
        request.headers_mut().remove("host");
        assert_eq!(read(send(&backend, request).await).await, "a body");
    }
    assert_eq!(accepted.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_body_is_sent_while_the_response_is_not_read() {
    const LENGTH: usize = 8 << 20;
    let (received, all) = oneshot::channel();
    let backend = first_connection(|mut stream| async move {
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
    let response = send(&backend, request(Method::POST, body)).await;
    let count = tokio::time::timeout(Duration::from_secs(10), all).await;
    assert!(count.expect("all came").expect("counted") >= LENGTH);
    drop(response);
}

#[tokio::test]
async fn an_abandoned_request_closes_its_connection() {
    for body in [Body::empty(), Body::new(Full::from("a body"))] {
        let (closed, is_closed) = oneshot::channel();
        let backend = first_connection(|mut stream| async move {
            while stream.read(&mut [0; 4096]).await.unwrap_or(0) > 0 {}
            let _ = closed.send(());
        })
        .await;
        let sent = backend.request(request(Method::POST, body), false);
        let waited = tokio::time::timeout(Duration::from_millis(50), sent).await;
        assert!(waited.is_err(), "there was an answer");
        let closed = tokio::time::timeout(Duration::from_secs(5), is_closed).await;
        assert!(closed.is_ok_and(|closed| closed.is_ok()));
    }
}
