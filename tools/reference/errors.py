"""The page of the errors: each with its code, the exit code of a command, and the status of an HTTP answer."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from reference.docstrings import doc_of, markdown
from reference.page import Page, anchor, code
from reference.source import all_errors
from remembrancer import errors
from remembrancer.interfaces.cli.main import DEFECT, EXIT_CODES
from remembrancer.interfaces.http.problems import STATUS

FILE: Final = "reference/errors.md"


def page() -> Page:
    made = Page(FILE, "Errors")
    made.add(markdown(doc_of(errors)))
    made.table(
        ("error", "code", "exit code of a command", "HTTP status", ""),
        [
            (
                code(one.__name__),
                code(one.code),
                str(EXIT_CODES.get(one, DEFECT)),
                str(int(STATUS.get(one, HTTPStatus.INTERNAL_SERVER_ERROR))),
                made.name(one.__name__, doc_of(one)),
            )
            for one in all_errors()
        ],
    )
    for one in all_errors():
        inherits = ", ".join(code(base.__name__) for base in one.__bases__)
        made.heading(2, code(one.__name__), anchor(one.__name__))
        made.add(f"{markdown(doc_of(one))} A subclass of {inherits}.")
    return made
