"""What a new user may get wrong: one line that says what was wrong and what to do, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli

NO_FILE = "there is no file at this path: check it"
NO_FOLDER = "its folder does not exist: create it, or give another path"
UNKNOWN = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"

WRONG = {
    "rember x": "Did you mean 'remember', 'embedder'? see `remembrancer --help`",
    "keys creat agent": "Did you mean 'create'? see `remembrancer keys --help`",
    "journal": "Missing command; see `remembrancer journal --help`",
    "recall x --limt 3": "--limit, --llm); see `remembrancer recall --help`",
    "recall": "Missing argument 'QUERY'; see `remembrancer recall --help`",
    "keys create": "Missing argument 'NAME'; see `remembrancer keys create --help`",
    "jobs nope": "see `remembrancer jobs --help`",
    "recall x --limit many": "a valid integer",
    "recall x --limit 0": "expected a whole number from 1 to 200",
    "recall x --since 2026-13-45": "expected a day such as 2026-03-04",
    "timeline --since tomorow": "or a phrase such as yesterday",
    "recall x --role BOSS": "expected one of AGENT, LEAD",
    "recall x --preset enrgam": "expected one of crewship, default, engram",
    "recall x --embedder opnai:m": "expected auto, none, local, local:PRECISION, folder:PATH, ",
    "recall x --db missing.db": "`remembrancer remember` or `ingest` creates one",
    "recall x --db notes.txt": "not a Remembrancer database",
    "remember x --db folder": "is a folder; give a file's path",
    "remember x --db missing/a.db": "its folder missing does not exist: create it",
    "remember x --importance 7": "expected a number from 0 to 1",
    "remember x --metadata {": "expected a JSON object",
    "show 1234": "expected an id (a UUID",
    f"show {UNKNOWN}": "here; check the id, --db and --workspace",
    f"replay {UNKNOWN}": "here; check the id, --db and --workspace",
    f"link {UNKNOWN} likes {UNKNOWN}": "expected one of similar, supports",
    f"feedback {UNKNOWN} fine": "expected one of helpful, unhelpful, harmful",
    "erase": "expected one of ids, events, or any of project",
    "ingest missing.jsonl": NO_FILE,
    "ingest folder": "expected a file, or a folder of Markdown notes (*.md)",
    "import missing.jsonl": NO_FILE,
    "import notes.txt": "as export writes it",
    "recall x --config missing.toml": NO_FILE,
    "recall x --preset missing.toml": NO_FILE,
    "restore missing.db --db new.db": NO_FILE,
    "import-config missing.yaml": NO_FILE,
    "stage missing.md": NO_FILE,
    "eval questions missing.jsonl missing.jsonl": NO_FILE,
    "eval locomo missing.json": NO_FILE,
    "eval segmentation missing.json": NO_FILE,
    "eval compare missing missing": NO_FILE,
    "export missing/all.jsonl": NO_FOLDER,
    "export notes.txt": "expected a file that does not exist yet",
    "backup missing/copy.db": NO_FOLDER,
    "vault check missing": "expected a folder that exists",
    "vault sync notes.txt": "expected a folder",
    "serve --port 70000": "expected a whole number from 0 to 65535",
    "mcp --port 8000": "expected --http",
    "worker --only nope": "expected one of index, segment",
    "--db x.db recall checkout": "--db: options come after the command: `remembrancer recall checkout --db x.db`",
    "--json --workspace=demo journal list": "`remembrancer journal list --json --workspace=demo`",
    "--workspace demo": "--workspace: options come after the command: `remembrancer COMMAND --workspace demo`",
    "--nonsense recall x": "No such option: --nonsense; see `remembrancer --help`",
    "demo --db x.db": "expected --keep FILE",
    "demo --all --hard": "expected one of the two",
}


@pytest.mark.parametrize("line", WRONG)
def test_one_line_says_what_is_wrong_and_what_to_do(cli: Cli, folder: Path, line: str) -> None:
    cli.done("remember", "Checkout needs 2 GiB")
    (folder / "notes.txt").write_text("Not a database.\n", encoding="utf-8")
    (folder / "folder").mkdir()
    before = sorted(folder.iterdir())
    ran = cli(*line.split())
    assert ran.code in {2, 3}
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert WRONG[line] in ran.err
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("command", ["ingest {}", "doctor --db {}", "restore {} --db new.db", "export a --db {}"])
def test_a_name_that_no_file_can_have_is_no_defect(cli: Cli, folder: Path, command: str) -> None:
    name = "x" * 300
    ran = cli(*command.format(name).split())
    assert ran.code in {2, 3}
    assert "xxxx" in ran.err
    assert "unexpected" not in ran.err
    assert ran.err.count("\n") == 1
    assert list(folder.iterdir()) == []
