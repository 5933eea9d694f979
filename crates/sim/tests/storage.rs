//! Storage jobs against closed forms on an idle network: what each request takes and moves, and what dead servers change.

use clearway_sim::check::load_text;

use crate::experiment::{figure, floats, integers, run, run_on, table, texts, Outcome};

/// Bytes that a frame weighs more than what it carries; an acknowledgement of the transport weighs as many.
const EXTRA: f64 = 66.0;
const FRAME: f64 = 4096.0 + EXTRA;

/// The payload of 256 full frames.
const OBJECT: f64 = 256.0 * 4096.0;

/// A message that asks or acknowledges.
const SMALL: f64 = 64.0;

/// A star of 100 Gb/s and 1 us links; frames weigh 66 bytes more than they carry.
fn star(hosts: u32, keys: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'storage'\nduration = '1s'\nstop_when_complete = true\n[network]\ntopology = 'star'\nhosts = {hosts}\n\
         rate = '100Gbps'\ndelay = '1us'\n[switch.default]\nbuffer = '640MB'\n[transport.t]\nprotocol = 'none'\nheader = '28B'\n\
         [[job]]\nkind = 'storage'\n{keys}\n{rest}\n"
    )
}

/// The transmission time in microseconds of full frames with this payload.
fn sent_us(payload: f64) -> f64 {
    payload / 4096.0 * FRAME * 8.0 / 1e5
}

/// From the last bit of a full frame leaving its host to its arrival at another one.
fn alpha_us() -> f64 {
    2.0 + FRAME * 8.0 / 1e5
}

/// The time of a small message.
fn small_us() -> f64 {
    2.0 + 2.0 * (SMALL + EXTRA) * 8.0 / 1e5
}

#[track_caller]
fn assert_close(found: f64, expected: f64, about: &str) {
    let off = found / expected - 1.0;
    assert!(off.abs() < 0.01, "{about}: found {found}, expected {expected}, {:.2} % off", off * 100.0);
}

/// The row of a sort of request of a job.
fn row(outcome: &Outcome, job: u64, sort: &str) -> usize {
    let jobs = integers(outcome, "requests", "job");
    let sorts = texts(outcome, "requests", "sort");
    let is_it = |&row: &usize| jobs[row] == job && sorts[row] == sort;
    (0..jobs.len()).find(is_it).unwrap_or_else(|| panic!("no row of {sort}: {sorts:?}"))
}

/// A column of the first job's requests of a sort.
fn of(outcome: &Outcome, sort: &str, column: &str) -> f64 {
    floats(outcome, "requests", column)[row(outcome, 0, sort)]
}

fn count(outcome: &Outcome, sort: &str, column: &str) -> u64 {
    integers(outcome, "requests", column)[row(outcome, 0, sort)]
}

/// A client and `servers` servers with objects of 1 MiB, one request after the other.
fn one_client(servers: u32, share: f64, more: &str) -> Outcome {
    let keys = format!(
        "clients = 1\nservers = {servers}\nrequests = 5\nbytes = '{OBJECT}B'\nread_share = {share:.1}\nread_time = '30us'\n\
         write_time = '50us'\n{more}"
    );
    run(&star(servers + 1, &keys, ""))
}

#[test]
fn one_client_waits_for_its_requests_as_long_as_arithmetic_says() {
    let object = sent_us(OBJECT) + alpha_us();
    let read = one_client(1, 1.0, "replicas = 1");
    assert_close(of(&read, "read", "time_mean_us"), small_us() + 30.0 + object, "a read");
    assert_eq!(texts(&read, "requests", "sort"), ["read"]);
    let write = one_client(1, 0.0, "replicas = 1");
    assert_close(of(&write, "write", "time_mean_us"), object + 50.0 + small_us(), "a write");
    // Each of three servers has the object before it passes it on, and acknowledgements come back the same way.
    let chain = one_client(3, 0.0, "write_path = 'chain'");
    let expected = 3.0 * object + 50.0 + 3.0 * small_us();
    assert_close(of(&chain, "write", "time_mean_us"), expected, "a chain");
    // The primary's NIC sends two objects, and the client's three.
    let primary = one_client(3, 0.0, "");
    let expected = object + sent_us(2.0 * OBJECT) + alpha_us() + 50.0 + 2.0 * small_us();
    assert_close(of(&primary, "write", "time_mean_us"), expected, "a primary");
    let client = one_client(3, 0.0, "write_path = 'client'");
    let expected = sent_us(3.0 * OBJECT) + alpha_us() + 50.0 + small_us();
    assert_close(of(&client, "write", "time_mean_us"), expected, "a client");
    for outcome in [&chain, &primary, &client] {
        assert_eq!(count(outcome, "write", "ended"), 5);
        assert_eq!(count(outcome, "write", "bytes"), 5 * OBJECT as u64);
        assert_eq!(integers(outcome, "jobs", "network_bytes"), [5 * 3 * (OBJECT as u64 + SMALL as u64)]);
    }
}

#[test]
fn stripes_take_what_the_clients_nic_needs_for_their_blocks() {
    let stripe = "redundancy = 'erasure'\ndata = 4\nparity = 2";
    let block = OBJECT / 4.0;
    let write = one_client(6, 0.0, stripe);
    let expected = sent_us(6.0 * block) + alpha_us() + 50.0 + small_us();
    assert_close(of(&write, "write", "time_mean_us"), expected, "a write");
    let primary = one_client(6, 0.0, &format!("{stripe}\nwrite_path = 'primary'"));
    let expected = sent_us(OBJECT) + sent_us(5.0 * block) + 2.0 * alpha_us() + 50.0 + 2.0 * small_us();
    assert_close(of(&primary, "write", "time_mean_us"), expected, "a write through a primary");
    let read = one_client(6, 1.0, stripe);
    let expected = small_us() + 30.0 + sent_us(OBJECT) + alpha_us();
    assert_close(of(&read, "read", "time_mean_us"), expected, "a read");
    let bytes = |outcome: &Outcome| integers(outcome, "jobs", "network_bytes")[0];
    let (block, small) = (block as u64, SMALL as u64);
    assert_eq!(bytes(&write), 5 * 6 * (block + small));
    assert_eq!(bytes(&primary), 5 * (4 * block + 5 * block + 6 * small));
    assert_eq!(bytes(&read), 5 * 4 * (block + small));
    // Blocks are of ceil(bytes / k).
    let odd = one_client(6, 1.0, &format!("{stripe}\nread_unit = 'block'").replace("data = 4", "data = 3"));
    assert_eq!(bytes(&odd), 5 * ((OBJECT as u64).div_ceil(3) + small));
    assert_eq!(count(&odd, "read", "bytes"), 5 * (OBJECT as u64).div_ceil(3));
}

#[test]
fn a_server_handles_blocks_one_after_the_other() {
    // Eight small reads at once: the last waits for the seven before it.
    let keys = "clients = 8\nservers = 1\nreplicas = 1\nrequests = 1\nbytes = '64B'\nread_share = 1.0\nread_time = '100us'";
    let outcome = run(&star(9, keys, ""));
    let alone = 2.0 * small_us() + 100.0;
    assert_close(of(&outcome, "read", "time_max_us"), alone + 700.0, "the last");
    assert_close(of(&outcome, "read", "time_mean_us"), alone + 350.0, "the mean");
    assert_close(of(&outcome, "read", "time_p50_us"), alone + 300.0, "the median");
}

/// Bytes of payload and the frames that a host has put on its link.
fn payload(outcome: &Outcome, host: u32) -> f64 {
    let row = texts(outcome, "links", "link").iter().position(|link| *link == format!("h{host}>tor0"));
    let row = row.expect("a host's link");
    let frames = integers(outcome, "links", "frames")[row] as f64;
    integers(outcome, "links", "wire_bytes")[row] as f64 - EXTRA * frames
}

#[test]
fn links_carry_what_requests_move_and_nothing_else() {
    let keys = "clients = 3\nservers = 5\nrequests = 40\ndepth = 4\nbytes = '10000B'\nread_share = 0.3\niterations = 2";
    let (object, small) = (10_000.0, SMALL);
    // 12 of 40 requests of each client are reads.
    let (reads, writes) = (2.0 * 12.0, 2.0 * 28.0);
    for (path, copies) in [("primary", 1.0), ("chain", 1.0), ("client", 3.0)] {
        let outcome = run(&star(8, &format!("{keys}\nwrite_path = '{path}'"), ""));
        for client in 0..3 {
            assert_eq!(payload(&outcome, client), reads * small + writes * copies * object, "{path}");
        }
        let servers: f64 = (3..8).map(|server| payload(&outcome, server)).sum();
        let forwarded = (3.0 - copies) * object + 3.0 * small;
        assert_eq!(servers, 3.0 * (reads * object + writes * forwarded), "{path}");
        assert_eq!(count(&outcome, "read", "bytes") as f64, 3.0 * reads * object);
        assert_eq!(count(&outcome, "write", "bytes") as f64, 3.0 * writes * object);
    }
    let stripe = "redundancy = 'erasure'\ndata = 3\nparity = 2";
    let outcome = run(&star(8, &format!("{keys}\n{stripe}"), ""));
    let block = 3334.0;
    for client in 0..3 {
        assert_eq!(payload(&outcome, client), reads * 3.0 * small + writes * 5.0 * block);
    }
    let servers: f64 = (3..8).map(|server| payload(&outcome, server)).sum();
    assert_eq!(servers, 3.0 * (reads * 3.0 * block + writes * 5.0 * small));
}

#[test]
fn a_closed_loop_keeps_its_depth() {
    // Little's law: what is under way is the rate times the time of each. The run ends while every client has as much under way as it may.
    for depth in [1, 7] {
        let keys = format!(
            "clients = 4\nservers = 6\nrequests = 4000\ndepth = {depth}\nbytes = '20kB'\nread_share = 0.5\nread_time = '2us'\n\
             write_time = '3us'"
        );
        let outcome = run(&star(10, &keys, "").replace("'1s'", "'8ms'"));
        let rows = ["read", "write"];
        let under_way = rows
            .map(|sort| of(&outcome, sort, "requests_per_second") * of(&outcome, sort, "time_mean_us") / 1e6);
        assert_close(under_way.iter().sum(), 4.0 * f64::from(depth), "requests under way");
        let unfinished: u64 = rows.map(|sort| count(&outcome, sort, "unfinished")).iter().sum();
        assert_eq!(unfinished, 4 * depth as u64);
        let rate: f64 = rows.map(|sort| of(&outcome, sort, "requests_per_second")).iter().sum();
        assert_close(figure(&outcome, "requests_per_second"), rate, "the figure");
        // All sorts of a job have one time by which they are divided.
        let times = rows
            .map(|sort| count(&outcome, sort, "ended") as f64 / of(&outcome, sort, "requests_per_second"));
        assert!((times[0] / times[1] - 1.0).abs() < 1e-9, "{times:?}");
        let ended: u64 = rows.map(|sort| count(&outcome, sort, "ended")).iter().sum();
        assert_eq!(figure(&outcome, "requests"), ended as f64);
        assert!(ended > 2000, "{ended}");
    }
    // A client that thinks has fewer under way: each lane is with its request for a part of its time.
    let keys = "clients = 1\nservers = 1\nreplicas = 1\nrequests = 300\ndepth = 3\nbytes = '64B'\nread_share = 1.0\nthink_time = '40us'";
    let outcome = run(&star(2, keys, ""));
    let latency = 2.0 * small_us();
    assert_close(of(&outcome, "read", "time_mean_us"), latency, "without thinking");
    assert_close(of(&outcome, "read", "requests_per_second"), 3.0 / (latency + 40.0) * 1e6, "with thinking");
}

#[test]
fn degraded_reads_cost_what_arithmetic_says() {
    // Of a stripe over all five servers one block is gone; each read of one block asks for one server, or for three.
    let stripe =
        "redundancy = 'erasure'\ndata = 3\nparity = 2\nread_unit = 'block'\ndecode_time = '70us'\ndead = [1]";
    let keys = format!(
        "clients = 1\nservers = 5\nrequests = 200\nbytes = '{}B'\nread_share = 1.0\nread_time = '30us'\n{stripe}",
        3.0 * OBJECT
    );
    let outcome = run(&star(6, &keys, ""));
    let (whole, degraded) = (count(&outcome, "read", "ended"), count(&outcome, "degraded read", "ended"));
    assert_eq!(whole + degraded, 200);
    // Each server is the first of a stripe equally often: 40 of 200, with a standard deviation of 5.7.
    assert!(degraded.abs_diff(40) < 20, "{degraded}");
    let one = small_us() + 30.0 + sent_us(OBJECT) + alpha_us();
    assert_close(of(&outcome, "read", "time_mean_us"), one, "a read");
    let three = small_us() + 30.0 + sent_us(3.0 * OBJECT) + alpha_us() + 70.0;
    assert_close(of(&outcome, "degraded read", "time_mean_us"), three, "a degraded read");
    let messages = whole + 3 * degraded;
    assert_eq!(integers(&outcome, "jobs", "network_bytes"), [messages * (OBJECT as u64 + SMALL as u64)]);
    assert_eq!(payload(&outcome, 2), 0.0, "nobody asks the dead server");
    // A replica is as near as another one.
    let replicas = one_client(3, 1.0, "dead = [0, 2]");
    let one = small_us() + 30.0 + sent_us(OBJECT) + alpha_us();
    for sort in texts(&replicas, "requests", "sort") {
        assert_close(of(&replicas, sort, "time_mean_us"), one, sort);
    }
    // Writes go without the dead ones.
    let write = one_client(3, 0.0, "dead = [0, 2]");
    assert_close(
        of(&write, "write", "time_mean_us"),
        sent_us(OBJECT) + alpha_us() + 50.0 + small_us(),
        "alone",
    );
    assert_eq!(integers(&write, "jobs", "network_bytes"), [5 * (OBJECT as u64 + SMALL as u64)]);
}

#[test]
fn a_rebuild_moves_exactly_what_was_lost_and_takes_what_its_servers_need() {
    // Two copies on three servers, one of them dead: each block is read from one of the others and written at the other one.
    let keys = format!(
        "clients = 1\nservers = 3\nreplicas = 2\nrequests = 1\nbytes = '{OBJECT}B'\nread_share = 1.0\nread_time = '30us'\n\
         write_time = '50us'\ndead = [2]\nrebuild = '{}B'",
        20.0 * OBJECT - 4096.0
    );
    let outcome = run(&star(4, &keys, ""));
    assert_eq!(count(&outcome, "rebuild", "ended"), 20);
    assert_eq!(count(&outcome, "rebuild", "bytes"), 20 * OBJECT as u64 - 4096);
    assert_eq!(count(&outcome, "rebuild", "unfinished"), 0);
    // What the servers have sent: the lost bytes and one read of the client, and 20 times the request for a block.
    let servers = payload(&outcome, 1) + payload(&outcome, 2);
    assert_eq!(servers, 21.0 * OBJECT - 4096.0 + 20.0 * SMALL);
    // A server rebuilds what the other one has sent, block by block.
    let blocks = [payload(&outcome, 1), payload(&outcome, 2)].map(|bytes| (bytes / OBJECT).round());
    let one = small_us() + 30.0 + sent_us(OBJECT) * (FRAME + EXTRA) / FRAME + alpha_us() + 50.0;
    let most = blocks[0].max(blocks[1]);
    let took = figure(&outcome, "rebuild_us");
    // The client's read is one of the blocks, and may be of either server.
    assert!((most - 1.01) * one < took && took < (most + 0.01) * one, "{took} for {most} of {one}");
    assert!((took - of(&outcome, "rebuild", "ended_us") + of(&outcome, "rebuild", "began_us")).abs() < 1e-6);
    // Stripes: k blocks for each that was lost, of each dead server.
    let keys = "clients = 1\nservers = 9\nredundancy = 'erasure'\ndata = 4\nparity = 2\nrequests = 1\nbytes = '40kB'\nread_share = 0.0\n\
                dead = [0, '8..9']\nrebuild = '105kB'\nrebuild_depth = 4";
    let outcome = run(&star(10, keys, ""));
    assert_eq!(count(&outcome, "rebuild", "ended"), 2 * 11, "blocks of 10 kB, and one of 5");
    assert_eq!(count(&outcome, "rebuild", "bytes"), 2 * 105_000);
    let living = count(&outcome, "write", "bytes") / 40_000;
    assert_eq!(living, 1);
    let sent = integers(&outcome, "jobs", "network_bytes")[0];
    let written = sent - 2 * (4 * 105_000 + 4 * 11 * 64);
    assert!((4..=6).any(|blocks| written == blocks * (10_000 + 64)), "{written}");
}

/// A rack in which a server dies and returns: the first job goes on without knowing, the second knows and rebuilds.
fn server_dies() -> String {
    let job = "kind = 'storage'\nclients = 4\nservers = 7\nrequests = 300\ndepth = 4\nbytes = '64kB'\nwrite_time = '5us'\n\
               redundancy = 'erasure'\ndata = 4\nparity = 2\nread_share = 0.6";
    format!(
        "format = 1\nname = 'a server dies'\nduration = '200ms'\nstop_when_complete = true\n[network]\ntopology = 'leaf_spine'\nleaves = 3\n\
         spines = 2\nhosts_per_leaf = 4\nrate = '100Gbps'\ndelay = '1us'\n[transport.t]\nprotocol = 'swift'\n[routing]\ndetect = '50us'\n\
         converge = '200us'\n[[fault]]\nkind = 'dead'\nnode = 6\nat = '300us'\nuntil = '40ms'\n[[job]]\nname = 'before'\n{job}\n\
         [[job]]\nname = 'after'\n{job}\nstart = '1ms'\ndead = [2]\nrebuild = '2MB'\nrebuild_depth = 2\n"
    )
}

#[test]
fn a_job_that_knows_of_a_dead_server_goes_on_while_another_waits_for_it() {
    let outcome = run(&server_dies());
    let ends = floats(&outcome, "jobs", "end_us");
    assert!(ends[0] > 40_000.0 && ends[1] < 40_000.0, "{ends:?}");
    let longest = floats(&outcome, "requests", "time_max_us");
    assert!(longest[row(&outcome, 0, "write")] > 30_000.0, "{longest:?}");
    for sort in ["read", "degraded read", "write", "rebuild"] {
        assert!(longest[row(&outcome, 1, sort)] < 5000.0, "{sort}: {longest:?}");
    }
    let rebuilt = integers(&outcome, "requests", "bytes")[row(&outcome, 1, "rebuild")];
    assert_eq!(rebuilt, 2_000_000);
    // Four of seven servers keep a read's blocks: 4/7 of 4 times 180 reads, within four standard deviations.
    let degraded = integers(&outcome, "requests", "ended")[row(&outcome, 1, "degraded read")];
    assert!(degraded.abs_diff(411) < 53, "{degraded}");
    assert!(texts(&outcome, "requests", "sort").len() == 6, "the first job knows of no dead server");
}

#[test]
fn the_scenario_of_the_folder_shows_what_it_says() {
    let outcome = run(include_str!("../../../scenarios/storage.toml"));
    let ends = floats(&outcome, "jobs", "end_us");
    assert!(ends[0] > 40_000.0 && ends[1] < 40_000.0, "{ends:?}");
    assert_eq!(integers(&outcome, "requests", "bytes")[row(&outcome, 1, "rebuild")], 64_000_000);
    assert!(figure(&outcome, "rebuild_us") < ends[1] - 5000.0, "the rebuilding is over before the requests");
}

#[test]
fn a_storage_job_is_the_same_on_any_number_of_threads() {
    let text = server_dies();
    let alone = run_on(&text, None, 1);
    for threads in [2, 3] {
        let together = run_on(&text, None, threads);
        assert_eq!(alone.digest, together.digest, "{threads} threads");
        assert_eq!(format!("{:?}", alone.tables), format!("{:?}", together.tables), "{threads} threads");
        assert_eq!(format!("{:?}", alone.summary), format!("{:?}", together.summary), "{threads} threads");
    }
    assert_ne!(alone.digest, run_on(&text, Some(9), 1).digest, "the seed draws the servers");
}

#[test]
fn a_run_that_ends_early_counts_what_is_under_way() {
    let keys = "clients = 2\nservers = 3\nrequests = 1000\ndepth = 5\nbytes = '100kB'\nread_share = 0.0";
    let outcome = run(&star(5, keys, "").replace("'1s'", "'500us'"));
    assert_eq!(count(&outcome, "write", "unfinished"), 10);
    assert_eq!(count(&outcome, "write", "bytes"), count(&outcome, "write", "ended") * 100_000);
    assert!(count(&outcome, "write", "ended") > 10);
    // What is not rebuilt to its end has no time.
    let rebuild = format!("{keys}\nreplicas = 2\ndead = 0\nrebuild = '1GB'");
    let outcome = run(&star(5, &rebuild, "").replace("'1s'", "'500us'"));
    assert!(count(&outcome, "rebuild", "ended") > 0 && figure(&outcome, "rebuild_us").is_nan());
    // Before the first has ended there is no time of any.
    let outcome = run(&star(5, keys, "").replace("'1s'", "'5us'"));
    assert_eq!(count(&outcome, "write", "ended"), 0);
    for column in
        ["ended_us", "requests_per_second", "gb_per_s", "time_mean_us", "time_p99_us", "time_max_us"]
    {
        assert!(of(&outcome, "write", column).is_nan(), "{column}");
    }
    // What is no storage job has no such table.
    let other = star(4, "", "").replace("kind = 'storage'", "kind = 'collective'\ncollective = 'barrier'");
    assert!(run(&other).tables.iter().all(|table| table.name != "requests"));
    assert_eq!(table(&outcome, "requests").columns.len(), 13);
}

#[test]
fn what_cannot_be_is_refused_at_its_key_with_a_remedy() {
    let good = "clients = 2\nservers = 6\nrequests = 10\nbytes = '4kB'";
    let stripe = "redundancy = 'erasure'\ndata = 4\nparity = 2";
    assert!(
        run(&star(8, &format!("{good}\ndepth = 100"), "")).digest.starts_with("v2:"),
        "as deep as there are requests"
    );
    for (keys, part) in [
        (good.replace("servers = 6", "servers = 2"), "job[0].replicas: there are 2 servers: lower it, or raise servers"),
        (format!("{good}\n{stripe}").replace("servers = 6", "servers = 5"), "job[0].data: data and parity make 6 blocks"),
        (good.replace("'4kB'", "'0B'"), "job[0].bytes"),
        (good.replace("clients = 2\n", ""), "job[0].clients: missing"),
        (good.replace("requests = 10", "requests = 0"), "job[0].requests"),
        (format!("{good}\nread_share = 1.5"), "job[0].read_share"),
        (format!("{good}\ndepth = 0"), "job[0].depth"),
        (format!("{good}\ndata = 4"), "job[0].data"),
        (format!("{good}\n{stripe}\nreplicas = 3"), "job[0].replicas"),
        (format!("{good}\n{stripe}\nwrite_path = 'chain'"), "expected one of client, primary"),
        (format!("{good}\ndead = [6]"), "job[0].dead: found a list, expected servers from 0 to 5"),
        (format!("{good}\ndead = [0, 1, '2..4']"), "job[0].dead: 4 servers are dead, and objects outlive 2: name fewer, or raise replicas"),
        (format!("{good}\n{stripe}\ndead = [0, 1, 2]"), "objects outlive 2: name fewer, or raise parity"),
        (format!("{good}\nrebuild = '1MB'"), "job[0].rebuild: no server is dead"),
        (format!("{good}\nrebuild_depth = 2"), "job[0].rebuild_depth: nothing is rebuilt: give rebuild"),
        (format!("{good}\n{stripe}\ndead = [1]\nrebuild = '1MB'"), "job[0].rebuild: a new block goes to a server without a block of its stripe: 6 servers have to live, and 5 do"),
        (good.replace("requests = 10", "requests = 2000000"), "job[0].requests: takes up to"),
        (format!("{good}\ndead = [1]\nrebuild = '1TB'"), "job[0].rebuild: takes up to"),
        (good.replace("clients = 2", "clients = 3"), "job[0].hosts: there is room for 8 ranks, and the job has 9"),
        (good.replace("clients = 2", "clients = 1048576"), "the most is 1048576: use fewer"),
        (good.replace("'4kB'", "'1TB'").replace("requests = 10", "requests = 100"), "make messages smaller"),
    ] {
        let networks = std::path::Path::new(".");
        let why = match load_text(&star(8, &keys, ""), "scenario", networks, &[], None) {
            Ok(_) => panic!("{keys} is accepted"),
            Err(why) => why.to_string(),
        };
        assert!(why.contains(part), "{keys}: {why}");
    }
}
