//! Files and folders that only their owner may read: databases, backups, indexes, keys.

use std::{
    fs::{DirBuilder, OpenOptions, Permissions, set_permissions},
    io::Result,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::Path,
};

/// Creates a folder with mode 0700, and removes the permissions of other users from an existing one.
pub fn private_folder(path: &Path) -> Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    tighten(path, 0o700)
}

/// Creates a file with mode 0600 if it does not exist, and removes the permissions of other users from an existing one.
pub fn private_file(path: &Path) -> Result<()> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    tighten(path, 0o600)
}

/// A folder that belongs to another user is not changed: its owner decides.
fn tighten(path: &Path, mode: u32) -> Result<()> {
    let now = path.metadata()?.permissions().mode() & 0o777;
    if now & !mode == 0 {
        return Ok(());
    }
    match set_permissions(path, Permissions::from_mode(now & mode)) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            tracing::warn!("{} can be read by other users of this machine", path.display());
            Ok(())
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_owner_can_read_new_and_existing_files() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        std::fs::create_dir(&old).unwrap();
        set_permissions(&old, Permissions::from_mode(0o755)).unwrap();
        for path in [&new, &old] {
            private_folder(path).unwrap();
            assert_eq!(mode(path), 0o700, "{path:?}");
        }
        let (made, found) = (new.join("made"), new.join("found"));
        std::fs::write(&found, "kept").unwrap();
        set_permissions(&found, Permissions::from_mode(0o644)).unwrap();
        for path in [&made, &found] {
            private_file(path).unwrap();
            assert_eq!(mode(path), 0o600, "{path:?}");
        }
        assert_eq!(std::fs::read_to_string(found).unwrap(), "kept");
    }
}
