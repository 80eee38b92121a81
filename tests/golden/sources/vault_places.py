"""Whose a file of a vault is, by TeaParty's hierarchy on disk: one pattern a line of it, the first that fits.

"project" is the folder's own project where the vault is one's ("root" is its name), else the one the path begins with.
The factors are those of the text: team 1.5, project 1.2, global 1.0.
"""

from __future__ import annotations

import re
import sys

FACTORS = {"team": "1.5", "project": "1.2", "global": "1.0"}

IN_PROJECT = (
    (r".*?\.teaparty/jobs/(?P<job>[^/]+)/(?:[^/]+/)*?tasks/(?P<task>[^/]+)/.+", "team"),
    (r".*?\.teaparty/jobs/(?P<job>[^/]+)/.+", "team"),
    (r"(?:.*/)?\.sessions/(?P<job>[^/]+)/(?:[^/]+/)*?tasks/(?P<task>[^/]+)/.+", "team"),
    (r"(?:.*/)?\.sessions/(?P<job>[^/]+)/.+", "team"),
    (r"(?:.*/)?tasks/(?P<job>(?P<task>task-[^/]+))/.+", "team"),
)

OF_NOBODY = r"(?:tasks|proxy-tasks|\.[^/]+)/.+|[^/]+"

PATHS = (
    ("", "MEMORY.md"),
    ("", "institutional.md"),
    ("", "tasks/deploys.md"),
    ("", "proxy-tasks/deploys.md"),
    ("", ".claude/notes.md"),
    ("", "checkout/MEMORY.md"),
    ("", "checkout/institutional.md"),
    ("", "checkout/Institutional.MD"),
    ("", "checkout/docs/guide.md"),
    ("", "checkout/tasks/deploys.md"),
    ("", "checkout/tasks/task-9/MEMORY.md"),
    ("", "checkout/.teaparty/jobs/j-7/institutional.md"),
    ("", "checkout/.teaparty/jobs/j-7/MEMORY.md"),
    ("", "checkout/.teaparty/jobs/j-7/tasks/notes.md"),
    ("", "checkout/.teaparty/jobs/j-7/tasks/t-2/worktree/MEMORY.md"),
    ("", "checkout/.teaparty/jobs/j-7/tasks/t-2/worktree/docs/x.md"),
    ("", "checkout/.teaparty/jobs/notes.md"),
    ("", "projects/checkout/MEMORY.md"),
    ("", "projects/checkout/.sessions/20260301/institutional.md"),
    ("", "projects/checkout/.sessions/20260301/tasks/t-2/MEMORY.md"),
    ("", ".teaparty/jobs/j-7/MEMORY.md"),
    ("billing", "MEMORY.md"),
    ("billing", "institutional.md"),
    ("billing", "docs/guide.md"),
    ("billing", ".teaparty/jobs/j-7/tasks/t-2/worktree/MEMORY.md"),
    ("billing", ".sessions/20260301/MEMORY.md"),
)


def row(root: str, path: str) -> list[str]:
    project, rest = root, path
    if not root:
        found = re.fullmatch(r"projects/(?P<project>[^/]+)/(?P<rest>.+)", path)
        if found is None and not re.fullmatch(OF_NOBODY, path):
            found = re.fullmatch(r"(?P<project>[^/]+)/(?P<rest>.+)", path)
        if found is not None:
            project, rest = found["project"], found["rest"]
    level, job, task = "project" if project else "global", "", ""
    for pattern, of in IN_PROJECT:
        fits = re.fullmatch(pattern, rest)
        if fits is not None:
            level, job, task = of, fits["job"], fits.groupdict().get("task") or ""
            break
    institutional = "yes" if re.search(r"(^|/)institutional\.md$", path, re.IGNORECASE) else "no"
    return [root, path, level, FACTORS[level], project, job, task, institutional]


def main() -> None:
    lines = [["root", "path", "level", "factor", "project", "job", "task", "institutional", "source"]]
    lines += [[*row(root, path), "teaparty text, hierarchy on disk"] for root, path in PATHS]
    for line in lines:
        sys.stdout.write(",".join(f'"{cell}"' if "," in cell else cell for cell in line) + "\n")


if __name__ == "__main__":
    main()
