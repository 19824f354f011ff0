//! The formats for machines.

mod system;

use base::{AtomId, FairnessKind, StopReason};
use evidence::{UnknownReason, Verdict, ViolationKind};
use expect_test::expect;
use logic::{Ltl, Property};
use report::{Outcome, PropertyResult, Warning, json, json_lines, junit, sarif};
use system::results::{fair_loop, judged, report, result, violated};
use system::{named, system, walk};

#[test]
fn json_has_the_promised_keys() {
    let report = report(vec![
        result(FairnessKind::Weak, &fair_loop()),
        result(FairnessKind::None, &Verdict::Holds { witness: None }),
    ]);
    let document: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
    let keys = |value: &serde_json::Value| -> Vec<String> {
        value.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(keys(&document), ["tool", "version", "file", "results"]);

    let result_keys = [
        "property",
        "formula",
        "route",
        "fairness",
        "verdict",
        "reason",
        "states",
        "transitions",
        "product_states",
        "seconds",
        "peak_memory_bytes",
        "reduced",
        "rests_on",
        "warnings",
        "trace",
    ];

    let results = document["results"].as_array().unwrap();
    let basis_keys = ["confidence", "reductions", "solvers", "instances"];
    assert!(
        results
            .iter()
            .all(|result| keys(&result["rests_on"]) == basis_keys)
    );
    assert!(results.iter().all(|result| keys(result) == result_keys));
    assert_eq!(document["results"][1]["trace"], serde_json::Value::Null);

    let trace = &document["results"][0]["trace"];
    assert_eq!(keys(trace), ["#meta", "vars", "states", "loop"]);
    for condition in trace["#meta"]["conditions"].as_array().unwrap() {
        assert_eq!(keys(condition), ["condition", "fair_because", "at"]);
    }
    let lines: Vec<serde_json::Value> = json_lines(&report)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(keys(&lines[0])[..2], ["file", "property"]);
    assert_eq!(lines[0]["trace"], *trace);
}

#[test]
fn json_document() {
    let unknown = UnknownReason::Unsupported("no".to_owned());
    let report = report(vec![result(FairnessKind::Weak, &Verdict::Unknown(unknown))]);
    expect![[r#"
        {
          "tool": "fair",
          "version": "0.1.0",
          "file": "mail.fair",
          "results": [
            {
              "property": "served",
              "formula": "[]<> work",
              "route": "explicit",
              "fairness": "weak",
              "verdict": "unknown",
              "reason": "unsupported",
              "states": 2048,
              "transitions": 10000,
              "product_states": 4096,
              "seconds": 0.031,
              "peak_memory_bytes": 1048576,
              "reduced": null,
              "rests_on": {
                "confidence": null,
                "reductions": [],
                "solvers": [],
                "instances": []
              },
              "warnings": [
                {
                  "code": "unsupported",
                  "message": "no",
                  "file": "mail.fair",
                  "line": 2,
                  "column": 10
                }
              ],
              "trace": null
            }
          ]
        }
    "#]]
    .assert_eq(&json(&report));
}

#[test]
fn junit_document() {
    let model = system();
    let worked = walk(&model, &["Clerk.work"], None);
    let bad = violated(ViolationKind::BadPrefix, worked);
    let invariant = Property::Invariant(Ltl::not(Ltl::atom(AtomId(0))));
    let never = named("[] !work", invariant);
    let stopped = UnknownReason::Stopped(StopReason::Timeout);
    let report = report(vec![
        judged(&model, &never, FairnessKind::None, &bad),
        result(FairnessKind::None, &Verdict::Holds { witness: None }),
        result(FairnessKind::None, &Verdict::Unknown(stopped)),
    ]);
    expect![[r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="fair" tests="3" skipped="0" failures="1" errors="1">
            <testsuite name="mail.fair" tests="3" skipped="0" errors="1" failures="1">
                <testcase name="served" classname="mail.fair" time="0.031">
                    <failure message="served ([] !work) is violated under fairness none by a run with 1 step" type="violated">served  violated  (fairness none, 2048 states, 0.03 s)
          formula: [] !work
          counterexample: 1 step to a state that breaks the property
          start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
            0  Clerk.work  (no change)
        </failure>
                </testcase>
                <testcase name="served" classname="mail.fair" time="0.031"/>
                <testcase name="served" classname="mail.fair" time="0.031">
                    <error message="served ([]&lt;&gt; work) is undecided under fairness none: timeout" type="timeout">served  unknown: timeout  (fairness none, 2048 states, 0.03 s)
        </error>
                </testcase>
            </testsuite>
        </testsuites>
    "#]].assert_eq(&junit(&[report]));
}

#[test]
fn sarif_document() {
    let gave_up = UnknownReason::SolverGaveUp;
    let mut report = report(vec![
        result(FairnessKind::Weak, &fair_loop()),
        result(FairnessKind::None, &Verdict::Unknown(gave_up)),
    ]);
    report.file = "a b.fair".to_owned();
    report.warnings.push(Warning {
        code: "unused".to_owned(),
        message: "unused".to_owned(),
        position: None,
    });
    expect![[r#"
        {
          "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
          "version": "2.1.0",
          "runs": [
            {
              "tool": {
                "driver": {
                  "name": "fair",
                  "version": "0.1.0",
                  "rules": [
                    {
                      "id": "property-undecided"
                    },
                    {
                      "id": "property-violated"
                    },
                    {
                      "id": "unused"
                    }
                  ]
                }
              },
              "results": [
                {
                  "ruleId": "property-violated",
                  "kind": "fail",
                  "level": "error",
                  "message": {
                    "text": "served ([]<> work) is violated under fairness weak by a run with 4 steps, then a loop of 4 steps"
                  },
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "mail.fair"
                        },
                        "region": {
                          "startLine": 2,
                          "startColumn": 10
                        }
                      }
                    }
                  ]
                },
                {
                  "ruleId": "property-undecided",
                  "kind": "open",
                  "level": "none",
                  "message": {
                    "text": "served ([]<> work) is undecided under fairness none: solver-gave-up"
                  },
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "mail.fair"
                        },
                        "region": {
                          "startLine": 2,
                          "startColumn": 10
                        }
                      }
                    }
                  ]
                },
                {
                  "ruleId": "unused",
                  "kind": "fail",
                  "level": "warning",
                  "message": {
                    "text": "unused"
                  },
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b.fair"
                        }
                      }
                    }
                  ]
                }
              ]
            }
          ]
        }
    "#]].assert_eq(&sarif(&[report]));
}

#[test]
fn the_worst_verdict_decides_the_exit_status() {
    let with = |outcomes: &[Outcome]| {
        let held = result(FairnessKind::None, &Verdict::Holds { witness: None });
        let result = |verdict: &Outcome| PropertyResult {
            verdict: *verdict,
            ..held.clone()
        };
        report(outcomes.iter().map(result).collect()).exit_status()
    };
    use Outcome::{Holds, Unknown, Violated};
    assert_eq!(with(&[Holds, Holds]), 0);
    assert_eq!(with(&[Holds, Unknown]), 3);
    assert_eq!(with(&[Unknown, Violated, Holds]), 1);
}
