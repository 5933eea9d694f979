//! Ports that cut packets for which they have no room: what is cut, what goes ahead, and what is told of it.

use crate::experiment::{figure, floats, integers, link_count, picoseconds, run, run_on, Outcome};

/// Hosts around a switch with 80 Gb/s to each, where a full frame weighs 1000 B and takes 100 ns.
fn star(hosts: u32, switch: &str, rest: &str) -> String {
    format!(
        "format = 1\nname = 'trimming'\nduration = '5ms'\nstop_when_complete = true\n[network]\ntopology = 'star'\n\
         hosts = {hosts}\nrate = '80Gbps'\ndelay = '1us'\nmtu = '936B'\nframing = '0B'\n[switch.default]\n{switch}\n\
         [transport.t]\nprotocol = 'nscc'\nmax_window = 1.0\nquick_adapt = false\n{rest}"
    )
}

const TRIMS: &str = "buffer = '10kB'\noverflow = 'trim'";

fn incast(packets: u32) -> String {
    format!("[[traffic]]\npattern = 'incast'\nto = 0\nbytes = '{}B'\n", packets * 936)
}

fn trims(outcome: &Outcome) -> u64 {
    integers(outcome, "links", "trims").iter().sum()
}

/// Two hosts send 20 packets each at once: two come in the time of one. The port holds ten, of which one is in transmission. When
/// packet n of each has come, n + 1 of 2 n have left or are leaving, and n - 1 wait: all from the tenth packet of each on find it
/// full by one, and one of each two is cut.
#[test]
fn what_finds_no_room_is_cut_and_all_of_it_arrives() {
    let outcome = run(&star(3, TRIMS, &incast(20)));
    let cut = trims(&outcome);
    assert!((8..=12).contains(&cut), "{cut}");
    assert_eq!(link_count(&outcome, "tor0>h0", "trims"), cut);
    assert_eq!((figure(&outcome, "drops"), figure(&outcome, "timeouts_whole")), (0.0, 0.0));
    assert_eq!(figure(&outcome, "completed"), 2.0);
    // Each that was cut is sent again, and none comes twice.
    assert_eq!(figure(&outcome, "retransmissions"), cut as f64);
    assert_eq!(figure(&outcome, "needless_retransmissions"), 0.0);
    assert_eq!(figure(&outcome, "trims"), cut as f64);
}

/// Without trimming the same packets are dropped, and wait for a timer; nothing says so in the tables.
#[test]
fn a_port_that_drops_cuts_nothing() {
    let outcome = run(&star(3, "buffer = '10kB'", &incast(20)));
    assert!(figure(&outcome, "drops") >= 8.0);
    assert!(figure(&outcome, "timeouts_whole") > 0.0);
    assert!(outcome.tables.iter().all(|table| table.columns.iter().all(|(name, _)| *name != "trims")));
    let trimming = run(&star(3, TRIMS, &incast(20)));
    let last = |outcome: &Outcome| floats(outcome, "flows", "fct_us").iter().copied().fold(0.0, f64::max);
    assert!(last(&trimming) * 2.0 < last(&outcome), "{} {}", last(&trimming), last(&outcome));
}

/// A packet that is cut at an idle moment of the header queue is ahead of the queue: what it needs to the receiver and back is the
/// empty path's, and no more than the frame in transmission before it.
#[test]
fn headers_go_ahead_of_what_waits() {
    let text = star(3, "buffer = '1MB'\noverflow = 'trim'", &incast(400));
    let text = text.replace("max_window = 1.0", "max_window = 3.0");
    let whole = run(&text);
    assert_eq!(trims(&whole), 0);
    let small = run(&text.replace("1MB", "60kB"));
    assert!(trims(&small) > 0);
    // With 60 kB a packet waits 6 us, and a round trip is 4.2 us. What the sender hears by a header is sent again before the
    // port runs dry: the last byte comes no later than by the round trip of the last that is cut.
    let last = |outcome: &Outcome| picoseconds(outcome, "flows", "fct_us").into_iter().max();
    let later = last(&small).zip(last(&whole)).map(|(small, whole)| small - whole);
    assert!(later.is_some_and(|later| later < 4_200_000), "{later:?}");
}

/// Which of the two is cut, a draw decides: never, always, or about each second time the last that waits.
#[test]
fn the_draw_follows_its_probability() {
    let of = |tail: f64| {
        let switch = format!("{TRIMS}\ntrim_tail = {tail}");
        let outcome = run(&star(9, &switch, &incast(100)));
        assert_eq!((figure(&outcome, "completed"), figure(&outcome, "drops")), (8.0, 0.0), "{tail}");
        (outcome.digest.clone(), trims(&outcome))
    };
    let [never, half, always] = [0.0, 0.5, 1.0].map(of);
    assert!(never.0 != half.0 && half.0 != always.0 && never.0 != always.0);
    assert_eq!(of(0.5), half);
}

/// Room for one header only: the next ones are dropped, and a timer finds them.
#[test]
fn headers_beyond_their_room_are_dropped() {
    let outcome = run(&star(9, &format!("{TRIMS}\ntrim_room = '64B'"), &incast(100)));
    assert!(figure(&outcome, "drops") > 0.0 && figure(&outcome, "timeouts_whole") > 0.0);
    assert_eq!(figure(&outcome, "completed"), 8.0);
}

/// A transport that does not know of headers has its packets dropped, beside one that does.
#[test]
fn only_packets_that_may_be_are_cut() {
    let rest =
        "[transport.other]\nprotocol = 'none'\nwindow = 30\nrto = '100us'\n[[traffic]]\ntransport = 't'\n\
                pattern = 'incast'\nfrom = [1, 2]\nto = 0\nbytes = '50kB'\n[[traffic]]\ntransport = 'other'\n\
                pattern = 'incast'\nfrom = [3, 4]\nto = 0\nbytes = '50kB'\n";
    let outcome = run(&star(5, TRIMS, rest));
    assert_eq!(figure(&outcome, "completed"), 4.0);
    assert!(trims(&outcome) > 0);
    assert!(figure(&outcome, "drops") > 0.0);
}

/// With classes headers stand before all of them, and the audit of every class still holds at ports that cut nothing.
#[test]
fn headers_go_before_every_class() {
    let rest = "class = 'bulk'\nack_class = 'acks'\n[transport.first]\nprotocol = 'swift'\nclass = 'acks'\n[class.acks]\n\
                priority = 0\n[class.bulk]\npriority = 1\n[[traffic]]\ntransport = 't'\npattern = 'incast'\nto = 0\n\
                bytes = '93600B'\n[[traffic]]\ntransport = 'first'\npattern = 'incast'\nto = 0\nbytes = '9360B'\n";
    let outcome = run(&star(5, TRIMS, rest));
    assert_eq!(figure(&outcome, "completed"), 8.0);
    assert!(trims(&outcome) > 0);
}

/// Headers and what is said of them cross from thread to thread.
#[test]
fn any_number_of_threads_gives_the_same_outcome() {
    for spray in ["flow", "packet", "reps", "adaptive"] {
        let text = format!(
            "format = 1\nname = 'threads'\nduration = '1ms'\n[network]\ntopology = 'fat_tree'\nk = 4\nrate = '100Gbps'\n\
             [switch.default]\nbuffer = '60kB'\noverflow = 'trim'\necn = 'red'\necn_min = '12kB'\necn_max = '48kB'\n\
             ecn_pmax = 1\n[transport.t]\nprotocol = 'nscc'\nspray = '{spray}'\n[[traffic]]\npattern = 'incast'\nto = 3\n\
             bytes = '400kB'\n[[traffic]]\npattern = 'permutation'\nbytes = '400kB'\n[[fault]]\nkind = 'loss'\n\
             link = 'h3-tor1'\nprobability = 0.002\n"
        );
        let alone = run_on(&text, None, 1);
        assert!(trims(&alone) > 0, "{spray}");
        for threads in [2, 3, 7] {
            let together = run_on(&text, None, threads);
            assert_eq!(alone.digest, together.digest, "{spray}, {threads} threads");
            assert_eq!(
                format!("{:?}", alone.tables),
                format!("{:?}", together.tables),
                "{spray}, {threads} threads"
            );
        }
    }
}
