//! Certificates made, and looked at.

use serde_json::{json, Value};

use crate::daemon::args::MakeKeysArgs;
use crate::daemon::output::{print, Problem};
use crate::keys::{self, CertificateState, Validity};

/// Makes certificates or tells of those that are there. Returns the exit status: 1 where one of them does not hold.
pub(super) fn keys(args: &MakeKeysArgs) -> Result<u8, Problem> {
    if args.check {
        return check(args);
    }
    let made = keys::make(&args.directory, &args.names, Validity::days(args.days))?;
    let directory = args.directory.display();
    if args.json {
        let said =
            json!({ "directory": directory.to_string(), "authority": made.authority, "names": made.names });
        return print(&format!("{said:#}\n")).map(|()| 0);
    }
    let authority = if made.authority { "an authority and " } else { "" };
    print(&format!(
        "made {authority}certificates of {} in {directory}, for {} days\n\
         A host needs ca.pem and its own .pem and .key. Keep ca.key where certificates are made.\n",
        made.names.join(", "),
        args.days
    ))
    .map(|()| 0)
}

fn check(args: &MakeKeysArgs) -> Result<u8, Problem> {
    let states = keys::states(&args.directory)?;
    let holds = |state: &CertificateState| matches!(state, CertificateState::Holds(_));
    let all_hold = states.iter().all(|(_, state)| holds(state));
    if args.json {
        let one = |(name, state): &(String, CertificateState)| json!({ "name": name, "holds": holds(state), "said": state.to_string() });
        let certificates: Vec<Value> = states.iter().map(one).collect();
        print(&format!("{:#}\n", json!({ "certificates": certificates })))?;
    } else {
        let width = states.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line = |(name, state): &(String, CertificateState)| format!("  {name:<width$}  {state}\n");
        print(&states.iter().map(line).collect::<String>())?;
    }
    Ok(u8::from(!all_hold))
}
