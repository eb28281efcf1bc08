//! A TCP proxy between the server and its database that can add latency.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
};

#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) address: String,
    delay_ms: Arc<AtomicU64>,
}

impl Wire {
    pub(crate) async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let wire = Self { address: listener.local_addr().unwrap().to_string(), delay_ms: Arc::default() };
        let delay_ms = wire.delay_ms.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let Ok(far) = TcpStream::connect(&target).await else { continue };
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(carry(near_in, far_out, delay_ms.clone()));
                tokio::spawn(carry(far_in, near_out, delay_ms.clone()));
            }
        });
        wire
    }

    /// Sets the additional latency from now on.
    pub(crate) fn delay(&self, time: Duration) {
        self.delay_ms.store(time.as_millis() as u64, Ordering::SeqCst);
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, delay_ms: Arc<AtomicU64>) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n) = from.read(&mut buffer).await {
        let delay = Duration::from_millis(delay_ms.load(Ordering::SeqCst));
        tokio::time::sleep(delay).await;
        if n == 0 || to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}
