use super::*;

/// Returns flow control that pauses at `xoff`, resumes `hysteresis` bytes below it, and has `headroom` bytes beyond it.
fn with(xoff: Threshold, hysteresis: u64, headroom: u64) -> Pfc {
    let thresholds = Thresholds { xoff, hysteresis, headroom };
    Pfc::pausing(2, only(1), thresholds, None, (1000, 0))
}

/// Returns what it has to say, as times of the second class.
fn said(pfc: &mut Pfc) -> Vec<u64> {
    pfc.signals.drain(..).map(|pause| [pause.time, u64::MAX][usize::from(pause.class != 1)]).collect()
}

/// Repeats what is due at `now`. Returns when to ask again.
fn repeated(pfc: &mut Pfc, accounts: &[PortAccount], now: u64) -> Vec<u64> {
    let mut again = Vec::new();
    pfc.repeat(accounts, now, |at| again.push(at));
    again
}

#[test]
fn a_pause_is_repeated_when_half_of_it_has_passed_while_it_holds() {
    let mut pfc = with(Threshold::Static(0), 0, 2000);
    let mut accounts = [PortAccount::EMPTY; 2];
    let _ = pfc.charge(&mut accounts[1].account, 1, 100, None);
    assert_eq!(said(&mut pfc), [1000]);
    assert_eq!(pfc.arm_repeat(1, 40), Some(540));
    assert_eq!(pfc.arm_repeat(1, 90), None, "an event is to come");
    assert_eq!(repeated(&mut pfc, &accounts, 540), [590], "it was said again meanwhile");
    assert_eq!(said(&mut pfc), [0; 0]);
    assert_eq!(repeated(&mut pfc, &accounts, 590), [1090]);
    assert_eq!(said(&mut pfc), [1000]);
    accounts[1].account.release(100);
    pfc.resume_if_below(&mut accounts[1].account, 1, None);
    assert_eq!(said(&mut pfc), [0]);
    assert_eq!(repeated(&mut pfc, &accounts, 1090), [0; 0]);
    assert_eq!(said(&mut pfc), [0; 0]);
}
