//! Probes of a relay, answered and not.

use super::*;

const SESSION: u64 = 0x1122_3344_5566_7788;
const PROBING: Probing =
    Probing { every: Span::from_secs(1), delay: Span::from_us(400), response: Span::from_ms(2) };

/// What the kernel makes of a probe that came back after this round trip.
fn back(probe: [u8; BYTES], round_trip: Span) -> [u8; BYTES] {
    let (mut answer, left_ns) = (probe, 5_000_000_000_u64);
    answer[18..22].copy_from_slice(&2_u32.to_be_bytes());
    answer[38..46].copy_from_slice(&left_ns.to_ne_bytes());
    answer[46..54].copy_from_slice(&(left_ns + round_trip.as_ps() / 1000).to_ne_bytes());
    answer
}

fn prober(probing: Probing) -> Prober {
    Prober::new([2; 6], SESSION, probing, Time::ZERO)
}

#[test]
fn the_quickest_of_the_last_sixteen_counts() {
    let mut prober = prober(PROBING);
    let mut now = Time::ZERO;
    let mut answered = |prober: &mut Prober, round_trip| {
        let probe = prober.poll(now).expect("one is due");
        assert_eq!(prober.poll(now), None);
        now = prober.poll_timeout();
        assert!(prober.take(&back(probe, round_trip)));
        // A second answer to the same counts no more.
        assert!(prober.take(&back(probe, Span::from_us(1))));
        prober.figures().delay_ns.expect("there is an answer")
    };
    assert_eq!(answered(&mut prober, Span::from_us(900)), 450_000);
    assert_eq!(answered(&mut prober, Span::from_us(800)), 400_000);
    for _ in 0..15 {
        assert_eq!(answered(&mut prober, Span::from_us(1000)), 400_000);
    }
    assert_eq!(answered(&mut prober, Span::from_us(1000)), 500_000);
    assert_eq!((prober.figures().probes, prober.figures().answers), (18, 18));
}

#[test]
fn a_longer_link_is_found_once_and_so_is_one_that_is_short_again() {
    let mut prober = prober(PROBING);
    let mut found = Vec::new();
    // 500 us more take half of the response, there and back.
    for (number, one_way) in [400, 890, 910, 1500, 400].into_iter().enumerate() {
        let now = Time::ZERO + PROBING.every * (number as u64 * 20);
        for turn in 0..LAST as u64 {
            let probe = prober.poll(now + PROBING.every * turn).expect("one is due");
            assert!(prober.take(&back(probe, Span::from_us(one_way * 2))));
        }
        found.extend(prober.poll_finding());
        assert_eq!(prober.poll_finding(), None);
    }
    assert_eq!(found, [Finding::AsPlanned, Finding::Longer, Finding::AsPlanned]);
}

#[test]
fn silence_is_found_when_no_answer_can_be_on_its_way_and_ends_with_one() {
    for (delay, silent_at) in [(Span::from_us(400), 9), (Span::from_secs(2), 17)] {
        let mut prober = prober(Probing { delay, ..PROBING });
        let send = |prober: &mut Prober, turn: u64| prober.poll(Time::ZERO + PROBING.every * turn).unwrap();
        for turn in 0..40 {
            let probe = send(&mut prober, turn);
            assert_eq!(prober.poll_finding(), (turn + 1 == silent_at).then_some(Finding::Silent), "{turn}");
            if turn == 39 {
                assert!(prober.take(&back(probe, delay * 2)));
            }
        }
        assert_eq!(prober.poll_finding(), Some(Finding::AsPlanned));
        (40..60).for_each(|turn| _ = send(&mut prober, turn));
        assert_eq!(prober.poll_finding(), Some(Finding::Silent));
        assert_eq!(prober.figures().delay_ns, None, "what was so is not told any more");
    }
}

#[test]
fn what_is_not_its_own_is_left_and_what_nobody_sent_tells_nothing() {
    let mut prober = prober(PROBING);
    let probe = prober.poll(Time::ZERO).unwrap();
    let mut other = back(probe, Span::from_us(800));
    other[22] ^= 1;
    assert!(!prober.take(&other));
    assert!(!prober.take(&probe[..53]) && !prober.take(&[]));
    let mut unsent = back(probe, Span::from_us(800));
    unsent[30..38].copy_from_slice(&2_u64.to_ne_bytes());
    assert!(prober.take(&unsent) && prober.take(&probe), "the kernel has noted no time in the second");
    assert_eq!(prober.figures().answers, 0);
    assert!(prober.take(&back(probe, Span::from_us(800))));
    assert_eq!(prober.figures().answers, 1);
}

#[test]
fn none_is_sent_where_none_is_wanted() {
    let mut prober = prober(Probing { every: Span::ZERO, ..PROBING });
    assert_eq!((prober.poll_timeout(), prober.poll(Time::ZERO + Span::from_secs(100))), (Time::NEVER, None));
    assert_eq!(prober.poll_finding(), None);
}
