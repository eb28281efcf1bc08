//! A TCP proxy between the server and PostgreSQL that drops the n-th reply, or every connection for a while.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicI64, Ordering},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp::OwnedReadHalf, tcp::OwnedWriteHalf},
    sync::Notify,
};

#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) address: String,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// How many replies to statements pass before one is dropped; negative: none is dropped.
    left: AtomicI64,
    is_cut: AtomicBool,
    cut: Notify,
}

impl Wire {
    pub(crate) async fn to(target: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let state = Arc::new(State { left: AtomicI64::new(-1), ..State::default() });
        let wire = Self { address: listener.local_addr().unwrap().to_string(), state };
        let state = wire.state.clone();
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if state.is_cut.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(far) = TcpStream::connect(&target).await else { continue };
                tokio::spawn(forward(near, far, state.clone()));
            }
        });
        wire
    }

    /// Drops the `n`-th reply from now on, and its connection.
    pub(crate) fn lose_reply(&self, n: i64) {
        self.state.left.store(n, Ordering::SeqCst);
    }

    /// Whether the reply was dropped.
    pub(crate) fn has_lost(&self) -> bool {
        self.state.left.load(Ordering::SeqCst) <= 0
    }

    /// Closes every connection and accepts none until `restore`.
    pub(crate) fn cut(&self) {
        self.state.is_cut.store(true, Ordering::SeqCst);
        self.state.cut.notify_waiters();
    }

    pub(crate) fn restore(&self) {
        self.state.is_cut.store(false, Ordering::SeqCst);
    }
}

async fn forward(near: TcpStream, far: TcpStream, state: Arc<State>) {
    near.set_nodelay(true).unwrap();
    far.set_nodelay(true).unwrap();
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    tokio::select! {
        () = to_server(near_in, far_out) => {}
        () = to_client(far_in, near_out, state.clone()) => {}
        () = state.cut.notified() => {}
    }
}

async fn to_server(mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(n) = from.read(&mut buffer).await {
        if n == 0 || to.write_all(&buffer[..n]).await.is_err() {
            return;
        }
    }
}

/// Forwards PostgreSQL messages: a type, a length, a body. Type `C` means that a statement or a commit is done.
async fn to_client(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, state: Arc<State>) {
    let mut head = [0; 5];
    // The answer to a TLS request is a single letter.
    if from.read_exact(&mut head[..1]).await.is_err() || to.write_all(&head[..1]).await.is_err() {
        return;
    }
    while from.read_exact(&mut head).await.is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut message = vec![0; length + 1];
        message[..5].copy_from_slice(&head);
        if from.read_exact(&mut message[5..]).await.is_err() {
            return;
        }
        if head[0] == b'C' && state.left.load(Ordering::SeqCst) > 0 && state.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            return;
        }
        if to.write_all(&message).await.is_err() {
            return;
        }
    }
}
