//! The keys of a storage job.

use clearway_proto::units::{Bytes, Span};
use serde_json::{json, Value as Json};

use super::document::{Node, Value};
use super::error::Misread;
use super::form::Form;
use super::key::Key;
use super::reader::Section;
use crate::job::storage::{most_operations, program, Erasure, Rebuild, Redundancy, Storage, WritePath};
use crate::job::{goal, MOST_OPERATIONS};
use crate::model::OperationGraph;

const LONGEST: Span = Span::from_secs(1000);

/// The largest object, and the most that is rebuilt of a server.
const LARGEST: Bytes = Bytes::new(1 << 50);

/// The most requests of a client that may be under way.
const DEEPEST: u32 = 1024;

/// The most blocks that a server rebuilds at a time.
const MOST_REBUILT: u32 = 256;

#[derive(Clone, Copy)]
enum Kept {
    Replicas,
    Erasure,
}

/// Reads a storage job, which draws from the scenario's seed. Returns its operations, if its keys are right, and what it is called.
pub(crate) fn read(r: &mut Section, seed: u64) -> (Option<OperationGraph>, String) {
    let doc = "How objects outlive servers. replicas: each of several servers has the whole object; erasure: each of data + parity servers has a \
               block, and any data of them give the object back.";
    let kinds = [("replicas", Kept::Replicas), ("erasure", Kept::Erasure)];
    let kept = r.choice("redundancy", doc, Some("replicas"), &kinds);
    let (redundancy, write_path, decode_time, name) = match kept {
        Kept::Replicas => {
            let (redundancy, path) = read_replicas(r);
            (redundancy, path, Span::ZERO, "storage replicas")
        }
        Kept::Erasure => {
            let (redundancy, path, decode_time) = read_erasure(r);
            (redundancy, path, decode_time, "storage erasure")
        }
    };
    let storage = read_rest(r, redundancy, write_path, decode_time);
    let graph = if r.sound() && fits(r, &storage, kept) { build(r, &storage, seed) } else { None };
    (graph, name.into())
}

fn read_replicas(r: &mut Section) -> (Redundancy, WritePath) {
    let replicas = Key::new("replicas", "Servers that have each object.", 1..=goal::MOST_RANKS);
    let replicas = r.get(&replicas.or(3));
    let doc = "The way of what is written. primary: to the first server, which sends it to the others (Ceph); chain: from each server to \
               the next (HDFS); client: from the client to each.";
    let paths = [("primary", WritePath::Primary), ("chain", WritePath::Chain), ("client", WritePath::Client)];
    (Redundancy::Replicas(replicas), r.one_of("write_path", doc, Some("primary"), &paths))
}

fn read_erasure(r: &mut Section) -> (Redundancy, WritePath, Span) {
    let data = r.get(&Key::new("data", "Data blocks of a stripe, k.", 1..=goal::MOST_RANKS));
    let parity = r.get(&Key::new("parity", "Parity blocks of a stripe, m.", 0..=goal::MOST_RANKS));
    let doc = "What a read asks for: the whole object, or one data block of it.";
    let reads = [("object", false), ("block", true)];
    let reads_blocks = r.one_of("read_unit", doc, Some("object"), &reads);
    let doc = "The way of what is written. client: the client sends each server its block; primary: it sends the object to the first server, \
               which encodes it and sends the others their blocks (Ceph).";
    let paths = [("client", WritePath::Client), ("primary", WritePath::Primary)];
    let path = r.one_of("write_path", doc, Some("client"), &paths);
    let doc = "Time of a client or a rebuilding server for making lost data from blocks of its stripe.";
    let decode_time = r.get(&Key::new("decode_time", doc, Span::ZERO..=LONGEST).or(Span::ZERO));
    (Redundancy::Erasure(Erasure { data, parity, reads_blocks }), path, decode_time)
}

fn read_rest(r: &mut Section, redundancy: Redundancy, write_path: WritePath, decode_time: Span) -> Storage {
    let most = goal::MOST_RANKS;
    let clients = r.get(&Key::new("clients", "Ranks that read and write: the first ones.", 1..=most));
    let servers = r.get(&Key::new("servers", "Ranks that keep objects: those behind the clients.", 1..=most));
    let doc = "Requests of each client in an iteration.";
    let requests = r.get(&Key::new("requests", doc, 1u32..=1_000_000_000));
    let doc = "Requests of a client that are under way at a time: each begins when the one depth before it has ended (1, as fio's iodepth).";
    let depth = r.get(&Key::new("depth", doc, 1..=DEEPEST).or(1));
    let bytes = r.get(&Key::new("bytes", "Size of an object.", Bytes::new(1)..=LARGEST)).get();
    let doc = "Share of each client's requests that are reads: exactly, but for rounding, in an order drawn from the seed (0.5, as fio's rwmixread).";
    let share = r.get(&Key::new("read_share", doc, 0.0..=1.0).or(0.5));
    let doc = "Size of a message that asks for something or acknowledges something (64 B, a command capsule of NVMe over Fabrics).";
    let request_bytes = Key::new("request_bytes", doc, Bytes::new(0)..=Bytes::new(1 << 20));
    let request_bytes = r.get(&request_bytes.or(Bytes::new(64))).get();
    let mut time = |name, doc| r.get(&Key::new(name, doc, Span::ZERO..=LONGEST).or(Span::ZERO));
    let read_time = time("read_time", "Time of a server for a block that is read, one after the other.");
    let write_time = time("write_time", "Time of a server for a block that is written, one after the other.");
    let think_time = time("think_time", "Time of a client between a request and the one that waits for it.");
    let dead = read_dead(r, servers);
    let rebuild = read_rebuild(r);
    let reads = (share * f64::from(requests)).round() as u32;
    Storage {
        clients,
        servers,
        dead,
        requests,
        reads,
        depth,
        bytes,
        request_bytes,
        read_time,
        write_time,
        decode_time,
        think_time,
        redundancy,
        write_path,
        rebuild,
    }
}

fn read_rebuild(r: &mut Section) -> Option<Rebuild> {
    let doc = "Bytes of each dead server that the others rebuild, from the start of each iteration on.";
    let bytes = r.optional(&Key::new("rebuild", doc, Bytes::new(1)..=LARGEST), "nothing is rebuilt");
    let doc = "Blocks that a server rebuilds at a time, with rebuild (1, as Ceph's osd_max_backfills).";
    let depth = r.optional(&Key::new("rebuild_depth", doc, 1..=MOST_REBUILT), "1, where anything is rebuilt");
    let Some(bytes) = bytes else {
        if depth.is_some() {
            r.conflict("rebuild_depth", "nothing is rebuilt: give rebuild, or leave it out");
        }
        return None;
    };
    let depth = depth.unwrap_or(1);
    r.settle("rebuild_depth", depth.into());
    Some(Rebuild { bytes: bytes.get(), depth })
}

/// Reads the numbers of dead servers, in rising order.
fn read_dead(r: &mut Section, servers: u32) -> Vec<u32> {
    let form = Form {
        name: "dead",
        doc: "Numbers of the servers that are dead, from 0 on: nobody asks them for anything.",
        required: false,
        otherwise: "none",
        schema: json!({
            "anyOf": [
                { "type": "integer", "minimum": 0 },
                { "type": "string" },
                { "type": "array", "items": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "string" }] } },
            ],
            "x-unit": "servers",
        }),
    };
    let is_sound = r.sound();
    let read = r.parsed(&form, |node| {
        let list = dead_servers(node).filter(|list| !is_sound || list.iter().all(|&(_, end)| end <= servers));
        let list = list.ok_or_else(|| {
            let last = servers - 1;
            Misread::expected(format!("servers from 0 to {last}, such as 3, \"0..2\" or a list of these"))
        })?;
        let mut dead: Vec<u32> = list.iter().flat_map(|&(first, end)| first..end).collect();
        dead.sort_unstable();
        dead.dedup();
        let spelled = dead.iter().map(|&server| Json::from(server)).collect();
        Ok((dead, spelled))
    });
    if read.is_none() && !r.given("dead") {
        r.settle("dead", json!([]));
    }
    read.unwrap_or_default()
}

/// The servers of a list, as ranges.
fn dead_servers(node: &Node) -> Option<Vec<(u32, u32)>> {
    let range = |item: &Node| match &item.value {
        Value::Integer(server) => {
            u32::try_from(*server).ok().map(|server| (server, server.saturating_add(1)))
        }
        Value::Text(text) => {
            let (first, end) = text.split_once("..")?;
            Some((first.parse().ok()?, end.parse().ok()?)).filter(|(first, end)| first < end)
        }
        _ => None,
    };
    let within = |&(_, end): &(u32, u32)| end <= goal::MOST_RANKS;
    node.values().iter().map(|item| range(item).filter(within)).collect()
}

/// Checks that there are servers enough for objects, for what is lost of them and for what is rebuilt, and that the job is not too large.
fn fits(r: &Section, storage: &Storage, kept: Kept) -> bool {
    let (width, servers) = (storage.redundancy.width(), storage.servers);
    let (dead, spare) = (storage.dead.len() as u32, storage.redundancy.spare());
    let ranks = storage.ranks();
    let operations = most_operations(storage);
    let said = if ranks > u64::from(goal::MOST_RANKS) {
        let most = goal::MOST_RANKS;
        Some(("clients", format!("clients and servers make {ranks} ranks; the most is {most}: use fewer")))
    } else if width > servers {
        Some(match kept {
            Kept::Replicas => ("replicas", format!("there are {servers} servers: lower it, or raise servers")),
            Kept::Erasure => (
                "data",
                format!("data and parity make {width} blocks on as many servers, and there are {servers}: raise servers"),
            ),
        })
    } else if dead > spare {
        let remedy = match kept {
            Kept::Replicas => "replicas",
            Kept::Erasure => "parity",
        };
        Some((
            "dead",
            format!("{dead} servers are dead, and objects outlive {spare}: name fewer, or raise {remedy}"),
        ))
    } else if storage.rebuild.is_some() && dead == 0 {
        Some(("rebuild", "no server is dead: name one in dead, or leave this out".into()))
    } else if storage.rebuild.is_some() && servers - dead < width {
        Some((
            "rebuild",
            format!(
                "a new block goes to a server without a block of its stripe: {width} servers have to live, and {} do: raise servers",
                servers - dead
            ),
        ))
    } else if operations > MOST_OPERATIONS {
        let key = if storage.lost_blocks() > u64::from(storage.requests) { "rebuild" } else { "requests" };
        Some((
            key,
            format!(
                "takes up to {operations} operations; the most is {MOST_OPERATIONS}: use fewer clients or requests, or less to rebuild"
            ),
        ))
    } else {
        None
    };
    r.holds_unless(said)
}

fn build(r: &Section, storage: &Storage, seed: u64) -> Option<OperationGraph> {
    match program(storage, seed, r.number()).build() {
        Ok(graph) => Some(graph),
        Err(problem) => {
            r.conflict("requests", problem.message);
            None
        }
    }
}
