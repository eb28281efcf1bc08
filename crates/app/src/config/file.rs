//! The settings file: where it is, and what it says.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{ConfigError, McpServer, SETTINGS, STARTED_BY_SEGUE, Secret, problem, settings::key_of};

/// `$XDG_CONFIG_HOME/segue/segue.toml`; an absolute path, as the specification demands.
pub(super) fn default_file(environment: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let absolute = |name| environment(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")))?;
    Some(folder.join("segue").join("segue.toml"))
}

pub(super) fn read_file(path: &Path, must_exist: bool) -> Result<toml::Table, ConfigError> {
    let name = path.display().to_string();
    match std::fs::read_to_string(path) {
        Ok(text) => toml::from_str(&text).map_err(|error| problem(&name, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => Ok(toml::Table::new()),
        Err(error) => Err(problem(&name, error)),
    }
}

/// What to say about a file in the current folder that earlier versions read.
pub(super) fn ignored_file(here: &Path, read: Option<&Path>) -> Option<String> {
    let found = here.canonicalize().ok()?;
    if read.and_then(|read| read.canonicalize().ok()).is_some_and(|read| read == found) {
        return None;
    }
    let keep = read.map_or_else(String::new, |read| format!(", or move it to {}", read.display()));
    Some(format!(
        "{} is NOT read any more: a settings file of the current folder could start programs and send your keys \
         elsewhere. If it is yours, use it with --config segue.toml or SEGUE_CONFIG{keep}.",
        found.display()
    ))
}

/// `[mcp.<name>]`: other servers whose tools agents may use.
pub(super) fn parse_servers(tables: Option<toml::Value>) -> Result<Vec<McpServer>, ConfigError> {
    let Some(tables) = tables.filter(|_| std::env::var_os(STARTED_BY_SEGUE).is_none()) else {
        return Ok(Vec::new());
    };
    let toml::Value::Table(tables) = tables else {
        return Err(problem("segue.toml", "'mcp' holds one table for each server: [mcp.<name>]"));
    };
    let secret = |name: &str| std::env::var(name).ok().map(Secret::new);
    let servers = tables.into_iter().map(|(name, table)| {
        McpServer::parse(&name, table, secret).map_err(|why| problem("segue.toml", format!("[mcp.{name}]: {why}")))
    });
    servers.collect()
}

pub(super) fn parse_file(table: toml::Table) -> Result<HashMap<&'static str, String>, ConfigError> {
    let mut values = HashMap::new();
    for (key, value) in table {
        let known = SETTINGS.iter().find(|setting| key_of(setting.name) == key && setting.name != "SEGUE_CONFIG");
        let Some(setting) = known else {
            return Err(problem("segue.toml", format!("there is no setting '{key}'; see segue serve --help")));
        };
        let text = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(_) | toml::Value::Float(_) | toml::Value::Boolean(_) => value.to_string(),
            _ => return Err(problem("segue.toml", format!("'{key}' must be a text or a number"))),
        };
        values.insert(setting.name, text);
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_current_folder_is_reported_unless_it_is_the_one_that_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let (here, other) = (folder.path().join("segue.toml"), folder.path().join("other.toml"));
        assert_eq!(ignored_file(&here, None), None, "there is none");
        std::fs::write(&here, "").expect("it can be written");
        assert_eq!(ignored_file(&here, Some(&here)), None);
        let said = ignored_file(&here, Some(&other)).expect("a report");
        assert!(said.contains("--config segue.toml") && said.contains("other.toml"), "{said}");
    }

    #[test]
    fn the_default_file_is_in_the_users_own_folder() {
        let file = |xdg: Option<&str>, home: Option<&str>| {
            default_file(|name| if name == "HOME" { home } else { xdg }.map(str::to_owned))
        };
        assert_eq!(file(Some("/xdg"), Some("/ann")), Some("/xdg/segue/segue.toml".into()));
        assert_eq!(file(None, Some("/ann")), Some("/ann/.config/segue/segue.toml".into()));
        assert_eq!(file(Some("relative"), None), None);
    }
}
