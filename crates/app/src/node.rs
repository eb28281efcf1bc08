//! The name under which a process leases its turns: stored in the data directory and protected by a lock.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

/// A process that restarts after a crash finds its old name unlocked and knows which turns it left unfinished. A second
/// process in the same data directory (a command next to a server) gets another name.
pub(crate) struct Node {
    pub(crate) name: String,
    /// Whether an earlier process with this name may have left unfinished turns.
    pub(crate) is_reborn: bool,
    /// Never read: the lock ends with the process.
    _lock: Option<File>,
}

impl Node {
    pub(crate) fn claim(data_dir: &Path) -> std::io::Result<Self> {
        store::private_folder(data_dir)?;
        let path = data_dir.join("node");
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(Self { name: new_name(), is_reborn: false, _lock: None }),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let mut name = String::new();
        file.read_to_string(&mut name)?;
        let is_reborn = !name.trim().is_empty();
        if !is_reborn {
            name = new_name();
            file.rewind()?;
            file.write_all(name.as_bytes())?;
        }
        Ok(Self { name: name.trim().to_owned(), is_reborn, _lock: Some(file) })
    }
}

/// While this value exists, no server runs or starts in the data directory.
pub(crate) struct Alone {
    _lock: File,
}

impl Node {
    pub(crate) fn alone_in(data_dir: &Path) -> std::io::Result<Alone> {
        store::private_folder(data_dir)?;
        let path = data_dir.join("node");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock()?;
        Ok(Alone { _lock: file })
    }
}

fn new_name() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests {
    use super::Node;

    #[test]
    fn a_name_is_reused_after_its_process_ended_and_is_never_held_twice() {
        let folder = tempfile::tempdir().unwrap();
        let first = Node::claim(folder.path()).unwrap();
        let beside = Node::claim(folder.path()).unwrap();
        assert_ne!(first.name, beside.name);
        assert!(!first.is_reborn && !beside.is_reborn);
        let name = first.name.clone();
        drop(first);
        let again = Node::claim(folder.path()).unwrap();
        assert_eq!((again.name.as_str(), again.is_reborn), (name.as_str(), true));
    }
}
