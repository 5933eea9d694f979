//! Privileges given up for good: root becomes another user.

use std::ffi::CString;

use nix::unistd::{geteuid, getuid, initgroups, setgid, setuid, Uid, User};

use crate::daemon::output::Problem;

/// Becomes the user `name`, with the groups of that user and no others. A process that is this user already stays what it is; any other
/// needs root. All threads are changed.
pub fn become_user(name: &str) -> Result<(), Problem> {
    let told = |what: &str, remedy: &str| Problem::new(format!("user {name}: {what}"), remedy);
    let exists = "name a user of this host: useradd --system makes one";
    let found = User::from_name(name).map_err(|error| told(error.desc(), exists))?;
    let user = found.ok_or_else(|| told("there is none of this name", exists))?;
    if (getuid(), geteuid()) == (user.uid, user.uid) {
        return Ok(());
    }
    if !geteuid().is_root() {
        return Err(told("only root can become another user", "start it as root, or leave the user off"));
    }
    let failed = |error: nix::Error| told(error.desc(), "does it have CAP_SETUID and CAP_SETGID?");
    let c_name = CString::new(name).map_err(|_| told("there is none of this name", exists))?;
    // Groups first: who is no longer root cannot change them.
    initgroups(&c_name, user.gid)
        .and_then(|()| setgid(user.gid))
        .and_then(|()| setuid(user.uid))
        .map_err(failed)?;
    if !user.uid.is_root() && setuid(Uid::from_raw(0)).is_ok() {
        return Err(told("root could be had again", "report this: the kernel should not allow it"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_that_is_not_there_is_told_of() {
        let problem = become_user("nobody-of-this-name").unwrap_err();
        assert_eq!(problem.message, "user nobody-of-this-name: there is none of this name");
        assert!(become_user("a\0b").is_err());
    }

    #[test]
    fn who_is_the_user_already_stays_so() {
        if let Some(user) = User::from_uid(getuid()).unwrap() {
            assert_eq!(become_user(&user.name), Ok(()));
        }
    }
}
