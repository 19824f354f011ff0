//! Liveness of protocols with unbounded data, under the weakest kind of fairness that suffices.

use check::Route;

use crate::{assert_verdict, example};

fn assert_live(name: &str, property: &str, kind: &str, verdict: &str) {
    let text = example(name);
    assert_verdict(&text, property, Some(kind), Route::Predicate, verdict);
}

#[test]
fn bakery_with_stuttering_needs_weak_fairness_of_actions() {
    assert_live("bakery_stuttering", "exclusion", "none", "holds");
    for property in ["access", "access2"] {
        assert_live("bakery_stuttering", property, "none", "violated");
        assert_live("bakery_stuttering", property, "weak-process", "violated");
        assert_live("bakery_stuttering", property, "strong-process", "violated");
        assert_live("bakery_stuttering", property, "weak", "holds");
    }
}

/// Where doing nothing is a step of another process, fairness to processes is enough.
#[test]
fn bakery_with_a_process_that_stutters_needs_fairness_of_processes() {
    let text = example("bakery") + "\nprocess Idle { stutter { skip } }\n";
    for (kind, verdict) in [("none", "violated"), ("weak-process", "holds")] {
        assert_verdict(&text, "access", Some(kind), Route::Predicate, verdict);
    }
}

#[test]
fn ticket_locks_serve_every_process() {
    assert_live("ticket_lock", "access", "none", "holds");
}

#[test]
fn a_leader_is_elected() {
    assert_live("leader", "elected", "none", "holds");
}

#[test]
fn readers_come_and_leave() {
    assert_live("readers_writers", "reads", "strong", "holds");
    assert_live("readers_writers", "reads", "weak", "violated");
    // While there are readers, leaving is all that they and the writer can do.
    assert_live("readers_writers", "drained", "none", "holds");
}

#[test]
fn what_is_sent_over_fair_channels_is_confirmed() {
    assert_live("alternating_bit", "confirmed", "strong", "holds");
    assert_live("alternating_bit", "confirmed", "weak", "violated");
}

#[test]
fn caches_give_the_line_back() {
    assert_live("cache", "given_back", "weak", "holds");
}
