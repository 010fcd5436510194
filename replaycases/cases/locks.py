"""The order of locks: the project's row, then cases, then everything else, the audit chain's head last.

Whoever writes a case, a verdict or a lane takes the project's row first. Two of them therefore never wait for each
other in a circle, and a gate reads verdicts that nobody clears or stores meanwhile.
"""

from __future__ import annotations

from replaycases.accounts.models import Project


def lock_project(project: Project) -> None:
    """Until the caller's transaction ends. Not a key lock: rows that refer to the project can still be written."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
