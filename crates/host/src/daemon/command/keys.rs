//! Certificates made, and looked at.

use serde_json::{json, Value};

use crate::daemon::args::MakeKeysArgs;
use crate::daemon::output::{print, Problem};
use crate::keys::{self, Standing, Validity};

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
    let standings = keys::standings(&args.directory)?;
    let holds = |standing: &Standing| matches!(standing, Standing::Holds(_));
    let all_hold = standings.iter().all(|(_, standing)| holds(standing));
    if args.json {
        let one = |(name, standing): &(String, Standing)| json!({ "name": name, "holds": holds(standing), "said": standing.to_string() });
        let certificates: Vec<Value> = standings.iter().map(one).collect();
        print(&format!("{:#}\n", json!({ "certificates": certificates })))?;
    } else {
        let width = standings.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line = |(name, standing): &(String, Standing)| format!("  {name:<width$}  {standing}\n");
        print(&standings.iter().map(line).collect::<String>())?;
    }
    Ok(u8::from(!all_hold))
}
