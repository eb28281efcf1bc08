//! Who may change the installation: its connections, its model, the folders of the server, the sample.

use engine::UserId;

use crate::config::{AuthMode, Config};

/// Proof that the caller may change the installation. Methods that only an operator may call take it as an argument.
#[derive(Debug)]
pub struct Operator(());

impl Operator {
    /// `None` if the user is no operator. `has_role`: the account was added as an operator, or it is the only user of the
    /// machine.
    pub fn proven(config: &Config, user: &UserId, name: &str, has_role: bool) -> Option<Self> {
        (has_role || is_named(&config.operators, config.auth, user, name)).then_some(Self(()))
    }

    /// The person who runs a command or writes the settings on this machine.
    pub fn of_this_machine() -> Self {
        Self(())
    }
}

fn is_named(operators: &[String], auth: AuthMode, user: &UserId, name: &str) -> bool {
    // With an external issuer, users can often choose their own name, so only the subject counts.
    let has_own_names = auth == AuthMode::Accounts;
    operators.iter().any(|operator| operator == user.as_str() || (has_own_names && operator == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_named_by_id_and_only_an_account_by_its_name() {
        let of = |auth, user: &str, name: &str| is_named(&["ann".to_owned()], auth, &UserId::new(user), name);
        assert!(of(AuthMode::Jwt, "ann", "Ann") && of(AuthMode::Accounts, "7", "ann"));
        assert!(!of(AuthMode::Accounts, "7", "bob"));
        assert!(!of(AuthMode::Jwt, "7", "ann"), "a user of an external issuer chose the name of an operator");
    }
}
