//! How large automata are beside those of Spot 2.9.4 (`ltl2tgba`, its default options): family by family
//! at most as many states and edges and 5 %.

#[path = "support/families.rs"]
mod families;

use base::{Source, SourceId};
use expect_test::expect;
use families::{Family, Size};
use logic::{Ltl, parse, translate};

/// The sum over the formulas and their negations.
fn size(family: &Family) -> Size {
    let mut sum = Size::default();
    for text in &family.formulas {
        let source = Source {
            name: "<formula>".into(),
            text: text.clone(),
        };
        let (formula, _, diagnostics) = parse(&source, SourceId(0));
        let formula = formula.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"));
        for formula in [formula.clone(), Ltl::not(formula)] {
            let automaton = translate(&formula).unwrap_or_else(|error| panic!("{text}: {error}"));
            sum += Size::of(&automaton);
        }
    }
    sum
}

/// States, edges and nondeterministic automata of Spot.
const SPOT: [(&str, usize, usize, usize); 5] = [
    ("dwyer", 424, 1089, 22),
    ("etessami-holzmann", 81, 212, 11),
    ("somenzi-bloem", 148, 292, 19),
    ("liberouter", 415, 1193, 36),
    ("beem", 108, 227, 15),
];

#[test]
fn lists_are_translated_as_well_as_by_spot() {
    for (family, (name, n_states, n_edges, _)) in families::lists().iter().zip(SPOT) {
        let ours = size(family);
        assert_eq!(family.name, name);
        assert!(100 * ours.n_states <= 105 * n_states, "{name}: {ours}");
        assert!(100 * ours.n_edges <= 105 * n_edges, "{name}: {ours}");
    }
}

/// A change that makes automata larger shows up here.
#[test]
fn families_keep_their_sizes() {
    let mut table = String::new();
    for family in families::families() {
        table += &format!("{:18} {}\n", family.name, size(&family));
    }
    expect![[r#"
        dwyer                426   1096  22
        etessami-holzmann     71    151   8
        somenzi-bloem        131    237   9
        liberouter           409   1119  35
        beem                  97    199   9
        and-f                288   3335   5
        and-fg                16     16   0
        and-gf                16     16   0
        ccj-alpha            125    912   4
        ccj-beta             364   1127   7
        ccj-beta-prime       364   1127   7
        fxg-or                20     25   5
        gxf-and               20     25   5
        gf-equiv              10     10   0
        gf-equiv-xn          294    432  12
        gf-implies            10     10   0
        gf-implies-xn          8      8   0
        gh-q                 458   6265   5
        gh-r                  12     12   0
        go-theta              40     64  16
        kr-n                 268   1285   3
        kv-psi               491   3351   3
        ms-example            51    137   7
        ms-phi-h              45     93   6
        ms-phi-r               8      8   0
        ms-phi-s               8      8   0
        or-fg                 16     16   0
        or-g                 288   3335   5
        or-gf                 16     16   0
        r-left               289   6646   6
        r-right              154    726   0
        rv-counter           741    841   4
        rv-counter-linear    741    841   4
        rv-counter-carry     322    390   3
        sejk-f                48     81   6
        sejk-j                 8      8   0
        sejk-k                 8      8   0
        tv-f1                 48     84   0
        tv-f2                 48     84   0
        tv-g1                 48    109   0
        tv-g2                 48    109   0
        tv-uu                 82    605   9
        u-left               289   6646   6
        u-right              154    726   0
    "#]]
    .assert_eq(&table);
}
