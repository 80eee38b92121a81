from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.language.english.spelling import distance, is_misspelling, sound

NAMES = st.text("aehijkcsyz", min_size=2, max_size=10)
"""Names of few letters, so that many pairs are close or sound alike."""


@given(NAMES, NAMES)
def test_a_misspelling_is_what_the_distance_and_the_sound_say(one: str, other: str) -> None:
    least, differ = min(len(one), len(other)), distance(one, other)
    near = differ <= (0 if least < 5 else 1 if least < 8 else 2)
    alike = differ <= 3 and sound(one) == sound(other)
    expected = least >= 4 and abs(len(one) - len(other)) <= 3 and (near or alike)
    assert is_misspelling(one, other) is expected


@given(NAMES, st.data())
def test_a_name_with_two_changes_is_compared_in_full(name: str, data: st.DataObject) -> None:
    """Names that are close are drawn too seldom by chance."""
    changed = list(name)
    for _ in range(2):
        place = data.draw(st.integers(0, len(changed) - 1))
        changed[place] = data.draw(st.sampled_from("aehijkcsyz"))
    other = "".join(changed)
    assert is_misspelling(name, other) or len(name) < 8
