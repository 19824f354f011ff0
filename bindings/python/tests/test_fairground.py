"""The wheel, as a user of Python sees it."""

import doctest
from pathlib import Path

import pytest

import fairground

EXAMPLES = Path(__file__).parents[3] / "examples"
COUNT = """
var x : 0..3 = 0
process P { up when x < 3 { x := x + 1 }  reset when x == 3 { x := 0 } }
process Q { rest { skip } }
property top: eventually x == 3
invariant small: x < 3
"""


def test_the_first_page():
    assert doctest.testmod(fairground).failed == 0


def test_verdicts_and_traces():
    answers = fairground.check(text=COUNT)
    assert [answer.verdict for answer in answers] == ["violated", "violated"]
    trace = answers["small"].trace()
    assert [row["x"] for row in trace] == [0, 1, 2, 3]
    assert not any(row["#loop"] for row in trace)
    assert any(row["#loop"] for row in answers["top"].trace())
    assert "x = 3" in answers["small"].text


def test_fairness_and_values_of_constants():
    assert fairground.check(text=COUNT, fairness="weak", properties=["top"])[0].verdict == "holds"
    file = str(EXAMPLES / "peterson.fair")
    fair = fairground.check(file, defines={"N": 2}, fairness="weak-process")
    assert [answer.verdict for answer in fair] == ["holds", "holds"]


def test_limits_are_unknown():
    answer = fairground.check(text=COUNT, fairness="weak", properties=["top"], max_states=1)[0]
    assert (answer.verdict, answer.trace()) == ("unknown", None)
    assert answer.reason


def test_wrong_models_are_errors():
    with pytest.raises(ValueError, match="model.fair:1:"):
        fairground.check(text="var x :")
    with pytest.raises(ValueError, match="nonsense"):
        fairground.check(text=COUNT, properties=["nonsense"])
    with pytest.raises(ValueError, match="file or as a text"):
        fairground.check()


def test_simulation_repeats_itself():
    alone = COUNT.replace("process Q { rest { skip } }", "")
    run = fairground.simulate(text=alone, steps=4, seed=3)
    assert [row["x"] for row in run] == [0, 1, 2, 3, 0]
    assert run == fairground.simulate(text=alone, steps=4, seed=3)
    assert run[-1]["#actions"] is None


def test_notebooks_show_the_loop():
    shown = fairground.check(text=COUNT)._repr_html_()
    assert "violated" in shown and "border-left" in shown and "<table>" in shown


def test_names_are_text_in_notebooks():
    answer = fairground.check(text=COUNT)[0]
    object.__setattr__(answer, "property", "<script>")
    assert "<script>" not in answer._repr_html_()


def test_canonical_layout():
    assert fairground.format("var x:bool=true") == "var x : bool = true\n"
    assert fairground.format("var x :") is None
