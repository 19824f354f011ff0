//! What processes do, construct by construct.

use crate::support::{
    branching_verdict, counts, load_with, outcomes, right, verdicts, verdicts_under,
};

#[test]
fn events_with_a_program_do_not_synchronise() {
    let text = "
        var x = 0;
        P = a{x = x + 1;} -> Stop;
        Q = a -> Stop;
        System = P || Q;
        #define both x == 1;
        #assert System |= []!both;
        #assert System |= [](a -> both);
    ";
    // Each performs its own `a`: the one of Q does not change x.
    assert_eq!(verdicts(text), "NN");
    assert_eq!(counts(text), (4, 5));
    let warned = right(text).diagnostics;
    assert!(
        warned.iter().any(|d| d.code == "event-with-program"),
        "{warned:?}"
    );
}

#[test]
fn events_without_program_synchronise_on_alphabets() {
    let text = "
        P = a -> b -> P;
        Q = b -> c -> Q;
        System = P || Q;
        #assert System deadlockfree;
        #assert System |= []<> c;
    ";
    assert_eq!(verdicts(text), "YY");
    assert_eq!(counts(text), (4, 5));
    // R knows `a` but never performs it after the first time, so P is blocked.
    let blocked = "
        P = a -> P;
        R = a -> Stop;
        System = P || R;
        #assert System deadlockfree;
    ";
    assert_eq!(verdicts(blocked), "N");
}

#[test]
fn declared_alphabets_replace_the_default_ones() {
    let text = |alphabet: &str| {
        format!(
            "P = a -> P; Q = b -> Stop; {alphabet} System = P || Q; \
             #assert System |= []!a; #assert System |= []<>a;"
        )
    };
    // By default Q does not know `a`.
    assert_eq!(verdicts(&text("")), "NY");
    // If it does, no process can perform it.
    let never = right(&text("#alphabet Q {a, b};"));
    assert!(never.diagnostics.iter().any(|d| d.code == "unknown-event"));
    assert_eq!(verdicts(&text("#alphabet Q {a, b};")), "YN");
}

#[test]
fn partners_may_have_to_be_chosen() {
    // Either copy of P joins Q.
    let text = "
        P = a -> p -> Stop;
        Q = a -> a -> Stop;
        System = (P ||| P) || Q;
        #assert System |= []!p;
    ";
    assert_eq!(verdicts(text), "N");
    assert_eq!(counts(text), (9, 13));
}

#[test]
fn an_enabled_atomic_process_comes_first() {
    let text = "
        P = a -> atomic { b -> c -> Skip };
        Q = atomic { d -> e -> f -> Skip };
        System = P ||| Q;
        #assert System |= !a U f;
        #assert System |= [](b -> X c);
    ";
    assert_eq!(verdicts(text), "YY");
}

#[test]
fn termination_is_joint() {
    let text = "
        System = (a -> Skip ||| b -> Skip); c -> Stop;
        #assert System |= [](c -> false) ;
        #assert System |= (!c U a) && (!c U b);
        #assert System deadlockfree;
    ";
    assert_eq!(verdicts(text), "NYN");
    // a and b in any order, then a silent step, then c.
    assert_eq!(counts(text), (6, 7));
    let parallel = "System = (a -> b -> Skip || b -> Skip); c -> Skip; #assert System deadlockfree; #assert System nonterminating;";
    assert_eq!(verdicts(parallel), "YN");
}

#[test]
fn silent_steps_resolve_general_but_not_external_choice() {
    let text = "
        Spec = a -> Stop [*] b -> Stop;
        General = (tau -> a -> Stop) [] (b -> Stop);
        External = (tau -> a -> Stop) [*] (b -> Stop);
        Internal = (a -> Stop) <> (b -> Stop);
        #assert General refines Spec;
        #assert General refines<F> Spec;
        #assert External refines<F> Spec;
        #assert Internal refines Spec;
        #assert Internal refines<F> Spec;
        #assert Spec refines<F> Internal;
    ";
    assert_eq!(verdicts(text), "YNYYNY");
}

#[test]
fn a_channel_of_size_0_is_a_handshake() {
    let text = "
        channel c 0;
        S = c!1 -> c!2 -> Stop;
        R(sum) = c?x -> R(sum + x) [] done.sum -> Stop;
        System = S ||| R(0);
        #assert System |= <> done.3;
        #assert System |= [](\"c!2\" -> X (done.3));
        #assert System |= []!c.3;
        #assert S deadlockfree;
    ";
    assert_eq!(verdicts(text), "NYYN");
}

#[test]
fn buffers_keep_the_order_and_have_room() {
    let text = "
        channel c 2;
        var last = 0;
        S(i) = [i < 4] c!i -> S(i + 1);
        R = c?x -> got{last = x;} -> R;
        System = S(1) ||| R;
        #define first last == 1;
        #define third last == 3;
        #define full call(cfull, c);
        #define many call(ccount, c) > 2;
        #assert System reaches full;
        #assert System reaches many;
        #assert System |= !third U first;
        #assert System |= <> third;
        #assert System |= [](\"c?2\" -> <> \"c?3\");
    ";
    assert_eq!(verdicts(text), "YNYYY");
}

#[test]
fn messages_can_be_matched_and_tested() {
    let text = "
        channel c 1;
        S = c!1.5 -> c!2.7 -> Stop;
        R = c?1.x -> one.x -> R [] c?[x + y > 8]x.y -> two.y -> R;
        System = S ||| R;
        #assert System |= <> two.7;
        #assert System |= [](one.5 -> <> two.7);
        #assert System deadlockfree;
    ";
    assert_eq!(verdicts(text), "YYN");
}

#[test]
fn messages_of_different_lengths_are_told_apart() {
    let text = "
        channel c 3;
        S = c!1 -> c!2.3 -> Stop;
        R = c?x -> one.x -> R [] c?x.y -> two.x.y -> R;
        System = S ||| R;
        #assert System |= <> one.1;
        #assert System |= <> two.2.3;
        #assert System |= !two.2.3 U one.1;
    ";
    assert_eq!(verdicts(text), "YYY");
}

#[test]
fn tests_are_steps_of_their_own_except_in_ifa() {
    let with = |word: &str| {
        format!(
            "var x = 0; P = {word} (x == 0) {{ e{{x = x + 1;}} -> Stop }}; \
             System = P ||| P; #define twice x == 2; #assert System reaches twice;"
        )
    };
    assert_eq!(verdicts(&with("if")), "Y");
    assert_eq!(verdicts(&with("ifa")), "N");
    assert_eq!(verdicts(&with("ifb")), "Y");
    // `ifb` waits, `if` and `ifa` terminate where the test fails and there is no `else`.
    let failing = |word: &str| {
        format!("var x = 0; P = {word} (x == 1) {{ e -> Skip }}; #assert P deadlockfree;")
    };
    assert_eq!(verdicts(&failing("if")), "Y");
    assert_eq!(verdicts(&failing("ifa")), "Y");
    assert_eq!(verdicts(&failing("ifb")), "N");
}

#[test]
fn case_takes_the_first_true_branch() {
    let text = "
        var x = 1;
        P = case { x == 0: a -> Stop  x == 1: b -> Stop  x > 0: c -> Stop  default: d -> Stop };
        #assert P |= <> b;
        #assert P |= []!c;
    ";
    let loaded = right(text);
    assert_eq!(outcomes(&loaded, None).len(), 2);
    assert_eq!(verdicts(text), "YY");
}

#[test]
fn termination_is_no_deadlock() {
    let text = "
        P = a -> Skip;
        Q = a -> Stop;
        #assert P deadlockfree;
        #assert P nonterminating;
        #assert Q deadlockfree;
        #assert Q nonterminating;
    ";
    assert_eq!(verdicts(text), "YNNN");
}

#[test]
fn interrupts_take_over_for_good() {
    let text = "
        P = a -> P;
        Q = stop -> b -> Stop;
        System = P interrupt Q;
        #assert System |= [](stop -> X (b || false));
        #assert System |= [](stop -> [](!a));
        #assert System |= <> stop;
    ";
    assert_eq!(verdicts(text), "YYN");
}

#[test]
fn hidden_events_are_silent() {
    let text = "
        P = (a -> P) \\ {a};
        Loop = a -> Loop;
        Hidden = Loop \\ {a};
        Q = (a -> b -> Q1()) \\ {a}; Q1() = a -> b -> Q1();
        Spec = b -> Spec1; Spec1 = a -> b -> Spec1;
        #assert Hidden divergencefree;
        #assert Loop divergencefree;
        #assert Hidden refines<FD> Loop;
        #assert Loop refines<FD> Hidden;
        #assert Hidden refines Loop;
    ";
    assert_eq!(verdicts(text), "NYNYY");
}

#[test]
fn hidden_communications_of_components_are_silent() {
    let text = "
        P = sync -> a -> P;
        Q = sync -> b -> Q;
        System = (P || Q) \\ {sync};
        Visible = P || Q;
        #assert System |= []<> a;
        #assert System divergencefree;
        #assert Visible |= []<> sync;
    ";
    assert_eq!(verdicts(text), "YYY");
    let loaded = right(text);
    let model = &loaded.systems()[0].model;
    let names: Vec<&str> = model.actions().iter().map(|a| a.name.as_str()).collect();
    assert!(names.contains(&"tau(sync)"), "{names:?}");
}

#[test]
fn an_event_is_one_action_whichever_process_performs_it() {
    // P and Q both perform `a`, so fairness to `a` is satisfied by one of them.
    let text = "
        P = a -> p -> P; Q = a -> q -> Q;
        System = P ||| Q;
        #assert System |= []<> p;
    ";
    assert_eq!(verdicts_under(text, Some("strong")), "N");
    assert_eq!(verdicts_under(text, Some("strong-process")), "Y");
    let loaded = right(text);
    assert_eq!(loaded.systems()[0].model.actions().len(), 3);
    let loops = "P = a -> P; Q = a -> b -> Q; System = P ||| Q; #assert System |= []<> b;";
    assert_eq!(verdicts_under(loops, Some("weak")), "N");
    assert_eq!(verdicts_under(loops, Some("weak-process")), "Y");
}

#[test]
fn a_position_carries_the_event_that_led_to_it() {
    let text = "
        var x = 0;
        P = e{x = 1;} -> Stop;
        #define p x == 1;
        #assert P |= [](e -> p);
        #assert P |= e -> X false;
        #assert P |= X e;
    ";
    assert_eq!(verdicts(text), "YYY");
}

#[test]
fn annotations_ask_for_fairness_of_single_events() {
    let text = |event: &str| {
        format!("P = {event} -> P [] b -> P; #assert P |= []<> a; #assert P |= []<> b;")
    };
    assert_eq!(verdicts(&text("a")), "NN");
    assert_eq!(verdicts(&text("wf(a)")), "YN");
    assert_eq!(verdicts(&text("sf(a)")), "YN");
    assert_eq!(verdicts(&text("f(a)")), "YN");
    let enabled_now_and_then =
        |event: &str| format!("P = {event} -> P [] b -> c -> P; #assert P |= []<> a;");
    assert_eq!(verdicts(&enabled_now_and_then("wf(a)")), "N");
    assert_eq!(verdicts(&enabled_now_and_then("sf(a)")), "Y");
    let joint = "P = sf(a) -> P [] b -> P; Q = a -> Q; System = P || Q; #assert System |= []<>a;";
    assert_eq!(verdicts(joint), "Y");
    let channel = "channel c 0; S = sf(c!1) -> S [] b -> S; R = c?x -> R; System = S ||| R; #assert System |= []<>\"c!1\";";
    assert_eq!(verdicts(channel), "Y");
}

#[test]
fn received_values_travel_with_the_process() {
    let text = "
        channel c 1;
        S(i) = c!i -> S((i + 1) % 3);
        R(old) = c?x -> ifa (x == (old + 1) % 3) { ok -> R(x) } else { bad -> Stop };
        System = S(0) ||| R(2);
        #assert System |= []!bad;
        #assert System deadlockfree;
        #assert System |= []<> ok;
    ";
    assert_eq!(verdicts(text), "YYY");
    // The sender has 3 values; the buffer is full or not, the receiver waits or is about to say ok.
    let (states, _) = counts(text);
    assert_eq!(states, 12);
}

#[test]
fn arguments_are_evaluated_at_the_first_step() {
    let text = "
        var x = 0;
        P(v) = got.v -> Stop;
        Q = set{x = 1;} -> Stop;
        System = P(x) ||| Q;
        #assert System |= !got.1 U set;
        #assert System |= [](set -> []!got.0);
    ";
    // After `set` the process that has not moved yet sees the new value.
    assert_eq!(verdicts(text), "YY");
}

#[test]
fn processes_that_grow_end_in_unknown() {
    let grows = "P = a -> (P ||| P); #assert P deadlockfree;";
    assert_eq!(verdicts(grows), "?");
    let counts_up = "P(i) = a.i -> P(i + 1); #assert P(0) deadlockfree;";
    assert_eq!(verdicts(counts_up), "?");
    // What does not grow in fact is decided, whatever the text may look like.
    let bounded = "var n = 0; P = [n < 2] a{n = n + 1;} -> (P ||| Stop); #assert P deadlockfree;";
    assert_eq!(verdicts(bounded), "N");
}

#[test]
fn a_larger_bound_decides_more() {
    let text = "P(i) = [i < 100] a -> P(i + 1) [] [i == 100] b -> P(i); #assert P(0) deadlockfree;";
    let small = load_with(text, 50);
    assert!(outcomes(&small, None)[0].is_exhausted());
    let large = load_with(text, 200);
    assert_eq!(outcomes(&large, None)[0].verdict.name(), "holds");
}

#[test]
fn processes_created_while_running_are_interleaved() {
    let text = "
        var n = 0;
        Worker = begin{n = n + 1;} -> end{n = n - 1;} -> Skip;
        Boss = hire -> (Worker ||| Worker); Boss;
        #define busy n == 2;
        #define crowd n == 3;
        #assert Boss reaches busy;
        #assert Boss reaches crowd;
        #assert Boss deadlockfree;
    ";
    assert_eq!(verdicts(text), "YNY");
}

#[test]
fn programs_compute() {
    let text = "
        #define N 5;
        #define square(i) i * i;
        #define reset(i) {x = i; y = i;};
        var x = 0; var y = 0; var z:{0..100} = 0;
        var a[3][2]; var b = [1(2), 3..5, 9..7];
        P = one{
                var i = 0; var sum = 0;
                while (i < N) { sum = sum + call(square, i); i++; }
                z = sum;
            } ->
            two{ a[1][1] = 7; if (a[1][1] == 7 && !(b[2] != 3)) { x = b[0] + b[5]; } else { x = -1; } } ->
            three{ y = 7 / 2 + -7 / 2 + 7 % 4 + (6 & 3) + (6 | 1) + (5 ^ 1); } ->
            four{ call(reset, 4); } -> Stop;
        #define sum z == 30;
        #define mixed x == 10;
        #define bits y == 3 + 2 + 7 + 4;
        #define both x == 4 && y == 4;
        #define all (&& i:{0..1} @ b[i] == 1) && (|| i:{0..7} @ b[i] == 5);
        #assert P |= <> sum;
        #assert P |= <> mixed;
        #assert P |= <> bits;
        #assert P |= <> both;
        #assert P |= [] all;
        #assert P reaches both with max(z);
    ";
    assert_eq!(verdicts(text), "YYYYYY");
}

#[test]
fn variables_may_start_with_any_value() {
    let text = "
        var x:{0..2} = *;
        P = [x == 1] a -> P;
        #define one x == 1;
        #assert P |= [] one;
        #assert P |= [](one -> []<>one);
    ";
    assert_eq!(counts(text).0, 3);
    assert_eq!(verdicts(text), "NY");
}

#[test]
fn indexed_and_replicated_forms_unfold() {
    let text = "
        P(i, j) = e.i.j -> Stop;
        System = ||| i:{0..1}; j:{2, 4} @ P(i, j);
        Copies = |||{3} @ (a -> Stop);
        Choice = [] i:{0..2} @ pick.i -> Stop;
        #assert System |= <> e.1.4;
        #assert System |= []!e.1.2;
        #assert Copies deadlockfree;
        #assert Choice |= <> pick.2;
    ";
    assert_eq!(verdicts(text), "YNNN");
    assert_eq!(counts(text).0, 16);
}

#[test]
fn several_events_in_brackets_are_a_choice() {
    let text = "P = (a, b) -> P; #assert P |= []<> a; #assert P |= []<>(a || b);";
    assert_eq!(verdicts(text), "NY");
}

#[test]
fn determinism_is_about_equal_names() {
    let text = "
        P = a -> Stop [] a -> Skip;
        Q = a -> Stop [] b -> Skip;
        #assert P deterministic;
        #assert Q deterministic;
    ";
    assert_eq!(verdicts(text), "NY");
}

#[test]
fn optima_are_found() {
    let text = "
        var cost = 0; var done = false;
        P = cheap{cost = cost + 2;} -> Finish [] dear{cost = cost + 7;} -> Finish;
        Finish = finish{done = true;} -> Stop;
        #define goal done;
        #assert P reaches goal with min(cost);
        #assert P reaches goal with max(cost);
    ";
    let loaded = right(text);
    let plan = check::Plan::default();
    let mut found = Vec::new();
    for question in &loaded.questions {
        let source::QuestionKind::Optimum { value, greatest } = &question.kind else {
            panic!("{question:?}");
        };
        let model = &loaded.systems()[question.system].model;
        let progress = &mut base::NoProgress;
        let best = check::optimum(model, &question.property, value, *greatest, &plan, progress);
        found.push(best.expect("evidence is right").1);
    }
    assert_eq!(found, [Some(2), Some(7)]);
}

#[test]
fn run_time_errors_are_found_and_located() {
    let errors = [
        (
            "var x = 0; P = a{x = 1 / x;} -> P; #assert P deadlockfree;",
            "division by zero",
        ),
        (
            "var a[2]; var i = 0; P = b{a[i] = 1; i = i + 1;} -> P; #assert P deadlockfree;",
            "no index 2",
        ),
        (
            "var x:{0..2} = 0; P = a{x++;} -> P; #assert P deadlockfree;",
            "outside the type",
        ),
        (
            "var x = 0; P = a{x = 1;} -> assert(x == 0); P; #assert P deadlockfree;",
            "assertion",
        ),
        (
            "var x = 0; P = a{while (x == 0) {x = 0;}} -> P; #assert P deadlockfree;",
            "does not end",
        ),
    ];

    for (text, expected) in errors {
        let loaded = right(text);
        let outcome = &outcomes(&loaded, None)[0];
        let evidence::Verdict::Violated(violation) = &outcome.verdict else {
            panic!("{text}: {outcome:?}");
        };
        let evidence::ViolationKind::RunTimeError(error) = &violation.kind else {
            panic!("{text}: {violation:?}");
        };
        assert!(
            error.kind.to_string().contains(expected),
            "{text}: {}",
            error.kind
        );
        assert!(error.span.end > error.span.start, "{text} is located");
    }
}

#[test]
fn conditions_may_lead_back_to_the_same_process() {
    let text = "
        var room[2];
        P(j) = [room[j] == 1] P((j + 1) % 2) [] [room[j] == 0] take.j{room[j] = 1;} -> P(j);
        System = P(0);
        #assert System |= <> take.1;
        #assert System deadlockfree;
    ";
    assert_eq!(verdicts(text), "YN");
}

#[test]
fn arrays_are_assigned_and_compared_as_wholes() {
    let text = "
        var a[2][3] = [1, 2, 3, 4, 5, 6];
        var b[2][3];
        P = copy{b = a;} -> change{a[1][2] = 9;} -> back{a = b;} -> Stop;
        #define same a == b;
        #define kept b[1][2] == 6;
        #define differ a != b;
        #assert P |= [](copy -> same);
        #assert P |= [](change -> kept);
        #assert P |= [](change -> differ);
        #assert P |= [](back -> same);
        #assert P |= [] kept;
    ";
    assert_eq!(verdicts(text), "YYYYN");
}

#[test]
fn arrays_are_sent_and_passed_as_wholes() {
    // What is sent is a copy, which has one index whatever the dimensions were.
    let copied = |size: usize| {
        format!(
            "channel c {size};
            var a[2][2] = [1, 2, 3, 4];
            S = c!a.7 -> change{{a[1][0] = 9;}} -> Stop;
            R = c?z.k -> ready -> got.z[2].k -> Last(z, 3);
            Last(w, i) = last.w[i] -> Stop;
            System = S ||| R;
            #assert System |= <> got.3.7;
            #assert System |= []!got.9.7;
            #assert System reaches changed;
            #assert System |= [](got.3.7 -> <> last.4);
            #define changed a[1][0] == 9;"
        )
    };
    assert_eq!(verdicts(&copied(0)), "YYYY");
    assert_eq!(verdicts(&copied(1)), "YYYY");

    // An argument is evaluated when the process takes its first step.
    let lazy = "
        var a[2];
        P(x) = see.x[1] -> again.x[1] -> Stop;
        System = P(a) ||| (set{a[1] = 5;} -> Stop);
        #assert System |= []!see.5;
        #assert System |= [](see.0 -> []!again.5);
        #assert System |= [](see.5 -> []!again.0);
    ";
    assert_eq!(verdicts(lazy), "NYY");
}

#[test]
fn arrays_and_numbers_in_messages_are_told_apart() {
    let text = "
        channel c 2;
        var a[2] = [4, 5];
        S(i) = c!i -> S(a);
        One = c?4 -> one -> One;
        Any = c?x -> c?y -> two -> Stop;
        Waiting = S(4) ||| One;
        Taking = S(4) ||| Any;
        #assert Waiting |= []<> one;
        #assert Waiting deadlockfree;
        #assert Taking |= <> two;
        #assert Taking |= []!two;
        #assert Taking |= <> \"c?[4, 5]\";
    ";
    assert_eq!(verdicts(text), "NNYNY");
}

#[test]
fn an_index_that_may_leave_a_received_array_is_refused() {
    let with = |range: &str| {
        format!(
            "channel c 0; var a[2] = [4, 5]; var i{range} = 0;
            S = c!a -> Stop; M = move{{i = 1 - i;}} -> M; R = c?z -> see.z[i] -> Stop;
            System = S ||| M ||| R; #assert System deadlockfree;"
        )
    };
    let codes = |text: &str| -> Vec<&str> {
        let loaded = load_with(text, 0);
        loaded.diagnostics.iter().map(|d| d.code).collect()
    };
    assert_eq!(verdicts(&with(":{0..1}")), "Y");
    assert_eq!(codes(&with(":{0..2}")), ["index-out-of-range"]);
}

#[test]
fn path_quantifiers_are_asked_of_states_and_events() {
    let text = "
        var x = 0;
        P = a{x = 1;} -> (b{x = 2;} -> Stop [] c{x = 0;} -> P);
        #define two x == 2;
        #define zero x == 0;
    ";
    for (formula, expected) in [
        ("EF two", "holds"),
        // `a` and `c` may alternate forever.
        ("AF two", "violated"),
        ("AG EF two", "holds"),
        // The end of a run is repeated forever.
        ("AG (two -> AG two)", "holds"),
        ("AG EF zero", "violated"),
        ("E (!two U c)", "holds"),
        ("EX b", "violated"),
        ("EX EX b", "holds"),
        ("AX (a && EX b && EX c)", "holds"),
        ("A (([]<> a) -> [] !two)", "holds"),
        ("A [](a -> <> two)", "violated"),
        ("zero && !two", "holds"),
        ("G EF two", "formula"),
        ("EF three", "unknown-event"),
    ] {
        assert_eq!(branching_verdict(text, formula), expected, "{formula}");
    }
}

#[test]
fn locations_are_named_by_events() {
    let text = "
        var taken = 0;
        channel c 1;
        P(i) = [taken == 0] take.i.(i + 1){taken = 1;} -> c!i -> c?j -> Q(i, i + 1);
        Q(i, k) = go -> (back.k -> P(i) [] if (taken == 1) { Skip } else { Stop });
        #assert P(3) deadlockfree;
    ";
    let loaded = right(text);
    let names = &loaded.systems()[0].model.parts().processes[0].locations;
    let expected = [
        "P(3)",
        "c!3 -> c?j -> …",
        "c?j -> …",
        "Q(3, 4)",
        "back.4 -> P(3) [] if (taken == 1)",
    ];
    assert_eq!(names[..5], expected, "{names:?}");
}
