"""Fairground for Python: check and simulate models of concurrent systems under fairness.

>>> import fairground
>>> text = '''
... var x : 0..3 = 0
... process P { up when x < 3 { x := x + 1 } }
... process Q { rest { skip } }
... property top: eventually x == 3
... '''
>>> fairground.check(text=text)["top"].verdict
'violated'
>>> fairground.check(text=text, fairness="weak")["top"].verdict
'holds'
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Sequence

from . import _fairground

__all__ = ["Answer", "Answers", "check", "format", "simulate"]

format = _fairground.format


@dataclass(frozen=True)
class Answer:
    """The answer to one question: verdict, reason, evidence."""

    property: str
    formula: str
    fairness: str
    #: `holds`, `violated` or `unknown`.
    verdict: str
    #: Why it is unknown.
    reason: Optional[str]
    #: Verdict and explanation, as `fair check` prints them.
    text: str
    #: Everything, with the keys of `fair check --output-format json`.
    data: Mapping[str, Any] = field(repr=False)

    def trace(self) -> Optional[list[dict[str, Any]]]:
        """The run that shows the verdict, one row for each state: its values, the actions of the step
        that leaves it (`#actions`), and whether it lies on the loop (`#loop`). Rows make a data frame:
        `pandas.DataFrame(answer.trace())`."""
        trace = self.data.get("trace")
        if trace is None:
            return None
        loop = trace.get("loop")
        rows = []
        for number, state in enumerate(trace["states"]):
            row = {name: _plain(value) for name, value in state.items() if name != "#meta"}
            meta = state.get("#meta", {})
            row["#actions"] = meta.get("actions", meta.get("action"))
            row["#loop"] = loop is not None and number >= loop
            rows.append(row)
        return rows

    def _repr_html_(self) -> str:
        """The verdict with the run as a table, for notebooks; the loop has a line beside it."""
        title = f"<b>{html.escape(self.property)}</b>: {html.escape(self.verdict)}"
        title += f" under fairness {html.escape(self.fairness)}"
        if self.reason:
            title += f" ({html.escape(self.reason)})"
        rows = self.trace()
        if not rows:
            return f"<div>{title}</div>"
        names = [name for name in rows[0] if name != "#loop"]
        head = "".join(f"<th>{html.escape(name.lstrip('#'))}</th>" for name in names)
        body = ""
        for row in rows:
            style = ' style="border-left: 4px solid"' if row["#loop"] else ""
            cells = "".join(f"<td>{html.escape(str(row.get(name, '')))}</td>" for name in names)
            body += f"<tr{style}>{cells}</tr>"
        return f"<div>{title}</div><table><tr>{head}</tr>{body}</table>"


class Answers(Sequence[Answer]):
    """Answers, by position or by the name of the property."""

    def __init__(self, answers: list[Answer]):
        self._answers = answers

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        if isinstance(key, str):
            for answer in self._answers:
                if answer.property == key:
                    return answer
            raise KeyError(key)
        return self._answers[key]

    def __len__(self) -> int:
        return len(self._answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self._answers)

    def __repr__(self) -> str:
        return "\n".join(f"{a.property}: {a.verdict}" for a in self._answers)

    def _repr_html_(self) -> str:
        return "".join(answer._repr_html_() for answer in self._answers)


def check(
    file: Optional[str] = None,
    *,
    text: Optional[str] = None,
    language: str = "fair",
    defines: Optional[Mapping[str, Any]] = None,
    properties: Optional[Sequence[str]] = None,
    fairness: Optional[str] = None,
    max_states: Optional[int] = None,
    timeout: Optional[float] = None,
) -> Answers:
    """Decides properties of a model, all of them unless some are named. The model is a file, or a text
    in one of the languages `fair`, `pml` and `csp`. A wrong model raises ValueError."""
    name = _name(file, text, language)
    named = None if properties is None else list(properties)
    given = _given(defines)
    shown, texts = _fairground.check(name, text, given, named, fairness, max_states, timeout)
    answers = []
    for result, told in zip(json.loads(shown)["results"], texts):
        keys = ("property", "formula", "fairness", "verdict", "reason")
        answers.append(Answer(**{key: result[key] for key in keys}, text=told, data=result))
    return Answers(answers)


def simulate(
    file: Optional[str] = None,
    *,
    text: Optional[str] = None,
    language: str = "fair",
    defines: Optional[Mapping[str, Any]] = None,
    steps: int = 20,
    seed: int = 1,
) -> list[dict[str, Any]]:
    """A random run: one row for each state, with the actions of the step that leaves it."""
    name = _name(file, text, language)
    rows = json.loads(_fairground.simulate(name, text, _given(defines), steps, seed))
    plain = ({name: _plain(value) for name, value in row["state"].items()} for row in rows)
    return [{**state, "#actions": row["actions"]} for state, row in zip(plain, rows)]


def _name(file: Optional[str], text: Optional[str], language: str) -> str:
    if (file is None) == (text is None):
        raise ValueError("give the model as a file or as a text")
    return str(file) if text is None else f"model.{language}"


def _given(defines: Optional[Mapping[str, Any]]) -> list[tuple[str, str]]:
    def shown(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return [(name, shown(value)) for name, value in (defines or {}).items()]


def _plain(value: Any) -> Any:
    """A value of a trace as a value of Python."""
    if isinstance(value, dict):
        if "#bigint" in value:
            return int(value["#bigint"])
        if "#set" in value:
            return frozenset(map(_hashable, value["#set"]))
        if "#map" in value:
            return {_hashable(key): _plain(item) for key, item in value["#map"]}
        if "#tup" in value:
            return tuple(map(_plain, value["#tup"]))
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def _hashable(value: Any) -> Any:
    plain = _plain(value)
    return tuple(plain) if isinstance(plain, list) else plain
