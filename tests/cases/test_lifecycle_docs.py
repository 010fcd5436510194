"""docs/lifecycle.md says what the tables in the code say."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaycases.accounts.roles import Role
from replaycases.cases import gates, policies, proposals
from replaycases.cases.models import ProposalKind, Stage


@pytest.fixture
def rows(repository: Path) -> dict[str, list[str]]:
    """The cells of every table's row, by its first one."""
    lines = (repository / "docs" / "lifecycle.md").read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {row[0]: row[1:] for row in cells}


def names(text: str) -> set[str]:
    return {name.strip() for name in text.split(",")}


@pytest.mark.parametrize("name", policies.RULES)
def test_who_may_do_what(rows: dict[str, list[str]], name: policies.ActionName) -> None:
    rule = policies.RULES[name]
    roles, stages, by_person, second_eyes = rows[rule.label]
    assert names(roles) == {role.label for role in rule.roles}
    said = set(policies.OPEN) if stages == "any open" else {s for s in Stage if s.label.lower() in names(stages)}
    assert said == set(rule.stages)
    assert (by_person == "yes", second_eyes == "yes") == (rule.by_person, rule.second_eyes)


@pytest.mark.parametrize("target", gates.GATES)
def test_the_gates_of_each_step(rows: dict[str, list[str]], target: gates.Target) -> None:
    (said,) = rows[target.replace("_", " ")]
    base, added = said.split("and: ") if "and: " in said else ("", said)
    titles = [*(rows["nonblocking"][0].split("; ") if base else []), *added.split("; ")]
    assert titles == [gates.TITLES[name] for name in gates.GATES[target]]


@pytest.mark.parametrize("kind", ProposalKind)
def test_who_are_the_two_people(rows: dict[str, list[str]], kind: ProposalKind) -> None:
    proposes, confirms, _ = rows[kind.label]
    general, _, missing_red = confirms.partition("; a missing red: ")
    rule = policies.RULES[f"propose_{kind.value}"]  # type: ignore[index]
    assert names(proposes) == {role.label for role in rule.roles}
    assert names(general) == {role.label for role in Role if role in proposals.CONFIRMS[kind]}
    assert not missing_red or missing_red == "Incident owner"
