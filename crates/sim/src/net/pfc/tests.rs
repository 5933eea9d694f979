use super::*;
use crate::net::memory::SharedBuffer;

/// Flow control with so many bytes up to XOFF, as many less at XON, and so many beyond XOFF.
fn with(xoff: Threshold, hysteresis: u64, headroom: u64) -> Pfc {
    let thresholds = Thresholds { xoff, hysteresis, headroom };
    Pfc::pausing(2, only(1), thresholds, None, (1000, 0))
}

/// What it has to say, as times of the second class.
fn said(pfc: &mut Pfc) -> Vec<u64> {
    pfc.signals.drain(..).map(|pause| [pause.time, u64::MAX][usize::from(pause.class != 1)]).collect()
}

#[test]
fn an_account_takes_its_headroom_to_the_byte_and_no_more() {
    for (size, last, one_more) in [(1000_u32, 1000_u64, 1), (1000, 999, 2), (300, 1, 1)] {
        let mut pfc = with(Threshold::Static(3000), 1500, 2000);
        let mut held = 0;
        while held + u64::from(size) <= 5000 - last {
            assert!(matches!(pfc.charge(1, size, None), Charged::Taken(0)));
            held += u64::from(size);
            assert_eq!(pfc.accounts[1].pausing, held > 3000, "{held}");
        }
        let rest = (5000 - held) as u32;
        assert_eq!(pfc.charge(1, rest + one_more, None), Charged::Overflow);
        assert_eq!(pfc.accounts[1].held(), held, "what is dropped is on no account");
        assert_eq!(pfc.charge(1, rest, None), Charged::Taken(0));
        assert_eq!(pfc.charge(1, 1, None), Charged::Overflow);
        let account = pfc.accounts[1];
        assert_eq!((account.common, account.headroom), (3000, 2000));
        assert_eq!((account.peak, account.peak_headroom), (5000, 2000));
        assert_eq!(said(&mut pfc), [1000], "PAUSE is said once");
        assert_eq!((pfc.room(), pfc.headroom()), (5000, 2000));
    }
}

#[test]
fn it_goes_on_at_xon_to_the_byte() {
    for hysteresis in [0, 700, 1500, 2999, 3000, 4000] {
        let mut pfc = with(Threshold::Static(3000), hysteresis, 2000);
        (0..40).for_each(|_| assert_eq!(pfc.charge(1, 100, None), Charged::Taken(0)));
        assert_eq!(said(&mut pfc), [1000]);
        let xon = 3000_u64.saturating_sub(hysteresis);
        for left in (0..4000).rev() {
            pfc.release(1, 1);
            pfc.resume_if_below(1, None);
            assert_eq!(pfc.accounts[1].held(), left);
            assert_eq!(said(&mut pfc), if left == xon { vec![0] } else { vec![] }, "{left} of XON {xon}");
        }
        assert_eq!(pfc.accounts[1].peak_headroom, 1000);
    }
}

#[test]
fn a_dynamic_threshold_is_a_share_of_what_is_free_now() {
    let mut memory = SharedBuffer { size: 10_000, used: 2_000, alpha: 1.0 };
    let mut pfc = with(Threshold::Dynamic(0.5), 1000, 500);
    // Half of 8000 bytes, and then half of what is left each time.
    assert_eq!(pfc.charge(1, 3000, Some(&memory)), Charged::Taken(3000));
    memory.used += 3000;
    assert_eq!(pfc.charge(1, 500, Some(&memory)), Charged::Taken(0));
    assert_eq!(said(&mut pfc), [1000], "2500 are fewer than the 3000 that it has");
    assert_eq!(pfc.charge(1, 1, Some(&memory)), Charged::Overflow);
    // What leaves is of its headroom first.
    assert_eq!(pfc.release(1, 600), 100);
    memory.used -= 100;
    pfc.resume_if_below(1, Some(&memory));
    assert_eq!(pfc.resumes_at(Some(&memory)), 1550);
    assert_eq!(said(&mut pfc), [0; 0]);
    assert_eq!(pfc.release(1, 900), 900);
    memory.used = 0;
    // It may go on at 4000 now, though it has 2000.
    pfc.resume_if_below(1, Some(&memory));
    assert_eq!(said(&mut pfc), [0]);
    assert_eq!(pfc.room(), u64::MAX);
}

#[test]
fn a_pause_is_repeated_when_half_of_it_has_passed_while_it_holds() {
    let mut pfc = with(Threshold::Static(0), 0, 2000);
    let _ = pfc.charge(1, 100, None);
    assert_eq!(said(&mut pfc), [1000]);
    assert_eq!(pfc.arm_repeat(1, 40), Some(540));
    assert_eq!(pfc.arm_repeat(1, 90), None, "an event is to come");
    assert_eq!(pfc.repeat(540), [590], "it was said again meanwhile");
    assert_eq!(said(&mut pfc), [0; 0]);
    assert_eq!(pfc.repeat(590), [1090]);
    assert_eq!(said(&mut pfc), [1000]);
    pfc.release(1, 100);
    pfc.resume_if_below(1, None);
    assert_eq!(said(&mut pfc), [0]);
    assert_eq!(pfc.repeat(1090), [0; 0]);
    assert_eq!(said(&mut pfc), [0; 0]);
}

#[test]
fn who_is_paused_goes_on_when_told_or_when_the_last_pause_has_run_out() {
    let mut pfc = Pfc::new(2);
    let pause = |time| Pause { class: 1, time };
    let (paused, ask) = pfc.hold(pause(100), 0, 10);
    assert_eq!((paused, ask), (only(1), Some(110)));
    // One that holds longer needs no event of its own.
    let (paused, ask) = pfc.hold(pause(100), paused, 50);
    assert_eq!((paused, ask), (only(1), None));
    assert_eq!(pfc.expire(paused, 110), (only(1), vec![150]));
    assert_eq!(pfc.paused_for(1, paused, 120), 110);
    assert_eq!(pfc.expire(paused, 150), (0, vec![]));
    assert_eq!((pfc.ran_out, pfc.received, pfc.paused_for(1, 0, 900)), (1, 2, 140));
    // One that is shorter runs out earlier; a RESUME ends it at once.
    let (paused, ask) = pfc.hold(pause(500), 0, 1000);
    assert_eq!(ask, Some(1500));
    assert_eq!(pfc.hold(pause(10), paused, 1001), (only(1), Some(1011)));
    assert_eq!(pfc.hold(pause(0), paused, 1005), (0, None));
    assert_eq!((pfc.paused_for(1, 0, 2000), pfc.hold_of(1).times), (145, 2));
    assert_eq!(pfc.expire(0, 1011), (0, vec![]));
    assert_eq!(pfc.ran_out, 1);
}
