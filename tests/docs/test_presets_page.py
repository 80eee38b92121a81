"""The page about presets agrees with the presets."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest

from remembrancer.compose import choose_preset
from remembrancer.errors import InvalidInput
from remembrancer.policies.forgetting.decay import Curve
from remembrancer.policies.forgetting.reinforcement import Gain
from remembrancer.policies.ranking.expressions import FUNCTIONS
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.forms import RENDERERS, name_of
from remembrancer.presets.text import table_of

PAGE = (Path(__file__).parents[2] / "docs" / "presets.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
[ERROR] = re.findall(r"```\nerror: (.*?)\n```", PAGE)


@pytest.mark.parametrize("function", sorted(set(FUNCTIONS) - {"product"}))
def test_a_function_of_scores_is_explained(function: str) -> None:
    assert re.search(rf"^\| `{function}\(.*` \| .+ \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(
    "kind", [*get_args(Curve), *get_args(Gain), *RENDERERS, TopicShift, DualChannel, Windows], ids=name_of
)
def test_a_form_is_explained(kind: type) -> None:
    assert re.search(rf"^\| `{name_of(kind)}` \| .+ \|$", PAGE, re.MULTILINE)


def fields(table: Any) -> set[str]:
    """The names of the options; entries that a preset fills in are left out."""
    filled_in = {
        "by_type",
        "by_severity",
        "floors",
        "from_severity",
        "in_states",
        "by_role",
        "level_factors",
        "rankings",
        "scopes",
    }
    inner = (value for key, value in table.items() if key not in filled_in)
    return set(table).union(*(fields(value) for value in inner if isinstance(value, dict)))


def test_every_choice_is_explained() -> None:
    choices = set[str]().union(*(fields(table_of(preset)) for preset in PRESETS.values()))
    assert {name for name in choices if f"`{name}`" not in PAGE} == set()


def test_the_example_is_a_preset(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_text(EXAMPLE, encoding="utf-8")
    assert choose_preset(str(file)).name == tomllib.loads(EXAMPLE)["name"]


def test_the_error_shown_is_the_one_that_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.toml").write_text(EXAMPLE.replace("days = 21", "days = 0"), encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        choose_preset("notes.toml")
    assert str(caught.value) == ERROR
