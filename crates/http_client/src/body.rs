//! Reads the body of a response into memory, with a limit. The `Content-Length` header is ignored, because a server may
//! send more than it announces.

use reqwest::Response;

/// The complete body. `None` if it is larger than `max_bytes`.
pub async fn read_at_most(mut response: Response, max_bytes: usize) -> reqwest::Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > max_bytes {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The first `max_bytes` of a body, for the reason in the body of an error. If the connection breaks, the part received
/// so far.
pub async fn read_start(mut response: Response, max_bytes: usize) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < max_bytes
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(max_bytes);
    body
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;
    use crate::client_builder;

    /// The response of a server that announces `announced` bytes, sends `body` and closes the connection.
    async fn response(announced: usize, body: &'static str) -> Response {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move {
            let (mut connection, _) = listener.accept().await.unwrap();
            let _request = connection.read(&mut [0; 4096]).await.unwrap();
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {announced}\r\n\r\n{body}");
            connection.write_all(answer.as_bytes()).await.unwrap();
        });
        client_builder().build().unwrap().get(url).send().await.unwrap()
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit_and_refused_above_it() {
        assert_eq!(read_at_most(response(5, "12345").await, 5).await.unwrap().unwrap(), b"12345");
        assert_eq!(read_at_most(response(5, "12345").await, 4).await.unwrap(), None);
        assert!(read_at_most(response(9, "12345").await, 9).await.is_err(), "the connection breaks");
    }

    #[tokio::test]
    async fn the_start_of_a_body_is_all_that_arrived_up_to_the_limit() {
        assert_eq!(read_start(response(5, "12345").await, 3).await, b"123");
        assert_eq!(read_start(response(9, "12345").await, 9).await, b"12345", "the connection breaks");
    }
}
