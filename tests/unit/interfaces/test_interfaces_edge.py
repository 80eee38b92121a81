"""The program's outermost error handler."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from remembrancer import errors
from remembrancer.interfaces.cli import program
from remembrancer.interfaces.cli.main import DEFECT, EXIT_CODES, INTERRUPTED, run


def kinds(base: type[errors.RemembrancerError]) -> set[type[errors.RemembrancerError]]:
    return {base}.union(*(kinds(kind) for kind in base.__subclasses__()))


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def command_line(*_: str) -> Callable[..., None]:
        raise error

    monkeypatch.setattr(program, "command_line", command_line)


def test_every_error_has_an_exit_code() -> None:
    known = {kind for kind in kinds(errors.RemembrancerError) if kind.__module__ == errors.__name__}
    assert set(EXIT_CODES) == known - {errors.RemembrancerError}


def test_the_codes_are_those_of_the_contract() -> None:
    assert {EXIT_CODES[kind] for kind in (errors.InvalidInput, errors.NotFound, errors.Conflict)} == {2}
    assert {EXIT_CODES[kind] for kind in (errors.StoreUnavailable, errors.ModelUnavailable)} == {3}


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (errors.StoreUnavailable("the disk\nis full"), 3, "error: the disk is full\n"),
        (errors.Conflict("told anew"), 2, "error: told anew\n"),
        (KeyboardInterrupt(), INTERRUPTED, ""),
        (
            ZeroDivisionError("by zero"),
            DEFECT,
            "error: unexpected, please report it: ZeroDivisionError: by zero\n",
        ),
    ],
)
def test_an_error_is_a_line_and_a_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    said: str,
) -> None:
    failing(monkeypatch, error)
    assert run(["recent"]) == code
    assert capsys.readouterr().err == said
