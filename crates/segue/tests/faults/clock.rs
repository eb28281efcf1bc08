//! Clocks that jump, and clocks that are wrong.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::{
    stage::{Heard, Stage, listen},
    table::Row,
};

/// The library that changes the time of day for one process; Debian's package `faketime`.
fn faketime_library() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?;
    let files = folders.flatten().map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"));
    files.into_iter().find(|file| file.exists())
}

fn with_false_time(file: &std::path::Path) -> Vec<(&'static str, String)> {
    let library = faketime_library().expect("the package faketime is installed");
    vec![
        ("LD_PRELOAD", library.display().to_string()),
        ("FAKETIME_TIMESTAMP_FILE", file.display().to_string()),
        ("FAKETIME_NO_CACHE", "1".into()),
        // Only the time of day jumps; the monotonic clock does not, as on a real machine.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".into()),
    ]
}

/// The time of day jumps one hour forward and back while answers are written.
pub(crate) async fn jumps() -> Row {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("time");
    std::fs::write(&file, "+0").unwrap();
    let stage = Stage::new(with_false_time(&file)).await;
    stage.model.set_pace(Duration::from_millis(500));
    let jumping = async {
        for jump in ["+1h", "-1h", "+0"] {
            tokio::time::sleep(Duration::from_millis(2500)).await;
            std::fs::write(&file, jump).unwrap();
        }
        Instant::now()
    };
    let (heard, repaired_at) = tokio::join!(stage.say("while it jumps"), jumping);
    stage.model.set_pace(Duration::from_millis(2));
    let recovery = stage.until_recovered(repaired_at, "after", Heard::is_complete).await;
    stage.row(heard.in_short(), recovery).await
}

/// A second node has a clock one hour ahead. Neither node may consider the other dead.
pub(crate) async fn of_another_node() -> Row {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("time");
    std::fs::write(&file, "+1h").unwrap();
    let stage = Stage::new([]).await;
    let other = stage.another(&with_false_time(&file)).await;
    stage.model.set_pace(Duration::from_millis(700));
    let body = serde_json::json!({"message": "on the other", "agent": "tasks"});
    let (here, there) = tokio::join!(stage.say("on the first"), listen(&other.url, body));
    stage.note("on the other", there.clone());
    stage.model.set_pace(Duration::from_millis(2));
    let recovery = stage.until_recovered(Instant::now(), "after", Heard::is_complete).await;
    stage.row(format!("right clock: {}; wrong clock: {}", here.in_short(), there.in_short()), recovery).await
}
