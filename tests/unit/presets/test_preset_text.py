from __future__ import annotations

import tomllib
from dataclasses import replace
from functools import reduce
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

from remembrancer.domain.recall import Detail, Recall, Rendered
from remembrancer.domain.scope import Level
from remembrancer.errors import InvalidInput
from remembrancer.policies import rendering
from remembrancer.policies.forgetting.decay import Ebbinghaus, HalfLife
from remembrancer.policies.forgetting.reinforcement import FeedbackSteps, Strikes
from remembrancer.policies.ranking.expressions import parse
from remembrancer.policies.ranking.signals import SCALES
from remembrancer.policies.rendering.block import Block
from remembrancer.policies.rendering.sections import Sections
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.presets.forms import RENDERERS
from remembrancer.presets.spec import Limits, Preset
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.presets.text import STRENGTH, own_preset, preset_of, table_of, text_of

every_preset = pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)


def read(text: str) -> Preset:
    return preset_of(tomllib.loads(text))


def changed(text: str, base: Preset = DEFAULT) -> Preset:
    return read(f'based_on = "{base.name}"\nname = "mine"\n{text}')


def at(table: Any, path: str) -> Any:
    return reduce(lambda inner, key: inner[key], path.split("."), table)


@every_preset
def test_a_preset_reads_as_it_was_printed(preset: Preset) -> None:
    assert read(text_of(preset)) == preset


@every_preset
def test_a_preset_is_always_printed_alike(preset: Preset) -> None:
    assert text_of(read(text_of(preset))) == text_of(preset)


@every_preset
def test_a_printed_preset_begins_with_a_comment_and_the_name(preset: Preset) -> None:
    comment, name, *_ = text_of(preset).splitlines()
    assert comment.startswith(f"# Every choice of the preset {preset.name}.")
    assert name == f'name = "{preset.name}"'


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("admission.forced_by", False),
        ("formation.event_tier", "episodic"),
        ("formation.importance.floors.pin", 0.8),
        ("ranking.depth.per_hit", 1),
        ("ranking.diversity", False),
        ("rankings", {}),
        ("access_policy.by_role.LEAD", "crew_shared"),
        ("dynamics.level_factors", {}),
        ("links", False),
        ("encoding.heading", False),
        ("renderer.form", "block"),
    ],
)
def test_a_choice_is_printed_also_where_it_is_the_default(path: str, told: object) -> None:
    assert at(table_of(DEFAULT), path) == told


def test_a_choice_of_several_classes_is_described_by_its_form() -> None:
    assert table_of(ENGRAM)["dynamics"]["curve"] == {"form": "ebbinghaus", "rate": 0.03, "spacing": 0.1}


def test_levels_are_described_by_name() -> None:
    assert table_of(TEAPARTY)["dynamics"]["level_factors"] == {"workspace": 1.0, "project": 1.2, "crew": 1.5}


def test_a_score_that_reads_the_strength_calls_it_so() -> None:
    assert table_of(CREWSHIP)["ranking"]["score"] == "similarity * strength"


def test_a_strength_that_is_a_signal_keeps_that_name() -> None:
    assert STRENGTH not in table_of(ENGRAM)["ranking"]["score"]


def test_no_signal_is_called_as_the_strength_is() -> None:
    assert STRENGTH not in SCALES


def test_a_preset_with_an_unknown_renderer_cannot_be_printed() -> None:
    class Own:
        def hits(self, recall: Recall, *, max_chars: int, detail: Detail) -> Rendered:
            return Rendered("", ())

        def pinned(self, recall: Recall, *, max_chars: int) -> str:
            return ""

    with pytest.raises(InvalidInput, match=r"^form: 'Own' .*one of block"):
        text_of(replace(DEFAULT, renderer=Own()))


def test_every_renderer_there_is_may_be_chosen() -> None:
    modules = [import_module(f"{rendering.__name__}.{module.name}") for module in iter_modules(rendering.__path__)]
    classes = {kind for module in modules for kind in vars(module).values() if isinstance(kind, type)}
    ours = {kind for kind in classes if kind.__module__.startswith(rendering.__name__)}
    assert {kind for kind in ours if hasattr(kind, "hits") and hasattr(kind, "pinned")} == set(RENDERERS)


# ── based on another ─────────────────────────────────────────────────────────────────────────────────────────────


@every_preset
def test_options_that_are_not_given_are_as_in_the_base_preset(preset: Preset) -> None:
    assert changed("", preset) == replace(preset, name="mine")


def test_one_number_may_be_changed_deep_inside() -> None:
    mine = changed("[dynamics.curve]\ndays = 10", DEFAULT)
    assert mine == replace(DEFAULT, name="mine", dynamics=replace(DEFAULT.dynamics, curve=HalfLife(days=10)))


def test_another_form_takes_nothing_from_the_one_before() -> None:
    mine = changed('[dynamics.curve]\nform = "ebbinghaus"\nrate = 0.1\nspacing = 0.2', TEAPARTY)
    assert mine.dynamics == replace(TEAPARTY.dynamics, curve=Ebbinghaus(rate=0.1, spacing=0.2))


def test_a_table_of_the_same_form_changes_only_its_given_options() -> None:
    mine = changed('[dynamics.curve]\nform = "half_life"\ndays = 10', TEAPARTY)
    assert mine.dynamics.curve == HalfLife(days=10, floor=0.1)


def test_another_renderer_has_its_own_defaults() -> None:
    assert changed('[renderer]\nform = "sections"', CREWSHIP).renderer == Sections()


def test_false_takes_a_choice_away() -> None:
    assert changed("[ranking]\nthreshold = false").ranking.threshold is None


def test_false_takes_an_entry_away() -> None:
    mine = changed('[admission.from_severity]\n"keeper.decision" = false', CREWSHIP)
    assert set(mine.admission.from_severity) == {"mission.status_change"}


def test_an_entry_is_added_to_those_there_are() -> None:
    mine = changed("[dynamics.level_factors]\nagent = 2", TEAPARTY)
    assert mine.dynamics.level_factors == {**TEAPARTY.dynamics.level_factors, Level.AGENT: 2}


def test_a_list_replaces_the_existing_one() -> None:
    assert changed('[admission]\nnever = ["debug.*"]').admission.never == ("debug.*",)


def test_a_table_that_the_base_does_not_have_may_be_given_whole() -> None:
    mine = changed("[feedback.strikes]\nnegatives = 3\nbelow = 0.2")
    assert mine.feedback == FeedbackSteps(strikes=Strikes(negatives=3, below=0.2))


def test_a_ranking_may_be_added() -> None:
    mine = changed('[rankings.words]\nscore = "lexical"')
    assert mine.ranking_named("words").score == parse("score", "lexical")


def test_a_score_that_reads_the_strength_follows_the_given_curve() -> None:
    mine = changed('[fading]\nstrength = "clamp(importance * level)"', CREWSHIP)
    assert mine.ranking.score == parse("score", "similarity * clamp(importance * level)")


def test_a_score_may_read_a_strength_that_is_a_signal() -> None:
    assert changed('[ranking]\nscore = "similarity * strength"', ENGRAM).ranking.score == parse(
        "score", "similarity * retention"
    )


def test_a_whole_number_is_a_number() -> None:
    assert changed("[fading]\nbelow = 1").fading.below == 1.0


def test_a_preset_may_be_based_on_none() -> None:
    mine = read(
        """
        name = "mine"
        description = "Words."
        ranking.score = "lexical"
        dynamics.curve = { form = "power_law" }
        fading = { strength = "retention", below = 0.1 }
        renderer.form = "block"
        """
    )
    assert (mine.limits, mine.links, mine.renderer) == (Limits(), None, Block())


# ── errors ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "path", "allowed"),
    [
        ('colour = "red"', "colour", "one of the keys name, description, admission"),
        (
            '[ranking]\nscoer = "lexical"',
            "ranking.scoer",
            (
                "one of the keys score, lexical_only, first_stage, late_interaction, rerank, rerank_weight, "
                "preference_weight, outcome_weight, depth, journal, threshold, probability, diversity, near_equals"
            ),
        ),
        ("[encoding]\nwords = true", "encoding.words", "one of the keys heading, turns, chars, token_embeddings"),
        ("[dynamics.gain]\nform = 'linear_gain'\ndivisor = 3", "dynamics.gain.divisor", "no key here"),
        ('[rankings."a.b"]\nscore = "x"', 'rankings."a.b".score', "a signal: one of answer_kind"),
        ("[ranking]\nscore = 3", "ranking.score", "a score expression, as text"),
        ('[ranking]\nscore = "0.5*lexical - 1"', "ranking.score", "signals, numbers"),
        ('[ranking]\nscore = "nearness"', "ranking.score", "a signal: one of answer_kind"),
        ('[ranking]\nscore = "bm25"', "ranking.score", "a signal in [0, 1]; this one is allowed only inside rrf"),
        ('[fading]\nstrength = "strength"', "fading.strength", "a signal: one of confidence"),
        ("[limits]\nmost = 201", "limits.most", "a whole number from 1 to 200"),
        ("[limits]\nmost = 3", "limits.usual", "a whole number from 1 to 3"),
        ("[limits]\nmost = true", "limits.most", "a whole number"),
        ("[limits]\nmost = 3.0", "limits.most", "a whole number"),
        ("[access_policy]\nstrict = 1", "access_policy.strict", "true or false"),
        ("[access_policy]\nshared_from = true", "access_policy.shared_from", "a number"),
        (
            '[access_policy.by_role]\nLEAD = "all"',
            "access_policy.by_role.LEAD",
            "one of session, own, crew_shared, workspace",
        ),
        ("[dynamics.curve]\ndays = 0", "dynamics.curve.days", "a number greater than 0"),
        ('[dynamics.curve]\nform = "linear"', "dynamics.curve.form", "one of linear_ramp, half_life"),
        ('[dynamics.curve]\nform = "exponential"', "dynamics.curve.days", "a value: there is no default"),
        ("[dynamics.level_factors]\nplanet = 1", "dynamics.level_factors", "one of workspace, project, crew"),
        ("[dynamics.level_factors]\ncrew = 0", "dynamics.level_factors.crew", "a number greater than 0"),
        ('[admission.from_severity]\n"a.b" = "loud"', 'admission.from_severity."a.b"', "one of info, notice"),
        ('[admission.from_severity]\n"A" = "warn"', "admission.from_severity", "lower-case letters"),
        ('[admission]\nnever = "a"', "admission.never", "a list"),
        ("[admission]\nnever = ['a', 1]", "admission.never[1]", "a text"),
        ("[ranking.threshold]\ncoverage = 2", "ranking.threshold.coverage", "a number greater than 0"),
        ("[links]\nat_most = 3", "links.above", "a value: there is no default"),
        ("links = true", "links", "a table"),
        ("ranking = 3", "ranking", "a table"),
        ("fading = 3", "fading", "a table"),
        ("renderer = false", "renderer", "a table"),
        ("dynamics.level_factors = 3", "dynamics.level_factors", "a table"),
        ('[renderer]\nlabel = "date"', "renderer.label", "one of heading, kind"),
        ('[renderer.freshness]\nform = "half_life"\ndays = 0', "renderer.freshness.days", "a number greater than 0"),
        ("pinned_tag = 3", "pinned_tag", "a text"),
        ("nudge_after = 0", "nudge_after", "a whole number from 1 to"),
    ],
)
def test_an_invalid_option_is_refused_with_its_place_and_the_allowed_values(text: str, path: str, allowed: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        changed(text)
    assert caught.value.argument == path
    assert caught.value.allowed.startswith(allowed)


@pytest.mark.parametrize(("based_on", "named"), [("'engrm'", "'engrm'"), ("3", "3")])
def test_a_base_that_there_is_not_is_refused_with_those_there_are(based_on: str, named: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^based_on: {named} .*one of crewship, default"):
        read(f'based_on = {based_on}\nname = "mine"')


@pytest.mark.parametrize("missing", ["name", "description", "ranking", "dynamics", "fading", "renderer"])
def test_options_without_a_default_are_required(missing: str) -> None:
    table = table_of(DEFAULT)
    del table[missing]
    with pytest.raises(InvalidInput, match=rf"^{missing}: .*no default"):
        preset_of(table)


@every_preset
def test_a_preset_of_the_users_own_may_not_be_called_as_a_shipped_one(preset: Preset) -> None:
    with pytest.raises(InvalidInput, match=rf"^name: '{preset.name}' .*a name that no shipped preset has"):
        own_preset(table_of(preset))


def test_a_preset_of_the_users_own_has_a_name_of_its_own() -> None:
    assert own_preset({"based_on": "default", "name": "mine"}).name == "mine"


def test_no_module_of_a_shipped_preset_is_forgotten() -> None:
    folder = Path(import_module("remembrancer.presets").__path__[0])
    data = {module.stem for module in folder.glob("*.py")} - {"__init__", "spec", "catalogue", "forms", "text"}
    assert data == set(PRESETS)
