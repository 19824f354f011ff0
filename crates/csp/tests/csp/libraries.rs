//! Libraries, arrays as values, functions, and what of a text is needed at all.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use base::{Severity, Source};
use source::{Memory, Options};

use crate::robust::Random;
use crate::support::{load_with, verdicts};

/// The codes of errors.
fn errors(text: &str) -> Vec<&'static str> {
    let loaded = load_with(text, 0);
    let errors = loaded.diagnostics.iter();
    let errors = errors.filter(|d| d.severity == Severity::Error);
    errors.map(|d| d.code).collect()
}

fn small(random: &mut Random) -> i64 {
    random.below(5) as i64
}

/// What an operation of a library is, as a program, and what it does to a vector.
type Operation = fn(&mut Random, &mut Vec<i64>) -> String;

/// Runs operations in a row, one event each, and compares the elements in between.
fn compare(class: &str, get: &str, operations: &[Operation], seed: u64) {
    let mut numbers = Random(seed);
    let mut elements = Vec::new();
    let mut process = String::new();
    let mut claims = String::new();
    for step in 0..8 {
        let operation = operations[numbers.below(operations.len())];
        let program = operation(&mut numbers, &mut elements);
        process += &format!("e.{step}{{{program}}} -> f.{step} -> ");
        let mut right = format!("x.Count() == {}", elements.len());
        for (position, element) in elements.iter().enumerate() {
            right += &match get {
                "" => format!(" && x.Contains({element})"),
                get => format!(" && {get}({position}) == {element}"),
            };
        }
        for other in 0..5 {
            let is_in = elements.contains(&other);
            right += &format!(" && x.Contains({other}) == {is_in}");
        }
        claims +=
            &format!("#define right{step} {right};\n#assert P |= [](f.{step} -> right{step});\n");
    }
    let text =
        format!("#import \"PAT.Lib.{class}\";\nvar<{class}> x;\nP = {process} Skip;\n{claims}");
    assert_eq!(verdicts(&text), "Y".repeat(8), "{text}");
}

fn add(numbers: &mut Random, elements: &mut Vec<i64>) -> String {
    let x = small(numbers);
    if elements.len() == 6 {
        return String::new();
    }
    elements.push(x);
    format!("x.Add({x});")
}

#[test]
fn lists_are_sequences() {
    let remove: Operation = |numbers, elements| {
        let x = small(numbers);
        if let Some(at) = elements.iter().position(|element| *element == x) {
            elements.remove(at);
        }
        format!("x.Remove({x});")
    };
    let remove_at: Operation = |numbers, elements| {
        if elements.is_empty() {
            return String::new();
        }
        let at = numbers.below(elements.len());
        elements.remove(at);
        format!("x.RemoveAt({at});")
    };
    let twice: Operation = |_, elements| {
        if elements.len() > 3 {
            return String::new();
        }
        elements.extend(elements.clone());
        "x = x.Concat(x, x);".to_owned()
    };
    for seed in 0..6 {
        compare(
            "List",
            "x.Get",
            &[add, add, add, remove, remove_at, twice],
            seed,
        );
    }
}

#[test]
fn sets_are_sorted() {
    let add: Operation = |numbers, elements| {
        let x = small(numbers);
        let set: BTreeSet<i64> = elements.iter().copied().chain([x]).collect();
        *elements = set.into_iter().collect();
        format!("x.Add({x});")
    };
    let remove: Operation = |numbers, elements| {
        let x = small(numbers);
        elements.retain(|element| *element != x);
        format!("x.Remove({x});")
    };
    let combine: Operation = |numbers, elements| {
        let (a, b) = (small(numbers), small(numbers));
        let other = BTreeSet::from([a, b]);
        let own: BTreeSet<i64> = elements.iter().copied().collect();
        let (method, result): (_, BTreeSet<i64>) = match numbers.below(3) {
            0 => ("Union", own.union(&other).copied().collect()),
            1 => ("Intersect", own.intersection(&other).copied().collect()),
            _ => ("Substract", own.difference(&other).copied().collect()),
        };
        *elements = result.into_iter().collect();
        format!("var<Set> s = new Set(); s.Add({a}); s.Add({b}); x = x.{method}(x, s);")
    };
    for seed in 0..6 {
        compare("Set", "x.Get", &[add, add, remove, combine], seed);
    }
}

#[test]
fn stacks_and_queues_have_ends() {
    let push: Operation = |numbers, elements| {
        if elements.len() == 6 {
            return String::new();
        }
        let x = small(numbers);
        elements.push(x);
        format!("x.Push({x});")
    };
    let pop: Operation = |_, elements| match elements.pop() {
        None => String::new(),
        Some(_) => "x.Pop();".to_owned(),
    };
    // What is popped is a value.
    let twist: Operation = |_, elements| {
        let n = elements.len();
        if n < 2 {
            return String::new();
        }
        elements.swap(n - 1, n - 2);
        "var a = x.Pop(); var b = x.Pop(); x.Push(a); x.Push(b);".to_owned()
    };
    for seed in 0..6 {
        compare("Stack", "", &[push, push, pop, twist], seed);
    }

    let mut queue = VecDeque::new();
    let mut text = String::new();
    for x in [3, 1, 4, 1, 5] {
        queue.push_back(x);
        text += &format!("e{{q.Enqueue({x});}} -> ");
    }
    queue.pop_front();
    let (first, last) = (queue[0], queue[queue.len() - 1]);
    let text = format!(
        "#import \"PAT.Lib.Queue\";
         var<Queue> q;
         P = {text} e{{q.Dequeue();}} -> f -> Skip;
         #define ends q.Count() == 4 && q.First() == {first} && q.Last() == {last};
         #assert P |= [](f -> ends);
         #assert P |= [] !f;"
    );
    assert_eq!(verdicts(&text), "YN");
}

#[test]
fn tables_keep_their_first_values() {
    let mut table = BTreeMap::new();
    let mut program = String::new();
    for (key, value) in [(7, 1), (2, 5), (7, 9), (4, 0)] {
        table.entry(key).or_insert(value);
        program += &format!("t.Add({key}, {value});");
    }
    let claims = table
        .iter()
        .map(|(key, value)| format!("t.ContainsKey({key}) && t.GetValue({key}) == {value}"));
    let claims: Vec<String> = claims.collect();
    let text = format!(
        "#import \"PAT.Lib.HashTable\";
         var<HashTable> t;
         P = e{{{program}}} -> f -> Stop;
         #define right {} && t.ContainsKey(2) && !t.ContainsKey(3);
         #assert P |= [](f -> right);
         #define none t.GetValue(3) == 0;
         #assert P reaches none;",
        claims.join(" && ")
    );
    // To look for a key that is not there is an error, so the goal is not reached.
    assert_eq!(verdicts(&text), "YN");
}

#[test]
fn an_empty_stack_is_an_error_of_the_model() {
    let text = "#import \"PAT.Lib.Stack\"; var<Stack> s; P = e{s.Pop();} -> P; \
        #assert P deadlockfree;";
    assert_eq!(verdicts(text), "N");
}

#[test]
fn an_object_that_grows_forever_is_not_decided() {
    let text = "#import \"PAT.Lib.List\"; var<List> s; P = e{s.Add(1);} -> P; \
        #assert P deadlockfree; #define two s.Count() == 2; #assert P reaches two;";
    assert_eq!(verdicts(text), "?Y");
}

#[test]
fn functions_of_arrays_are_called_with_arrays() {
    let text = "
        #import \"PAT.Lib.Array\";
        var a = [3, 9, 4];
        var b[2][2];
        var max; var min; var len;
        #define sum(x) x[0] + x[1] + x[2];
        #define fill(x, v) { x[0] = v; x[1] = v; };
        P = e{max = call(ArrayMax, a); min = call(ArrayMin, [5, 2]); len = call(ArrayLength, a);}
            -> f{var c[2]; call(fill, c, 7); min = c[0] + c[1]; a = [a[2], a[1], a[0]];}
            -> g -> Stop;
        #define first max == 9 && min == 2 && len == 3 && call(sum, a) == 16;
        #define second min == 14 && a[0] == 4 && a[2] == 3;
        #assert P |= [](e -> first);
        #assert P |= [](g -> second);
        #assert P |= []!g;
    ";
    assert_eq!(verdicts(text), "YYN");
}

#[test]
fn a_library_of_the_user_is_a_file_beside_the_model() {
    let library = "class Pair { var a; var b; Put(x, y) { a = x; b = y; } Sum() = a + b; }
        #define double(x) x + x;";
    let text = "#import \"My.Lib\"; var<Pair> p; P = e{p.Put(2, 3);} -> f -> Stop;
        #define right call(double, p.Sum()) == 10 && p$a == 2;
        #assert P |= [](f -> right);";
    let mut files = Memory::default();
    files.insert("My.Lib.lib", library);
    let source = Source {
        name: "test.csp".to_owned(),
        text: text.to_owned(),
    };
    let loaded = csp::load(source, &files, &Options::default());
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let outcomes = crate::support::outcomes(&loaded, None);
    assert_eq!(outcomes[0].verdict.name(), "holds");
    // Without the file, the message says what to write.
    let loaded = load_with(text, 0);
    let error = &loaded.diagnostics[0];
    assert!(error.message.contains("My.Lib"), "{error:?}");
    assert!(
        error.help.iter().any(|help| help.contains("My.Lib.lib")),
        "{error:?}"
    );
}

#[test]
fn wrong_uses_of_objects_are_reported() {
    let with = |rest: &str| {
        let head = "#import \"PAT.Lib.Set\"; #import \"PAT.Lib.Stack\";";
        format!(
            "{head} var<Set> s; var<Set> t; var<Stack> k; var x; {rest} #assert P deadlockfree;"
        )
    };
    let cases = [
        ("P = e{s.Push(1);} -> Stop;", "unknown-name"),
        ("P = e{x = s;} -> Stop;", "type-mismatch"),
        ("P = e{s = k;} -> Stop;", "type-mismatch"),
        ("P = e{s.Add(1, 2);} -> Stop;", "wrong-arity"),
        ("P = [k.Pop() == 1] e -> Stop;", "unsupported"),
        ("P = e{s = t; s.Add(1);} -> Stop;", "unsupported"),
        (
            "P = e{if (x == 1 && k.Pop() == 1) { x = 2; }} -> Stop;",
            "unsupported",
        ),
        ("P = e{x = u.Count();} -> Stop;", "unknown-name"),
        ("var<Tree> u; P = e -> Stop;", "unknown-class"),
    ];
    for (text, code) in cases {
        let found = errors(&with(text));
        assert!(found.contains(&code), "{text}: {found:?}");
    }
}

#[test]
fn branches_of_a_choice_can_depend_on_data() {
    let text = "
        #import \"PAT.Math\";
        var n:{0..3} = 0;
        P = more{n = n + 1;} -> Q(n, call(Pow, 2, n));
        Q(k, p) = [] i:{0..k - 1} @ take.i -> ifa (p > 4) { Stop } else { P };
        #assert P |= []!take.3;
        #assert P |= []!take.2;
        #assert P deadlockfree;
    ";
    assert_eq!(verdicts(text), "YNN");
}

#[test]
fn open_alphabets_hold_what_occurs() {
    // P takes part in every `e`, also in one with a value that it never has.
    let text = |operator: &str| {
        format!(
            "var x = 0;
             P = up{{x = x * 3 + 1;}} -> e.x -> [x < 100] P;
             R = e.1 -> e.7 -> Stop;
             System = P {operator} R;
             #assert System |= []!e.7;
             #assert System |= <> e.13;
             #assert System deadlockfree;"
        )
    };
    assert_eq!(verdicts(&text("||")), "YYN");
    assert_eq!(verdicts(&text("|||")), "NYN");
    // So do hidden sets, also of handshakes.
    let text = |hidden: &str| {
        format!(
            "channel c 0; var x = 0;
             P = up{{x = x * 3 + 1;}} -> c!x -> e.x -> [x < 100] P;
             Q = c?y -> Q [] c!7 -> Q;
             System = (P ||| Q) {hidden};
             #assert System |= []!\"c.4\";
             #assert System |= []!e.13;"
        )
    };
    assert_eq!(verdicts(&text("")), "NN");
    assert_eq!(verdicts(&text("\\ {c.x}")), "YN");
    assert_eq!(verdicts(&text("\\ {e.x}")), "NY");
}

/// A board of which a click opens neighbours: the text nests calls without end, runs do not.
#[test]
fn terms_that_no_run_comes_to_decide_nothing() {
    let text = "
        var board = [0, 0, 1, 0, 1];
        var isOpen[5];
        var isNested = false;
        #define won isOpen[0] == 1 && isOpen[1] == 1 && isOpen[3] == 1;
        #define lost isOpen[2] == 1 || isOpen[4] == 1;
        Game = [!won && !lost]([] i:{0..4} @ [isOpen[i] == 0] pick -> Click(i)) [] [won || lost] Skip;
        Click(i) = if (board[i] == 0 && isOpen[i] == 0) {
            clear{isOpen[i] = 1; isNested = true;} ->
                Click((i + 1) % 5); Click((i + 3) % 5); Click((i + 4) % 5);
                leave{isNested = false;} -> Game
        } else if (isOpen[i] == 0) {
            if (isNested) { show{isOpen[i] = 1;} -> Skip } else { show{isOpen[i] = 1;} -> Game }
        } else { Skip };
        #assert Game reaches won;
        #assert Game reaches lost;
        #assert Game deadlockfree;
        #assert Game deterministic;
    ";
    assert_eq!(verdicts(text), "YYYN");
}
