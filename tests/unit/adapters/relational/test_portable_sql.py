"""Statements outside of `relational/sqlite` are written in the SQL that SQLite and PostgreSQL share."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from remembrancer.adapters import relational

FOLDER = Path(relational.__file__).parent
DIALECTS = {"postgres", "sqlite"}
PORTABLE = sorted(path for path in FOLDER.rglob("*.py") if not DIALECTS & {*path.relative_to(FOLDER).parts})
SOURCE = FOLDER.parent.parent

SQLITE_ONLY = {
    "ifnull": r"\bifnull\(",
    "iif": r"\biif\(",
    "total": r"\btotal\(",
    "group_concat": r"\bgroup_concat\(",
    "character functions": r"\b(char|hex|unhex|unicode|printf|instr|glob)\(",
    "dates as functions": r"\b(strftime|julianday|datetime|unixepoch)\(",
    "JSON functions and operators": r"\bjson_?\w*\(|->>?",
    "minimum or maximum of two values": r"\b(min|max)\([^()]*(\([^()]*\)[^()]*)*,",
    "substr from the end": r"\bsubstr\([^,]*,\s*-",
    "row numbers": r"\b(rowid|oid|_rowid_)\b",
    "last_insert_rowid and changes": r"\b(last_insert_rowid|changes|total_changes)\(",
    "full text": r"\bMATCH\b|_fts\b|\bbm25\(",
    "GLOB and REGEXP": r"\b(GLOB|REGEXP)\b",
    "conflict clauses of statements": r"\b(INSERT|UPDATE) OR \w+|\bREPLACE INTO\b",
    "ON CONFLICT DO UPDATE without columns": r"ON CONFLICT DO UPDATE",
    "pragmas": r"\bPRAGMA\b",
    "files": r"\b(VACUUM|ATTACH|DETACH|REINDEX)\b",
    "its own tables": r"\bsqlite_\w+",
    "kinds of transaction": r"\bBEGIN\b",
    "ROLLBACK TO and RELEASE without SAVEPOINT": r"\bROLLBACK TO (?!SAVEPOINT)|\bRELEASE (?!SAVEPOINT)",
    "numbered and named placeholders": r"\?\d|[ (=][:@$][a-z]\w*\b",
    "a parameter of unknown type": r"\?\s+IS\b",
    "IS between values": r"\bIS (NOT )?(?!NULL\b|NOT\b|DISTINCT\b|TRUE\b|FALSE\b|\{)\S",
    "CROSS JOIN as a hint": r"\bCROSS JOIN\b",
    "index hints": r"\b(NOT )?INDEXED\b|[ (]\+[a-z]\w*\.",
    "an empty list": r"\bIN \(\s*\)",
    "sums of conditions": r"\b(sum|min|max|avg)\((?!CASE\b)(EXISTS\b|NOT\b|[^()]*(=|<|>|\bIS\b)[^()]*\))",
    "two equal signs": r"==",
    "quoted names": r"`|\[[a-z]\w*\]",
    "columns without a type": r"\bWITHOUT ROWID\b|\bAUTOINCREMENT\b|\bVIRTUAL TABLE\b",
    "LIMIT without end": r"\bLIMIT -",
    "values as conditions": r"\bAND v\.truncated(?! [<>=])",
}
"""What only SQLite has, or takes otherwise than PostgreSQL."""

SAMPLES = {
    "ifnull": ["SELECT ifnull(title, '')"],
    "iif": ["SELECT iif(n > 1, 2, 3)"],
    "total": ["SELECT total(cost) FROM model_calls"],
    "group_concat": ["SELECT group_concat(text)"],
    "character functions": ["SELECT char(31)", "WHERE id = unhex(?)", "SELECT hex(id)"],
    "dates as functions": ["SELECT strftime('%s', at)"],
    "JSON functions and operators": ["FROM json_each(?)", "SELECT json(tags)", "SELECT metadata ->> 'k'"],
    "minimum or maximum of two values": ["SET last = max(last, excluded.last)", "min(coalesce(a, 1), b)"],
    "substr from the end": ["SELECT substr(text, -?)"],
    "row numbers": ["SELECT rowid FROM cues"],
    "last_insert_rowid and changes": ["SELECT last_insert_rowid()", "SELECT changes()"],
    "full text": ["WHERE cues_fts MATCH ?", "JOIN events_fts f"],
    "GLOB and REGEXP": ["WHERE type GLOB ?"],
    "conflict clauses of statements": ["INSERT OR REPLACE INTO runs", "UPDATE OR IGNORE runs", "REPLACE INTO runs"],
    "ON CONFLICT DO UPDATE without columns": ["VALUES (?) ON CONFLICT DO UPDATE SET n = 1"],
    "pragmas": ["PRAGMA page_count"],
    "files": ["VACUUM INTO ?"],
    "its own tables": ["SELECT name FROM sqlite_schema"],
    "kinds of transaction": ["BEGIN IMMEDIATE"],
    "ROLLBACK TO and RELEASE without SAVEPOINT": ["ROLLBACK TO one", "RELEASE one"],
    "numbered and named placeholders": ["WHERE n = ?1", "WHERE n = :name"],
    "a parameter of unknown type": ["WHERE ? IS NULL OR job = ?"],
    "IS between values": ["WHERE atom IS ?", "WHERE a IS NOT b", "WHERE a IS b.c"],
    "CROSS JOIN as a hint": ["FROM near CROSS JOIN memories m ON m.n = near.n"],
    "index hints": ["FROM cues INDEXED BY cues_by_event", "WHERE +c.workspace = ?"],
    "an empty list": ["WHERE kind IN ()"],
    "sums of conditions": ["SELECT sum(outcome <> ?)", "SELECT sum(cost IS NULL)", "SELECT min(EXISTS (SELECT 1))"],
    "two equal signs": ["WHERE a == b"],
    "quoted names": ["SELECT `key`", "SELECT [key]"],
    "columns without a type": ["PRIMARY KEY (n)) WITHOUT ROWID"],
    "LIMIT without end": ["LIMIT -1"],
    "values as conditions": ["WHERE v.model = ? AND v.truncated GROUP BY 1"],
}

PLAIN = (
    "SELECT m.n, coalesce(m.title, '') FROM memories m WHERE m.workspace = ? AND m.superseded_by IS NULL",
    "SELECT min(occurred_from), max(occurred_to) FROM memories GROUP BY 1 ORDER BY 1 LIMIT ?",
    "SELECT coalesce((SELECT max(r.evidence_until) FROM reviews r WHERE r.memory = ?), 0), coalesce(m.at, 1)",
    "SELECT sum(CASE WHEN outcome <> ? THEN 1 ELSE 0 END), sum(requests) FROM model_calls WHERE at IS NOT NULL",
    "INSERT INTO runs (n) VALUES (?) ON CONFLICT (n) DO UPDATE SET n = excluded.n WHERE excluded.n > runs.n",
    "ROLLBACK TO SAVEPOINT one",
)
"""What both have."""

SQL = re.compile(
    r"\b(SELECT|INSERT|UPDATE|DELETE|WHERE|FROM|JOIN|VALUES|AND|OR|ORDER BY|ON|SET|NULL|EXISTS|COMMIT)\b|\w\.\w+\b"
)


def texts(path: Path) -> list[tuple[int, str]]:
    """The strings of a module, docstrings apart, each with its line; `{}` stands for what is put into an f-string."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if id(node) in bare or id(node) in parts:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append((node.lineno, node.value))
        elif isinstance(node, ast.JoinedStr):
            found.append((node.lineno, "".join(_text(part) for part in node.values)))
    return found


def _text(part: ast.expr) -> str:
    return part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{}"


def constructs(statement: str) -> set[str]:
    return {name for name, pattern in SQLITE_ONLY.items() if re.search(pattern, statement)}


STATEMENTS = [(path, line, text) for path in PORTABLE for line, text in texts(path) if SQL.search(text)]


def test_no_statement_is_sqlite_s_alone() -> None:
    found = [
        f"{path.relative_to(FOLDER)}:{line}: {', '.join(sorted(names))}: {text}"
        for path, line, text in STATEMENTS
        if (names := constructs(text))
    ]
    assert found == []


def test_every_construct_has_a_sample() -> None:
    assert SAMPLES.keys() == SQLITE_ONLY.keys()


@pytest.mark.parametrize("name", SQLITE_ONLY)
def test_a_construct_is_recognised(name: str) -> None:
    assert [sample for sample in SAMPLES[name] if name not in constructs(sample)] == []


@pytest.mark.parametrize("statement", PLAIN)
def test_sql_that_both_dialects_have_is_accepted(statement: str) -> None:
    assert constructs(statement) == set()


def test_the_statements_of_every_module_are_read() -> None:
    read = {path.name for path, _, text in STATEMENTS if text.lstrip().startswith(("SELECT", "INSERT", "UPDATE"))}
    assert {"memories.py", "journal.py", "lookup.py", "removing.py", "importing.py", "exporting.py"} <= read
    assert len(STATEMENTS) > 250


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found.add(node.module)
            found.update(f"{node.module}.{name.name}" for name in node.names)
    return found


def test_only_the_dialect_of_sqlite_and_the_reader_of_other_systems_files_import_its_driver() -> None:
    importing = {path.relative_to(SOURCE) for path in SOURCE.rglob("*.py") if imports(path) & {"apsw", "sqlite3"}}
    assert {path.parent.as_posix() for path in importing} == {
        "adapters/relational/sqlite",
        "ingest/systems",
    }


def test_nothing_but_the_composition_root_imports_the_dialect_of_sqlite() -> None:
    importing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(name.startswith("remembrancer.adapters.relational.sqlite") for name in imports(path))
        and path.parent.name != "sqlite"
    }
    assert importing == {"compose.py"}
