use super::*;
use crate::job::never_ends;
use crate::model::{Operation, OperationGraph};

const EXAMPLE: &str = "\
num_ranks 2
rank 0 { // the first
l1: calc 1000 cpu 0
l2: send 4096b to 1 tag 7 cpu 0 nic 0
l2 requires l1
}
/* two
   lines */
rank 1 {
l1: recv 4096b from 0 tag 7
l2: calc 500
l2 irequires l1
}
what follows is not read
";

fn graph(text: &str) -> Result<OperationGraph, Problem> {
    read(text, Span::from_ns(1))?.build()
}

fn refused(text: &str) -> (u32, String) {
    match graph(text) {
        Err(Problem { line, message }) => (line, message),
        Ok(graph) => panic!("{text} is read as {graph:?}"),
    }
}

#[test]
fn the_format_of_loggopsim_is_read() {
    let graph = graph(EXAMPLE).expect("a job");
    let calc = |ns| Operation::Calc { stream: 0, time: Span::from_ns(ns) };
    let (send, receive) =
        (Operation::Send { channel: 0, bytes: 4096 }, Operation::Recv { channel: 0, bytes: 4096 });
    assert_eq!(graph.operations, [calc(1000), send, receive, calc(500)]);
    assert_eq!(graph.requirements, [0, 1, 0, 1]);
    assert!(!graph.followers_of(0)[0].after_start && graph.followers_of(2)[0].after_start);
    assert_eq!(graph.name(1), "rank 0 l2 (line 4, send 4096b to 1 tag 7)");
    assert_eq!(graph.name(2), "rank 1 l1 (line 10, recv 4096b from 0 tag 7)");
    assert_eq!(never_ends(&graph), None);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let body = |lines: &str| format!("num_ranks 2\nrank 0 {{\n{lines}\n}}\nrank 1 {{ }}\n");
    for (text, line, part) in [
        ("", 1, "is it cut off"),
        ("num_ranks 0", 1, "found 0 ranks"),
        ("num_ranks -3", 1, "not below zero"),
        ("num_ranks 2\nrank 0 {\nl1: calc 5\n", 3, "is it cut off"),
        ("num_ranks 2\nrank 0 {\n}\n", 3, "the file ends before rank 1 of 2"),
        ("num_ranks 3\nrank 1 { }\nrank 0 { }\n", 3, "blocks go by rank"),
        (&body("l1: send 8 to 1"), 3, "found 8, expected a size in bytes, such as 4096b"),
        (&body("l1: send -8b to 1"), 3, "not below zero"),
        (&body("l1: send 99999999999999999b to 1"), 3, "beyond 2^50 bytes"),
        (&body("l1: send 99999999999999999999b to 1"), 3, "below 2^64"),
        (&body("l1: recv 8b from -1"), 3, "name the one that is meant"),
        (&body("l1: calc 99999999999999999"), 3, "beyond 50 days"),
        (&body("l1: put 8b to 1"), 3, "found put, expected an operation"),
        (&body("l1: calc 1\nl1: calc 2"), 4, "rename one"),
        (&body("l1: calc 1\nl1 requires l2"), 4, "define labels before use"),
        (&body("l1: send 8b to 5"), 3, "found rank 5, expected one from 0 to 1"),
        (&body("l1: send 8b to 0"), 3, "exchanges a message with itself"),
        (&body("l1: send 8b to 1"), 3, "is never received"),
        (&body("l1: recv 8b from 1"), 3, "waits for a message that nobody sends"),
        ("num_ranks 2 /* no end", 1, "never ends"),
    ] {
        let (found, message) = refused(text);
        assert_eq!(found, line, "{text}: {message}");
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn a_message_of_another_size_or_tag_is_no_match() {
    let text =
        |send: &str| format!("num_ranks 2\nrank 0 {{\n{send}\n}}\nrank 1 {{\nrecv 8b from 0 tag 1\n}}\n");
    assert!(graph(&text("send 8b to 1 tag 1")).is_ok());
    assert_eq!(refused(&text("send 9b to 1 tag 1")).0, 6);
    let (line, message) = refused(&text("send 8b to 1 tag 2"));
    assert_eq!(line, 6);
    assert!(message.starts_with("rank 1 line 6 (recv 8b from 0 tag 1) waits for a message"), "{message}");
}

#[test]
fn who_waits_for_whom_is_named() {
    let text = "num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\n\
                rank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n";
    let cycle = never_ends(&graph(text).expect("a graph")).expect("a deadlock");
    assert_eq!(
        cycle,
        "rank 0 r (line 3, recv 8b from 1 tag 0), which waits for rank 1 s (line 9, send 8b to 0 tag 0), which waits for \
         rank 1 r (line 8, recv 8b from 0 tag 0), which waits for rank 0 s (line 4, send 8b to 1 tag 0), which waits for the \
         first"
    );
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n";
    let cycle = never_ends(&graph(text).expect("a graph")).expect("a cycle");
    assert_eq!(
        cycle,
        "rank 0 a (line 3, calc), which waits for rank 0 b (line 4, calc), which waits for the first"
    );
}
