//! What a controller and an agent of a testbed say to each other, and the plans that controllers read.

use std::fmt::Debug;

use clearway_host::agent::schedule::Schedule;
use clearway_host::controller::hosts::Host;
use clearway_host::controller::plan::Plan;
use clearway_host::testbed::message::{FromAgent, Outgoing, Task, ToAgent};
use serde::de::DeserializeOwned;
use serde::Serialize;

/// Any bytes are what an agent or a controller says, and are written as they are read, or an error that can be shown. A part of a plan that is
/// taken is gone through to its end.
pub fn control(bytes: &[u8]) {
    written_as_read::<FromAgent>(bytes);
    if let Some(ToAgent::Prepare(task)) = written_as_read(bytes) {
        match task.check() {
            Ok(()) => go_through(&task.sending),
            Err(what) => assert!(!what.is_empty()),
        }
    }
}

/// Any bytes are a plan, each part of which an agent takes, or are refused with what is wrong.
pub fn plan(bytes: &[u8]) {
    let plan = match Plan::parse(bytes) {
        Ok(plan) => plan,
        Err(problems) => {
            return assert!(
                !problems.is_empty() && problems.iter().all(|problem| !problem.message.is_empty())
            );
        }
    };
    let host = |name: &String| Host {
        name: name.clone(),
        control: ([10, 0, 0, 1], 7400).into(),
        data: [10, 1, 0, 1].into(),
    };
    let hosts: Vec<Host> = plan.hosts.iter().map(host).collect();
    let tasks: Vec<Task> = plan.tasks(&hosts, [1; 16]);
    let [sent, received] = [
        tasks.iter().map(|task| task.sending.len()).sum::<usize>(),
        tasks.iter().map(|task| task.receiving.len()).sum(),
    ];
    assert_eq!((tasks.len(), sent), (hosts.len(), received));
    for task in tasks {
        task.check().expect("what a plan gives");
        go_through(&task.sending);
    }
}

fn written_as_read<T: Serialize + DeserializeOwned + Debug + PartialEq>(bytes: &[u8]) -> Option<T> {
    let said: T =
        serde_json::from_slice(bytes).map_err(|error| assert!(!error.to_string().is_empty())).ok()?;
    let again = serde_json::to_vec(&said).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<T>(&again).ok().as_ref(), Some(&said));
    Some(said)
}

/// Opens, begins and ends every flow, whenever it is time for the next.
fn go_through(sending: &[Outgoing]) {
    let (mut schedule, mut now, mut begun) = (Schedule::new(sending), 0, 0);
    while !schedule.is_over() {
        while let Some(index) = schedule.poll_open(now) {
            schedule.handle_open(index);
        }
        assert!(schedule.is_connected());
        now = now.max(schedule.poll_timeout().expect("a flow that is due, as not all are over"));
        let index = schedule.poll_begin(now).expect("the flow that is due");
        schedule.handle_done(index, now);
        begun += 1;
    }
    assert_eq!(begun, sending.len());
}
