//! The example that builds a model without any text runs, and tells the truth.

#[path = "../../../examples/library/build_model.rs"]
mod example;

#[test]
fn fairness_makes_the_server_answer() {
    // The server may idle forever; `answer` is enabled all that time, so weak fairness forbids it.
    let verdicts = example::verdicts().expect("there is no error");
    assert_eq!(verdicts, ["violated", "holds"]);
}
