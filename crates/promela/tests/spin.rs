//! State counts and verdicts equal Spin's on the models in `testdata/promela`.
//!
//! For each model a verifier is generated with `spin -o1 -o2 -o3 -a` and compiled with
//! `-DNOREDUCE`: Spin then stores what the language defines, without the states that its
//! optimisations merge (`-o3`) or make equal by resetting dead variables (`-o1`,
//! `-o2`). Compared are the number of stored states, and the verdicts on assertions, end states,
//! acceptance cycles, non-progress cycles, claims and formulas, without and with weak fairness
//! (`-f`). A line `spin differs: KEY` in the comment of a model excludes a comparison and says why.
//!
//! Without `spin` or a C compiler nothing is compared, and a message says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base::{Budget, Fairness, NoProgress, Source};
use check::Plan;
use engine::{Exploration, Explored, Found, Goal, System};
use evidence::Verdict;
use logic::Property;
use model::Model;
use source::{Files, Options, Single, Unreadable, Variation};

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/promela");
    let entries = fs::read_dir(&folder).expect("the models are there");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let is_model = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "pml");
    let mut paths: Vec<PathBuf> = paths.filter(is_model).collect();
    paths.sort();
    paths
}

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        fs::read_to_string(path).map_err(|error| Unreadable {
            message: error.to_string(),
            cause: None,
        })
    }
}

fn load(path: &Path) -> Single {
    load_as(path, &[])
}

fn load_as(path: &Path, variations: &[Variation]) -> Single {
    let text = Disk.read(path).expect("the model can be read");
    let name = path.display().to_string();
    let options = Options {
        variations: variations.to_vec(),
        ..Options::default()
    };
    promela::load(Source { name, text }, &Disk, &options).single()
}

/// A directory with a generated verifier, removed at the end.
struct Verifier {
    folder: PathBuf,
}

impl Verifier {
    fn new(model: &Path) -> Self {
        Self::generated_with(model, &[])
    }

    /// With more options of Spin. (Each `-o` switches an optimisation off, and on again the second time.)
    fn generated_with(model: &Path, options: &[&str]) -> Self {
        let name = model
            .file_stem()
            .expect("a file has a name")
            .to_string_lossy();
        let id = std::process::id();
        let folder =
            std::env::temp_dir().join(format!("fair-spin-{id}-{name}{}", options.concat()));
        fs::create_dir_all(&folder).expect("a temporary folder");

        let source = model.parent().expect("a file is in a folder");
        for entry in fs::read_dir(source).expect("the models are there") {
            let path = entry.expect("a readable folder").path();
            let is_included = path.extension().is_some_and(|extension| extension == "h");
            if path != model && !is_included {
                continue;
            }
            let to = folder.join(path.file_name().expect("a file has a name"));
            fs::copy(&path, to).expect("a copy");
        }

        let file = model.file_name().expect("a file has a name");
        let verifier = Self { folder };
        let generated = verifier.run(
            "spin",
            &[
                &["-o1", "-o2", "-o3"],
                options,
                &["-a", &file.to_string_lossy()],
            ]
            .concat(),
        );
        assert!(
            verifier.folder.join("pan.c").exists(),
            "{name}: {generated}"
        );
        verifier
    }

    fn run(&self, program: &str, arguments: &[&str]) -> String {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.folder);
        let output = command.output().expect("the tool starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn compile(&self, name: &str, defines: &[&str]) {
        let mut arguments = vec!["-w", "-O0", "-pipe", "-DNOREDUCE", "-o", name];
        arguments.extend(defines);
        arguments.push("pan.c");
        self.run("cc", &arguments);
    }

    fn verify(&self, program: &str, arguments: &[&str]) -> String {
        let mut all = vec!["-m100000"];
        all.extend(arguments);
        self.run(&self.folder.join(program).display().to_string(), &all)
    }

    /// Does the verifier find no error?
    fn holds(&self, program: &str, arguments: &[&str]) -> bool {
        number(&self.verify(program, arguments), "errors:", true) == 0
    }
}

impl Drop for Verifier {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The number after (or before) a word of a report.
fn number(report: &str, word: &str, after: bool) -> u64 {
    let at = report
        .find(word)
        .unwrap_or_else(|| panic!("no `{word}` in {report}"));
    let text = if after {
        report[at + word.len()..].split_whitespace().next()
    } else {
        report[..at].split_whitespace().next_back()
    };
    let value: f64 = text.and_then(|text| text.parse().ok()).expect("a number");
    value as u64
}

/// What is compared for one model, and what does not agree.
struct Comparison<'a> {
    name: String,
    text: String,
    loaded: &'a Single,
    verifier: Verifier,
    differences: Vec<String>,
}

impl Comparison<'_> {
    fn is_excluded(&self, key: &str) -> bool {
        self.text.contains(&format!("spin differs: {key}"))
    }

    fn compare<T: PartialEq + std::fmt::Debug>(&mut self, key: &str, ours: T, spins: T) {
        let agrees = ours == spins;
        if agrees == self.is_excluded(key) {
            let name = &self.name;
            let difference = if agrees {
                format!("{name}: {key}: the comment says that Spin differs, it does not")
            } else {
                format!("{name}: {key}: {ours:?} here, {spins:?} in Spin")
            };
            self.differences.push(difference);
        }
    }

    fn our_verdict(&self, property: &str, fairness: &str) -> bool {
        let model = self.loaded.model.as_ref().expect("it was loaded");
        let named = self.loaded.properties.iter().find(|p| p.name == property);
        let named = named.expect("the property is there");
        let plan = Plan {
            fairness: Fairness::parse(fairness),
            ..Plan::default()
        };
        let outcome = check::check(model, named, &plan, &mut NoProgress).expect("no bug");
        match outcome.verdict {
            Verdict::Holds { .. } => true,
            Verdict::Violated(_) => false,
            Verdict::Unknown(reason) => panic!("{}: {property}: {reason:?}", self.name),
        }
    }

    fn has(&self, property: &str) -> bool {
        self.loaded.properties.iter().any(|p| p.name == property)
    }

    fn compare_all(&mut self) {
        // One verifier serves both, where acceptance cycles are looked for.
        let has_acceptance = self.has("acceptance");
        let kind = if has_acceptance {
            "-DNFAIR=3"
        } else {
            "-DSAFETY"
        };
        self.verifier.compile("plain", &[kind, "-DNOCLAIM"]);
        self.compare_count();

        let asserts = self.has("assertions");
        let assertions_hold = !asserts || self.our_verdict("assertions", "none");
        if asserts {
            let spins = self.verifier.holds("plain", &["-E"]);
            self.compare("assertions", assertions_hold, spins);
        }

        // Where an assertion fails, every other property meets that error, too.
        if !assertions_hold {
            return;
        }

        let spins = self.verifier.holds("plain", &["-A"]);
        self.compare("end-states", self.our_verdict("end-states", "none"), spins);
        if has_acceptance {
            self.compare_cycles("acceptance", "plain", &["-a"]);
        }
        if self.has("progress") {
            self.verifier
                .compile("progress", &["-DNP", "-DNOCLAIM", "-DNFAIR=3"]);
            self.compare_cycles("progress", "progress", &["-l"]);
        }

        self.compare_claims();
    }

    fn compare_count(&mut self) {
        let explored = explored(self.loaded.model.as_ref().expect("it was loaded"));
        // A run-time error ends the exploration; Spin goes on behind failed assertions.
        if explored.found == Found::Nothing {
            let report = self.verifier.verify("plain", &["-E", "-A"]);
            let spins = number(&report, "states, stored", false);
            self.compare("states", explored.stats.n_states, spins);
        }
    }

    fn compare_cycles(&mut self, property: &str, program: &str, arguments: &[&str]) {
        for (fairness, flag) in [("none", None), ("weak-process", Some("-f"))] {
            let mut all = vec!["-E"];
            all.extend(arguments);
            all.extend(flag);
            let spins = self.verifier.holds(program, &all);
            let ours = self.our_verdict(property, fairness);
            let key = format!("{property} {fairness}");
            self.compare(&key, ours, spins);
        }
    }

    fn compare_claims(&mut self) {
        let standard = ["assertions", "end-states", "acceptance", "progress"];
        let properties = self.loaded.properties.iter();
        let own = properties.filter(|property| !standard.contains(&property.name.as_str()));
        let own: Vec<(String, bool)> = own
            .map(|property| {
                let is_claim = matches!(property.property, Property::Never(_));
                (property.name.clone(), is_claim)
            })
            .collect();
        if own.is_empty() {
            return;
        }
        self.verifier.compile("claims", &["-DNFAIR=3"]);
        for (name, is_claim) in own {
            if is_claim {
                self.compare_cycles(&name, "claims", &["-a"])
            } else {
                self.compare_cycles(&name, "claims", &["-a", "-N", &name])
            }
        }
    }
}

fn explored(model: &Model) -> Explored {
    let mut system = System::new(model).expect("it compiles");
    let exploration = Exploration {
        checkpoints: None,
        atoms: &[],
        goal: &Goal::Nothing,
        reduce: false,
    };
    let budget = Budget::unlimited();
    let explored = engine::explore(&mut system, &exploration, &budget, &mut NoProgress);
    explored.expect("it compiles")
}

fn compare(path: &Path) -> Vec<String> {
    let loaded = load(path);
    let name = path
        .file_stem()
        .expect("a file has a name")
        .to_string_lossy()
        .into_owned();
    assert!(loaded.model.is_some(), "{name}: {:?}", loaded.diagnostics);
    let mut comparison = Comparison {
        text: loaded.sources[0].text.clone(),
        name,
        loaded: &loaded,
        verifier: Verifier::new(path),
        differences: Vec::new(),
    };
    comparison.compare_all();
    std::mem::take(&mut comparison.differences)
}

#[test]
fn counts_and_verdicts_equal_spins() {
    if !testkit::has_peer("spin", "-V") || !testkit::has_peer("cc", "--version") {
        return;
    }
    let models = models();
    assert!(models.len() >= 25, "only {} models", models.len());
    let differences = testkit::side_by_side(&models, |path| compare(path)).concat();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

fn model(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/promela");
    folder.join(name)
}

/// Messages that are lost, and assertions that are passed over.
#[test]
fn other_readings_equal_spins() {
    if !testkit::has_peer("spin", "-V") || !testkit::has_peer("cc", "--version") {
        return;
    }
    let readings: [(&str, Variation, &[&str]); 2] = [
        ("lossy.pml", Variation::LossyChannels, &["-m"]),
        ("passed_over.pml", Variation::WithoutAssertions, &[]),
    ];
    for (name, variation, options) in readings {
        let path = model(name);
        let loaded = load_as(&path, &[variation]);
        let (usual, other) = (load(&path).model, loaded.model.as_ref());
        let other = explored(other.expect("it was loaded"));
        assert_eq!(other.found, Found::Nothing, "{name}");
        let usual = explored(usual.as_ref().expect("it was loaded"));
        let difference =
            (usual.stats.n_states, usual.found) != (other.stats.n_states, Found::Nothing);
        assert!(difference, "{name}: it makes no difference");

        let verifier = Verifier::generated_with(&path, options);
        verifier.compile("plain", &["-DSAFETY", "-DNOCLAIM"]);
        let report = verifier.verify("plain", &["-E", "-A"]);
        let spins = number(&report, "states, stored", false);
        assert_eq!(other.stats.n_states, spins, "{name}");

        let mut comparison = Comparison {
            name: name.to_owned(),
            text: String::new(),
            loaded: &loaded,
            verifier,
            differences: Vec::new(),
        };
        let spins = comparison.verifier.holds("plain", &["-A"]);
        let ours = comparison.our_verdict("end-states", "none");
        comparison.compare("end-states", ours, spins);
        comparison.compare_claims();
        assert_eq!(comparison.differences, Vec::<String>::new());
    }
}

/// `pan -c0` counts errors: states without a step that are not ends, and assertions that fail.
#[test]
fn violations_are_counted_as_spin_counts_them() {
    if !testkit::has_peer("spin", "-V") || !testkit::has_peer("cc", "--version") {
        return;
    }
    let path = model("passed_over.pml");
    let verifier = Verifier::new(&path);
    verifier.compile("plain", &["-DSAFETY", "-DNOCLAIM"]);
    let errors = |flag| number(&verifier.verify("plain", &["-c0", flag]), "errors:", true);

    let passing = load_as(&path, &[Variation::WithoutAssertions]);
    let without = passing.model.as_ref().expect("it was loaded");
    let ends = passing.properties.iter().find(|p| p.name == "end-states");
    let ends = ends.expect("it is asked");
    let plan = Plan::default();
    let counted = check::count_violations(without, ends, &plan, &mut NoProgress);
    assert_eq!(counted, Ok(errors("-A")));
    assert_ne!(counted, Ok(0));

    let loaded = load(&path);
    let with = loaded.model.as_ref().expect("it was loaded");
    let failures = check::count_failures(with, without, &plan, &mut NoProgress);
    let failures = failures.expect("they are counted");
    assert_eq!(failures.len(), 2, "both assertions fail");
    let n_failures: u64 = failures.iter().map(|(_, n)| n).sum();
    assert_eq!(n_failures, errors("-E"));
}
