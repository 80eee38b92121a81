"""The files of a vault, and the owners of their learnings. Source: TeaParty, hierarchy on disk.

    MEMORY.md                                                      the workspace's
    <project>/MEMORY.md                                            the project's
    <project>/institutional.md                                     the project's, in every answer
    <project>/.teaparty/jobs/<job>/institutional.md                the job's, in every answer
    <project>/.teaparty/jobs/<job>/tasks/<task>/worktree/…         the job's, from one of its tasks
    projects/<project>/.sessions/<session>/…                       the legacy layout: the session's, as a job's

A vault may be one project's folder; its paths then lack `<project>/`. A job is a crew inside a project.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Level, Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.values import dataclass

LEARNINGS: Final = "MEMORY.md"
INSTITUTIONAL: Final = "institutional.md"

_OF_LEARNINGS: Final = frozenset({"memory.md", INSTITUTIONAL, "proxy.md"})
_TASK_FOLDERS: Final = frozenset({"tasks", "proxy-tasks"})
_JOBS: Final = (".teaparty", "jobs")
_PROJECTS: Final = "projects"
_SESSIONS: Final = ".sessions"
_FOLDER: Final = re.compile(r"\w([\w .@+=-]*[\w@+=-])?")
"""Names that are valid folder names on every operating system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultOwner:
    """The owner of a file: the workspace, or a project, perhaps with a job and one of its tasks.

    `institutional`: its learnings are in every answer.
    """

    project: str | None = None
    job: str | None = None
    task: str | None = None
    institutional: bool = False

    @property
    def level(self) -> Level:
        if self.job is not None:
            return Level.CREW
        return Level.WORKSPACE if self.project is None else Level.PROJECT

    def scope(self, workspace: str) -> Scope:
        """Raises InvalidInput for a folder whose name cannot be that of a project or crew."""
        return Scope(workspace=workspace, project=self.project, crew=self.job)

    @property
    def metadata(self) -> dict[str, JsonValue]:
        told: dict[str, JsonValue] = {"job": self.job, "task": self.task}
        return {name: value for name, value in told.items() if value is not None}


def place_of(path: str, *, project: str | None = None) -> VaultOwner:
    """The owner of a file, from its path relative to the vault's root, separated by `/`. `project`: the root is this
    project's folder.

    >>> place_of("checkout/.teaparty/jobs/j-7/tasks/t-2/worktree/MEMORY.md")
    VaultOwner(project='checkout', job='j-7', task='t-2', institutional=False)
    """
    *folders, name = path.split("/")
    if project is None:
        project, folders = _project(folders)
    job, below = _job(folders)
    task = _task(below)
    if job is None and task is not None and task.startswith("task-"):
        job = task
    return VaultOwner(project=project, job=job, task=task, institutional=name.lower() == INSTITUTIONAL)


def holds_learnings(path: str) -> bool:
    """Whether a file should contain learnings, judging by its name or folder. Only then are problems in its headers
    reported.
    """
    *folders, name = path.split("/")
    return name.lower() in _OF_LEARNINGS or (bool(folders) and folders[-1] in _TASK_FOLDERS)


def place_of_memory(memory: Memory, *, pinned_tag: str) -> VaultOwner:
    """The owner of a learning that was formed in the store. `pinned_tag`: the tag of memories in every answer."""
    return VaultOwner(project=memory.scope.project, job=memory.scope.crew, institutional=pinned_tag in memory.tags)


def path_of(place: VaultOwner, *, project: str | None = None, known: Collection[str] = ()) -> str | None:
    """The file for new learnings of an owner; None if no file can hold them. `known`: the existing files.

    >>> path_of(VaultOwner(project="checkout", job="j-7"))
    'checkout/.teaparty/jobs/j-7/MEMORY.md'
    """
    folders: list[str] = []
    if place.project != project:
        if project is not None or place.project is None:
            return None
        below_projects = any(path.startswith(f"{_PROJECTS}/{place.project}/") for path in known)
        folders = [*([_PROJECTS] if below_projects else []), place.project]
    if place.job is not None:
        folders += [*_JOBS, place.job]
    if not all(_FOLDER.fullmatch(folder) or folder in _JOBS for folder in folders):
        return None
    path = "/".join([*folders, INSTITUTIONAL if place.institutional else LEARNINGS])
    return path if place_of(path, project=project) == place else None


def _project(folders: list[str]) -> tuple[str | None, list[str]]:
    """The project of a path in a workspace's vault, and the folders below the project's."""
    if folders[:1] == [_PROJECTS] and len(folders) > 1:
        return folders[1], folders[2:]
    if folders and not folders[0].startswith(".") and folders[0] not in {*_TASK_FOLDERS, _PROJECTS}:
        return folders[0], folders[1:]
    return None, folders


def _job(folders: list[str]) -> tuple[str | None, list[str]]:
    for number, folder in enumerate(folders):
        if tuple(folders[number : number + 2]) == _JOBS and len(folders) > number + 2:
            return folders[number + 2], folders[number + 3 :]
        if folder == _SESSIONS and len(folders) > number + 1:
            return folders[number + 1], folders[number + 2 :]
    return None, folders


def _task(folders: list[str]) -> str | None:
    """The folder below `tasks`, if any."""
    for number, folder in enumerate(folders[:-1]):
        if folder == "tasks":
            return folders[number + 1]
    return None
