//! Runs a Segue command and measures time, CPU time and peak memory from outside.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::Context;
use serde_json::Value;
use tokio::{io::AsyncReadExt, process::Command};

pub(crate) struct Ran {
    pub(crate) answer: Value,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) peak_mib: f64,
}

fn segue(data_dir: &Path, settings: &[(&'static str, String)], args: &[&str]) -> anyhow::Result<Command> {
    let path: PathBuf = std::env::current_exe()?.with_file_name("segue");
    anyhow::ensure!(path.exists(), "{} is not built", path.display());
    let mut command = Command::new(path);
    command.args(args).env("SEGUE_DATA_DIR", data_dir).envs(settings.iter().map(|(name, value)| (*name, value)));
    command.stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

/// Runs the command to its end. It must print JSON.
pub(crate) async fn to_the_end(
    data_dir: &Path,
    settings: &[(&'static str, String)],
    args: &[&str],
) -> anyhow::Result<Ran> {
    let mut child = segue(data_dir, settings, args)?.spawn()?;
    let pid = child.id().context("it runs")?;
    let mut out = child.stdout.take().context("stdout is piped")?;
    let reading = tokio::spawn(async move {
        let mut text = String::new();
        out.read_to_string(&mut text).await.map(|_| text)
    });
    let (began, mut peak_mib, mut cpu) = (Instant::now(), 0.0, Duration::ZERO);
    let status = loop {
        if let (Some(memory), Some(time)) = (peak_memory(pid), cpu_time(pid)) {
            (peak_mib, cpu) = (memory, time);
        }
        if let Ok(ended) = tokio::time::timeout(Duration::from_millis(20), child.wait()).await {
            break ended?;
        }
    };
    let (wall, text) = (began.elapsed(), reading.await??);
    anyhow::ensure!(status.success(), "segue {args:?} ended with {status}: {text}");
    Ok(Ran { answer: serde_json::from_str(&text)?, wall, cpu, peak_mib })
}

/// Runs the command for a while and kills it with SIGKILL. Returns true if it was still running.
pub(crate) async fn and_killed(
    data_dir: &Path,
    settings: &[(&'static str, String)],
    args: &[&str],
    after: Duration,
) -> anyhow::Result<bool> {
    let mut child = segue(data_dir, settings, args)?.stdout(Stdio::null()).spawn()?;
    let was_running = tokio::time::timeout(after, child.wait()).await.is_err();
    if was_running {
        child.kill().await?;
    }
    Ok(was_running)
}

/// The peak memory in MiB, from the kernel.
fn peak_memory(pid: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}

/// User and system time so far; use `/proc/self` for this process.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<_> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // The kernel always counts in hundredths of a second.
    Some(Duration::from_millis(ticks * 10))
}
