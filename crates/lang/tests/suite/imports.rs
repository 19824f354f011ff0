//! Models that are made of several files.

use crate::support::{count, model, show};
use base::Source;
use expect_test::{Expect, expect};
use source::{Memory, Options, Single};

/// Loads `main.fair` in a folder with other files.
fn load(files: &[(&str, &str)], options: &Options) -> Single {
    let files = Memory::new(files.iter().copied());
    let text = source::Files::read(&files, "main.fair".as_ref()).expect("there is a main file");
    let name = "main.fair".to_owned();
    lang::load_with(Source { name, text }, &files, options).single()
}

fn check(files: &[(&str, &str)], expected: &Expect) {
    let loaded = load(files, &Options::default());
    expected.assert_eq(&show(&loaded));
}

const LINK: &str = "
    const K = 2
    enum Kind { data, ack }
    record Msg { kind: Kind, number: 0..K }
    chan wire[K] of Msg
    var lost : 0..2 = 0
    def is_data(m) = m.kind == data
    process Thief(wire_index in 1..K) {
        var kind : Msg
        steal when lost < 2 wire ? kind { if is_data(kind) { lost += 1 } }
    }
    property alone: always lost < 2
    deadlockfree
";

const MAIN: &str = "
    const SMALL = 1
    import \"parts/link.fair\" as up with K = SMALL
    import \"parts/link.fair\" as down
    var ok : bool = false
    process Sender {
        var m : down.Msg
        send up.wire ! up.Msg(up.data, up.K)
        heard down.wire ? m { ok := m.kind == down.Kind.ack }
    }
    process Receiver {
        var m : up.Msg
        init ready
        from ready { take up.wire ? m -> taken }
        from taken { tell when up.is_data(m) down.wire ! down.Msg(down.ack, down.K) -> ready }
    }
    invariant few: up.lost + down.lost <= 4
    property some: eventually (ok || up.Thief[1].kind.number > 0 || moves(down.Thief[2]))
";

/// The same model in one file.
const ALONE: &str = "
    enum UKind { udata, uack }
    record UMsg { kind: UKind, number: 0..1 }
    chan uwire[1] of UMsg
    var ulost : 0..2 = 0
    process UThief(i in 1..1) {
        var kind : UMsg
        steal when ulost < 2 uwire ? kind { if kind.kind == udata { ulost += 1 } }
    }
    enum DKind { ddata, dack }
    record DMsg { kind: DKind, number: 0..2 }
    chan dwire[2] of DMsg
    var dlost : 0..2 = 0
    process DThief(i in 1..2) {
        var kind : DMsg
        steal when dlost < 2 dwire ? kind { if kind.kind == ddata { dlost += 1 } }
    }
    var ok : bool = false
    process Sender {
        var m : DMsg
        send uwire ! UMsg(udata, 1)
        heard dwire ? m { ok := m.kind == dack }
    }
    process Receiver {
        var m : UMsg
        init ready
        from ready { take uwire ? m -> taken }
        from taken { tell when m.kind == udata dwire ! DMsg(dack, 2) -> ready }
    }
";

#[test]
fn copies_of_a_file_are_parts_of_one_model() {
    let files = [("main.fair", MAIN), ("parts/link.fair", LINK)];
    let loaded = load(&files, &Options::default());
    assert_eq!(show(&loaded), "");
    let found = loaded.model.expect("a model");
    assert_eq!(count(&found), count(&model(ALONE, &[])));

    let names: Vec<&str> = found
        .parts()
        .processes
        .iter()
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(names, ["up.Thief", "down.Thief", "Sender", "Receiver"]);
    let asked: Vec<&str> = loaded.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        asked,
        ["few", "some"],
        "what is asked about a part is about that part"
    );
    let names: Vec<&str> = loaded.sources.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["main.fair", "parts/link.fair"]);
}

#[test]
fn what_is_imported_without_a_name_exists_once() {
    let files = [
        (
            "main.fair",
            "import \"types.fair\"  import \"a/user.fair\" as user
             var mine : Color = red
             process P { step when user.theirs == mine { mine := green } }
             property p: always mine == red",
        ),
        ("types.fair", "enum Color { red, green }  const SIZE = 3"),
        (
            "a/user.fair",
            "import \"./../types.fair\"
             var theirs : Color = red  var n : 0..SIZE = 0
             process Q { up when n < SIZE { n += 1; theirs := green } }",
        ),
    ];
    let loaded = load(&files, &Options::default());
    assert_eq!(show(&loaded), "");
    assert_eq!(loaded.model.expect("a model").parts().enums.len(), 1);
}

#[test]
fn values_come_from_the_command_line_and_from_imports() {
    let files = [
        (
            "main.fair",
            "import \"part.fair\" as p with N = 2, C = p.green
             process P { step when p.x < p.N { p.x += 1 } }
             invariant i: p.x <= p.N",
        ),
        (
            "part.fair",
            "param N  enum Color { red, green }  const C = red
             var x : 0..9 = 0  init C == green",
        ),
    ];
    let n_states = |defines: &[(&str, &str)]| {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options = Options {
            defines: defines.iter().map(pair).collect(),
            ..Options::default()
        };
        let loaded = load(&files, &options);
        assert_eq!(show(&loaded), "");
        count(&loaded.model.expect("a model")).0
    };
    assert_eq!(n_states(&[]), 3);
    assert_eq!(n_states(&[("p.N", "7")]), 8);
    assert_eq!(n_states(&[("p.C", "red")]), 0);
}

#[test]
fn formulas_of_the_call_see_imports() {
    let files = [("main.fair", MAIN), ("parts/link.fair", LINK)];
    let options = Options {
        ltl: vec![("given".to_owned(), "[] up.lost <= 2".to_owned())],
        ..Options::default()
    };
    let loaded = load(&files, &options);
    assert_eq!(show(&loaded), "");
    assert_eq!(
        loaded.properties.last().expect("one").text,
        "[] up.lost <= 2"
    );
}

#[test]
fn deadlocks_are_about_all_processes() {
    let files = [
        (
            "main.fair",
            "import \"part.fair\" as part
             process P { init a; end a; from a { go when false -> a } }
             deadlockfree",
        ),
        (
            "part.fair",
            "process Q { init b; end b; from b { go when false -> b } }",
        ),
    ];
    let loaded = load(&files, &Options::default());
    assert_eq!(show(&loaded), "");
    let shown = format!("{:?}", loaded.model.expect("a model").parts().atoms);
    assert!(shown.contains("part.Q @ b"), "{shown}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let main = |text: &'static str| ("main.fair", text);
    check(
        &[main(
            "import \"nowhere.fair\"\nimport \"m.pml\" as m\nimport net",
        )],
        &expect![[r#"
            syntax 3:8 expected the name of a file, found `net`
                help: write `import "file.fair"` or `import "file.fair" as name`
            import 1:8 `nowhere.fair` cannot be imported: there is no file `nowhere.fair`
            import 2:8 `m.pml` is not a file of this language
                help: the names of such files end with `.fair`
        "#]],
    );
    check(
        &[
            main("const N = 1\nimport \"a.fair\""),
            ("a.fair", "import \"b.fair\" as b"),
            ("b.fair", "const K = 1\n  import \"a.fair\" as a"),
        ],
        &expect![[r#"
            import b.fair 2:10 `a.fair` imports itself, through `b.fair`
                help: put what the files have in common into another file
        "#]],
    );
    check(
        &[
            main("import \"a.fair\" as a with M = 1, K = true\nimport \"a.fair\" with K = 1"),
            ("a.fair", "const K = 1  param N  const SIZE = 2"),
        ],
        &expect![[r#"
            syntax 2:17 an import that gives values needs a name
                help: write `import "file.fair" as name with K = 3`
            unknown-name 1:27 `a.fair` has no constant or parameter `M`
                help: did you mean `K`?
        "#]],
    );
    check(
        &[
            main("import \"a.fair\" as a with K = true"),
            ("a.fair", "const K = 1"),
        ],
        &expect![[r#"
            type-mismatch 1:31 expected an integer, found a Boolean
        "#]],
    );
    check(
        &[
            main("import \"a.fair\" as a\nprocess P { s { skip } }"),
            ("a.fair", "fairness weak"),
        ],
        &expect![[r#"
            imported-whole a.fair 1:1 `fairness` is about a whole model, but this file is imported
                help: write it in `main.fair`
        "#]],
    );
    check(
        &[
            main(
                "import \"a.fair\" as a\nvar x : 0..1 = 0\nprocess P { s { a.y := x; a.z := 1 } }\ninvariant i: y == x",
            ),
            (
                "a.fair",
                "var y : 0..1 = 0\nprocess Q { s { y := x; y := nothing } }",
            ),
        ],
        &expect![[r#"
            unknown-name a.fair 2:22 `x` is not declared
            unknown-name a.fair 2:30 `nothing` is not declared
            unknown-name 3:27 `a.z` is not declared
                help: did you mean `a.Q`?
            unknown-name 4:14 `y` is not declared
        "#]],
    );
    check(
        &[
            main("import \"a.fair\" as a\nimport \"b.fair\" as a\nprocess P { s { skip } }"),
            ("a.fair", "process Q { t"),
            ("b.fair", ""),
        ],
        &expect![[r#"
            stray-word a.fair 1:13 the step `t` has neither guard, effect, communication nor target
                help: write `t { skip }` for a step that is always possible and changes nothing
            missing-brace a.fair 1:14 expected `}`, found the end of the text
                help: close the block with `}`
            duplicate 2:20 `a` is the name of several imports
        "#]],
    );
}

#[test]
fn imports_without_end_are_refused() {
    // Each file makes two copies of the next.
    let names: Vec<String> = (0..40).map(|n| format!("f{n}.fair")).collect();
    let text = |n: usize| {
        format!(
            "import \"f{n}.fair\" as a  import \"f{n}.fair\" as b  process P {{ s {{ skip }} }}"
        )
    };
    let mut files: Vec<(&str, String)> = vec![("main.fair", text(0))];
    files.extend(
        names
            .iter()
            .enumerate()
            .map(|(n, name)| (name.as_str(), text(n + 1))),
    );
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let loaded = load(&files, &Options::default());
    assert!(loaded.model.is_none());
    assert!(
        show(&loaded).contains("at most 1000 files"),
        "{}",
        show(&loaded)
    );
}

#[test]
fn editors_find_names_of_other_files() {
    let files = Memory::new([("parts/link.fair", LINK)]);
    let source = Source {
        name: "main.fair".to_owned(),
        text: MAIN.to_owned(),
    };
    let analysis = lang::analyse_with(source, &files, &Options::default());
    assert!(
        analysis.diagnostics.is_empty(),
        "{:?}",
        analysis.diagnostics
    );
    let found = analysis.reference_at(MAIN.find("up.lost").expect("it is there") + 4);
    let symbol = &analysis.symbols[found.expect("a name").symbol];
    assert_eq!(
        (symbol.name.as_str(), symbol.detail.as_str()),
        ("up.lost", "0..2")
    );
    assert_eq!(symbol.span.source.index(), 1);
    assert_eq!(
        symbol.span.start as usize,
        LINK.find("lost").expect("it is there")
    );
}

#[test]
fn imports_have_a_canonical_layout() {
    let text = "import   \"a.fair\"as a with K=1,L = 2\n\n\n  import \"b  c.fair\"\n";
    let expected = "import   \"a.fair\" as a with K = 1, L = 2\n\nimport \"b  c.fair\"\n";
    assert_eq!(lang::format(text).as_deref(), Some(expected));
}
