//! `fair check --output-format`.

use expect_test::expect;

use crate::models::{COUNTER, SUSPICIOUS, TOGGLE};
use crate::scene::Scene;

#[test]
fn json() {
    let scene = Scene::with("json", "m.fair", TOGGLE);
    scene.check(
        &["check", "m.fair", "--output-format", "json"],
        expect![[r##"
            {
              "tool": "fair",
              "version": "0.1.0",
              "file": "m.fair",
              "results": [
                {
                  "property": "recurs",
                  "formula": "[]<>(P.a || P.b)",
                  "route": "explicit",
                  "fairness": "none",
                  "verdict": "violated",
                  "reason": null,
                  "states": 2,
                  "transitions": 4,
                  "product_states": 2,
                  "seconds": T,
                  "peak_memory_bytes": M,
                  "reduced": null,
                  "rests_on": {
                    "confidence": "replayed",
                    "reductions": [],
                    "solvers": [],
                    "instances": []
                  },
                  "warnings": [],
                  "trace": {
                    "#meta": {
                      "format": "ITF",
                      "source": "m.fair",
                      "property": "recurs",
                      "formula": "[]<>(P.a || P.b)",
                      "fairness": "none",
                      "kind": "fair-loop",
                      "error": null,
                      "conditions": [],
                      "assumptions": [],
                      "excluded_by": [
                        {
                          "fairness": "weak-process",
                          "subject": "P",
                          "at": 0,
                          "suffices": true,
                          "notion_suffices": true
                        },
                        {
                          "fairness": "strong",
                          "subject": "P.a",
                          "at": 0,
                          "suffices": true,
                          "notion_suffices": true
                        },
                        {
                          "fairness": "strong",
                          "subject": "P.b",
                          "at": 1,
                          "suffices": true,
                          "notion_suffices": true
                        }
                      ],
                      "component": null,
                      "processes": [
                        "P",
                        "Q"
                      ]
                    },
                    "vars": [
                      "x"
                    ],
                    "states": [
                      {
                        "#meta": {
                          "index": 0,
                          "actions": [
                            "Q.toggle"
                          ],
                          "movers": [
                            "Q"
                          ]
                        },
                        "x": 0
                      },
                      {
                        "#meta": {
                          "index": 1,
                          "actions": [
                            "Q.toggle"
                          ],
                          "movers": [
                            "Q"
                          ]
                        },
                        "x": 1
                      }
                    ],
                    "loop": 0
                  }
                }
              ]
            }
            --- exit status 1
        "##]],
    );
}

#[test]
fn json_lines() {
    let scene = Scene::with("json_lines", "m.fair", COUNTER);
    let arguments = [
        "check",
        "m.fair",
        "--output-format",
        "json-lines",
        "--property",
        "top",
        "--property",
        "minus",
    ];
    scene.check(&arguments, expect![[r#"
        {"file":"m.fair","property":"top","formula":"eventually x == LIMIT","route":"explicit","fairness":"none","verdict":"holds","reason":null,"states":4,"transitions":3,"product_states":4,"partial":true,"seconds":T,"peak_memory_bytes":M,"reduced":null,"rests_on":{"confidence":"searched","reductions":[],"solvers":[],"instances":[]},"warnings":[],"trace":null}
        {"file":"m.fair","property":"minus","formula":"x == 3 && x == 2","route":"explicit","fairness":"none","verdict":"violated","reason":null,"states":4,"transitions":4,"product_states":null,"seconds":T,"peak_memory_bytes":M,"reduced":null,"rests_on":{"confidence":"searched","reductions":[],"solvers":[],"instances":[]},"warnings":[],"trace":null,"remarks":["no reachable state satisfies the property"]}
        --- exit status 1
    "#]]);
}

#[test]
fn junit() {
    let scene = Scene::with("junit", "m.fair", TOGGLE);
    scene.check(
        &[
            "check",
            "m.fair",
            "--output-format",
            "junit",
            "--max-states",
            "1",
        ],
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="fair" tests="1" skipped="0" failures="0" errors="1">
                <testsuite name="m.fair" tests="1" skipped="0" errors="1" failures="0">
                    <testcase name="recurs" classname="m.fair" time="T">
                        <error message="recurs ([]&lt;&gt;(P.a || P.b)) is undecided under fairness none: state-limit" type="state-limit">recurs  unknown: state-limit  (fairness none, 2 states, T s)
            </error>
                    </testcase>
                </testsuite>
            </testsuites>
            --- exit status 3
        "#]],
    );
    scene.check(
        &["check", "m.fair", "--output-format", "junit"],
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="fair" tests="1" skipped="0" failures="1" errors="0">
                <testsuite name="m.fair" tests="1" skipped="0" errors="0" failures="1">
                    <testcase name="recurs" classname="m.fair" time="T">
                        <failure message="recurs ([]&lt;&gt;(P.a || P.b)) is violated under fairness none by a run with a loop of 2 steps" type="violated">recurs  violated  (fairness none, 2 states, T s)
              formula: []&lt;&gt;(P.a || P.b)
              counterexample: a loop of 2 steps forever
              start: x = 0
              loop:
                0  Q.toggle  x = 1
                1  Q.toggle  x = 0
              and back to the start of the loop
              what would help (tested):
                weak-process  with weak fairness of P the property holds
                strong        with strong fairness of P.a the property holds
            </failure>
                    </testcase>
                </testsuite>
            </testsuites>
            --- exit status 1
        "#]],
    );
}

#[test]
fn sarif() {
    let scene = Scene::with("sarif", "m.fair", SUSPICIOUS);
    scene.check(
        &["check", "m.fair", "--output-format", "sarif"],
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
                          "id": "needless-fairness"
                        },
                        {
                          "id": "never-taken"
                        },
                        {
                          "id": "premise-never-true"
                        },
                        {
                          "id": "property-holds"
                        }
                      ]
                    }
                  },
                  "results": [
                    {
                      "ruleId": "property-holds",
                      "kind": "pass",
                      "level": "none",
                      "message": {
                        "text": "flips (always (x == 0 -> eventually x == 1)) holds under fairness annotated"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "m.fair"
                            },
                            "region": {
                              "startLine": 6,
                              "startColumn": 10
                            }
                          }
                        }
                      ]
                    },
                    {
                      "ruleId": "property-holds",
                      "kind": "pass",
                      "level": "none",
                      "message": {
                        "text": "vacuous (always (x > 5 -> eventually x == 0)) holds under fairness annotated"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "m.fair"
                            },
                            "region": {
                              "startLine": 7,
                              "startColumn": 10
                            }
                          }
                        }
                      ]
                    },
                    {
                      "ruleId": "premise-never-true",
                      "kind": "fail",
                      "level": "warning",
                      "message": {
                        "text": "the left side of the implication, `x > 5`, is never true"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "m.fair"
                            },
                            "region": {
                              "startLine": 7,
                              "startColumn": 10
                            }
                          }
                        }
                      ]
                    },
                    {
                      "ruleId": "never-taken",
                      "kind": "fail",
                      "level": "warning",
                      "message": {
                        "text": "`P.never` is never taken"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "m.fair"
                            },
                            "region": {
                              "startLine": 4,
                              "startColumn": 5
                            }
                          }
                        }
                      ]
                    },
                    {
                      "ruleId": "needless-fairness",
                      "kind": "fail",
                      "level": "warning",
                      "message": {
                        "text": "this fairness never matters: every property holds without it"
                      },
                      "locations": [
                        {
                          "physicalLocation": {
                            "artifactLocation": {
                              "uri": "m.fair"
                            },
                            "region": {
                              "startLine": 3,
                              "startColumn": 5
                            }
                          }
                        }
                      ]
                    }
                  ]
                }
              ]
            }
            --- exit status 0
        "#]],
    );
}

#[test]
fn warnings_without_room_in_the_format_go_to_standard_error() {
    let scene = Scene::with("json_warnings", "m.fair", SUSPICIOUS);
    let arguments = ["check", "m.fair", "--output-format", "json-lines"];
    scene.check(&arguments, expect![[r#"
        {"file":"m.fair","property":"flips","formula":"always (x == 0 -> eventually x == 1)","route":"explicit","fairness":"annotated","verdict":"holds","reason":null,"states":2,"transitions":2,"product_states":3,"seconds":T,"peak_memory_bytes":M,"reduced":null,"rests_on":{"confidence":"searched","reductions":[],"solvers":[],"instances":[]},"warnings":[],"trace":null}
        {"file":"m.fair","property":"vacuous","formula":"always (x > 5 -> eventually x == 0)","route":"explicit","fairness":"annotated","verdict":"holds","reason":null,"states":2,"transitions":2,"product_states":2,"seconds":T,"peak_memory_bytes":M,"reduced":null,"rests_on":{"confidence":"searched","reductions":[],"solvers":[],"instances":[]},"warnings":[{"code":"premise-never-true","message":"the left side of the implication, `x > 5`, is never true","file":"m.fair","line":7,"column":10}],"trace":null}
        --- stderr
        warning[never-taken]: `P.never` is never taken
         --> m.fair:4:5
          |
        4 |     never when x > 1
          |     ^^^^^^^^^^^^^^^^

        warning[needless-fairness]: this fairness never matters: every property holds without it
         --> m.fair:3:5
          |
        3 |     weak fair flip { x := 1 - x }
          |     ^^^^^^^^^

        --- exit status 0
    "#]]);
}
