use super::*;

#[test]
fn windows_are_quotients_and_never_longer_than_their_length() {
    for length in [2, 3, 5, 7, 1000, 1_005_120, 1 << 24, (1 << 24) - 1] {
        let windows = Windows::new(length);
        for number in (0..100).chain([1 << 20, 1 << 30, 1 << 39, u64::MAX / length - 1]) {
            let (start, end) = (windows.start(number), windows.end(number));
            assert!(end - start <= length && start <= number * length, "window {number} by {length}");
            assert!(number >= 100 || start == number * length, "window {number} by {length}");
            let found = [start.max(1) - 1, start, start + (end - start) / 2, end - 1, end]
                .map(|at| windows.number(at));
            assert_eq!(found, [number.max(1) - 1, number, number, number, number + 1], "by {length}");
        }
        for time in (0..100).map(|i| i * length / 3) {
            let part = (time % length) as f64 / length as f64 * PARTS as f64;
            let found = windows.find(time).1 as f64;
            assert!((found - part).abs() < 1.0, "{time} by {length}: {found} for {part}");
        }
    }
}

/// Takes windows out of a calendar and beside it out of a sorted list, adding events near and far as it goes.
#[test]
fn windows_come_out_whole_and_in_order() {
    let mut calendar = Calendar::new(Windows::new(10), 7);
    let mut oracle: Vec<(u64, u32)> = Vec::new();
    let mut random = 12345_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut now = 0;
    for id in 0..20_000 {
        let reach = [10, 100, 10_000, 30_000, 3_000_000][draw(5) as usize];
        let time = now * 10 + draw(reach);
        calendar.add(draw(7) as u32, Event::bare(time, Kind::Pace, id));
        oracle.push((time, id));
        if draw(3) == 0 {
            oracle.sort_unstable();
            now = calendar.next().expect("there are events");
            assert_eq!(now, oracle[0].0 / 10);
            let mut out = Vec::new();
            calendar.take(now, &mut out);
            let mut found: Vec<(u64, u32)> = out
                .into_iter()
                .map(|entry| calendar.release(slot_of(entry)))
                .map(|event| (event.time, event.id()))
                .collect();
            found.sort_unstable();
            let due = oracle.partition_point(|(time, _)| time / 10 == now);
            assert_eq!(found, oracle.drain(..due).collect::<Vec<_>>());
            assert_eq!(calendar.events().count(), oracle.len());
        }
    }
}

/// Events at numbers from that of the nodes on come out by themselves, near and far, and are in no window.
#[test]
fn what_happens_elsewhere_is_in_no_window() {
    let mut calendar = Calendar::new(Windows::new(10), 7);
    let mut expected = Vec::new();
    for id in 0..200_u32 {
        let node = 10 - id % 11;
        let time = u64::from(id % 3) * 30_000 + u64::from(id);
        calendar.add(node, Event::bare(time, Kind::Pace, id));
        expected.extend((node >= 7).then_some((node, id)));
        assert_eq!(calendar.next().is_some(), id >= 4, "of the first eleven, four happen elsewhere");
    }
    let mut out = Vec::new();
    calendar.take_elsewhere(&mut out);
    let mut found: Vec<(u32, u32)> =
        out.iter().map(|&entry| (node_of(entry), calendar.event(slot_of(entry)).id())).collect();
    found.sort_unstable_by_key(|&(_, id)| id);
    assert_eq!(found, expected);
    let mut here = 0;
    while let Some(window) = calendar.next() {
        out.clear();
        calendar.take(window, &mut out);
        assert!(out.iter().all(|&entry| node_of(entry) < 7));
        here += out.len();
    }
    assert_eq!(here + expected.len(), 200);
    out.clear();
    calendar.take_elsewhere(&mut out);
    assert!(out.is_empty());
}

#[test]
fn two_slots_are_a_cache_line_and_none_lies_in_two() {
    assert_eq!([size_of::<EventSlot>(), align_of::<EventSlot>()], [32, 32]);
}
