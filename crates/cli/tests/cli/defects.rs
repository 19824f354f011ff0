//! The models of `testdata/defects.toml`: what was decided wrongly once is decided rightly.

use std::path::Path;

use serde::Deserialize;

use crate::scene::Scene;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Relative to the root of the repository.
    model: String,
    property: String,
    #[serde(default)]
    arguments: Vec<String>,
    /// The right verdicts, separated by `|`.
    verdict: String,
}

impl Case {
    fn found(&self, scene: &Scene, root: &Path) -> String {
        let model = root.join(&self.model);
        let mut call = vec!["check", model.to_str().expect("UTF-8")];
        call.extend(["--property", &self.property, "--output-format", "json"]);
        call.extend(self.arguments.iter().map(String::as_str));
        let called = scene.call(&call);

        let json: serde_json::Value = serde_json::from_str(&called.stdout)
            .unwrap_or_else(|e| panic!("{call:?}: {e}\n{}", called.stderr));
        let results = json["results"].as_array().expect("a list");
        let [result] = &results[..] else {
            panic!("{call:?}: {} results", results.len());
        };
        assert_eq!(result["property"], self.property.as_str(), "{call:?}");
        result["verdict"].as_str().expect("a verdict").to_owned()
    }
}

#[test]
fn past_defects_stay_repaired() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("testdata/defects.toml")).expect("it exists");
    let suite: Suite = toml::from_str(&text).expect("the suite is well-formed");
    let scene = Scene::new("defects");
    let mut wrong = Vec::new();
    for case in &suite.case {
        for verdict in case.verdict.split('|') {
            assert!(["holds", "violated", "unknown"].contains(&verdict));
        }
        let found = case.found(&scene, &root);
        if !case.verdict.split('|').any(|right| right == found) {
            wrong.push(format!(
                "{} {} {:?}: {found}, not {}",
                case.model, case.property, case.arguments, case.verdict
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
