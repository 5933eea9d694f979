//! A responder to `GET /metrics` by HTTP/1.1, and to nothing else: few clients, short requests, little time.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use httparse::{Request, Status, EMPTY_HEADER};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::metrics::CONTENT_TYPE;
use super::output::Problem;

/// Clients at once; others wait to be accepted.
const MOST_CLIENTS: usize = 8;
/// Bytes of a request's head.
const MOST_BYTES: usize = 8192;
/// Headers of a request.
const MOST_HEADERS: usize = 64;
/// The time that a client has for all of a request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time before another client is accepted when there are too few descriptors.
const PAUSE: Duration = Duration::from_millis(100);

/// Opens the socket of the metrics, if an address is given. Must be called within a runtime.
pub async fn bind(metrics: Option<SocketAddr>) -> Result<Option<TcpListener>, Problem> {
    let Some(at) = metrics else { return Ok(None) };
    let remedy = "take an address of this host and a port that is free";
    let bound = TcpListener::bind(at).await;
    bound.map(Some).map_err(|error| Problem::new(format!("metrics: {at}: {error}"), remedy))
}

/// Answers requests with the page that `page` makes, for as long as it is polled.
pub async fn serve(listener: TcpListener, page: impl Fn() -> String + Send + Sync + 'static) {
    let (page, clients) = (Arc::new(page), Arc::new(Semaphore::new(MOST_CLIENTS)));
    loop {
        let Ok(room) = clients.clone().acquire_owned().await else { return };
        let Ok((mut client, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let page = page.clone();
        tokio::spawn(async move {
            // Who is slow or gone gets no answer.
            let _ = tokio::time::timeout(PATIENCE, answer(&mut client, &*page)).await;
            drop(room);
        });
    }
}

async fn answer(client: &mut TcpStream, page: &(impl Fn() -> String + Sync)) -> io::Result<()> {
    let mut head = Vec::new();
    let answer = loop {
        if client.read_buf(&mut head).await? == 0 {
            return Ok(());
        }
        if let Some(answer) = answer_to(&head, page) {
            break answer;
        }
    };
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await?;
    // What a client goes on sending is read, or its end of the connection would be reset before it has read the answer.
    let mut rest = [0; 1024];
    while client.read(&mut rest).await? > 0 {}
    Ok(())
}

/// The answer to a request that begins so; none while its head is not whole.
fn answer_to(head: &[u8], page: &impl Fn() -> String) -> Option<String> {
    let mut headers = [EMPTY_HEADER; MOST_HEADERS];
    let mut request = Request::new(&mut headers);
    match request.parse(head) {
        Ok(Status::Partial) if head.len() < MOST_BYTES => return None,
        Ok(Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Some(refusal("431 Request Header Fields Too Large"))
        }
        Err(_) => return Some(refusal("400 Bad Request")),
        Ok(Status::Complete(_)) => {}
    }
    let path = request.path.unwrap_or_default().split('?').next().unwrap_or_default();
    Some(match (request.method.unwrap_or_default(), path) {
        ("GET", "/metrics") => whole("200 OK", CONTENT_TYPE, &page(), true),
        ("HEAD", "/metrics") => whole("200 OK", CONTENT_TYPE, &page(), false),
        ("GET" | "HEAD", _) => refusal("404 Not Found"),
        _ => refusal("405 Method Not Allowed"),
    })
}

fn refusal(status: &str) -> String {
    let allow = "only GET /metrics is answered\n";
    whole(status, "text/plain; charset=utf-8", allow, true)
}

fn whole(status: &str, kind: &str, body: &str, with_body: bool) -> String {
    let length = body.len();
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let body = if with_body { body } else { "" };
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}Connection: close\r\n\r\n{body}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(request: &str) -> Option<String> {
        let answer = answer_to(request.as_bytes(), &|| "page\n".to_string())?;
        Some(answer.lines().next()?.to_string())
    }

    #[test]
    fn metrics_are_answered_and_nothing_else() {
        let whole =
            answer_to(b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", &|| "page\n".to_string()).unwrap();
        assert!(whole.ends_with("Content-Length: 5\r\nConnection: close\r\n\r\npage\n"), "{whole}");
        let head = answer_to(b"HEAD /metrics HTTP/1.0\r\n\r\n", &|| "page\n".to_string()).unwrap();
        assert!(head.contains("Content-Length: 5\r\n") && head.ends_with("\r\n\r\n"), "{head}");
        for (request, code) in [
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("GET /metrics/../x HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("\u{1}\r\n\r\n", "400 Bad Request"),
        ] {
            assert_eq!(status(request), Some(format!("HTTP/1.1 {code}")), "{request:?}");
        }
    }

    /// Whatever comes is waited for or answered, with the page or a refusal.
    #[test]
    fn no_request_is_too_strange() {
        let request = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";
        for at in 0..request.len() {
            for byte in 0..=u8::MAX {
                let mut changed = request.to_vec();
                changed[at] = byte;
                let answer = answer_to(&changed, &|| "page\n".to_string());
                assert!(answer.is_none_or(|answer| answer.starts_with("HTTP/1.1 ")), "{changed:?}");
            }
        }
    }

    #[test]
    fn a_head_that_is_not_whole_is_waited_for_and_one_that_is_too_long_is_refused() {
        assert_eq!(status("GET /metrics HTTP/1.1\r\nHost: "), None);
        let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "a".repeat(MOST_BYTES));
        let refused = Some("HTTP/1.1 431 Request Header Fields Too Large".to_string());
        assert_eq!(status(&long), refused);
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "X: a\r\n".repeat(MOST_HEADERS + 1));
        assert_eq!(status(&many), refused);
    }
}
