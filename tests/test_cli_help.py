"""Every command's help: it is there, its examples work as they are typed, and an error leads to it."""

import shlex
import sys

import click
import pytest

from hippo_core.cli.example import listed
from hippo_core.cli.main import COMMANDS, hippo, main


def walk(command, path=()):
    """(words to type, command) of every command, groups too."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from walk(command.get_command(context, name), (*path, name))


EVERY = dict(walk(hippo))
ALONE = {path: command for path, command in EVERY.items() if not isinstance(command, click.Group)}
by_words = {"ids": " ".join}


@pytest.fixture
def typed(capsys, monkeypatch):
    """(exit status, standard output, error stream) of a command that is typed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["hippo", *arguments])
        try:
            main()
        except SystemExit as end:
            status = end.code or 0
        else:
            status = 0
        return status, *capsys.readouterr()

    return run


@pytest.mark.parametrize("path", EVERY, **by_words)
def test_help_says_what_a_command_does_and_what_each_option_means(path, typed):
    status, said, wrong = typed(*path, "--help")
    assert (status, wrong) == (0, "") and said.startswith(f"Usage: {' '.join(('hippo', *path))} ")
    assert EVERY[path].help
    options = [one for one in EVERY[path].params if isinstance(one, click.Option)]
    assert all(option.help for option in options)
    assert all(option.is_flag or option.metavar or isinstance(option.type, click.Choice) for option in options)


@pytest.mark.parametrize("path", [path for path, command in EVERY.items() if command.epilog], **by_words)
def test_examples_are_shown_as_they_are_typed_and_can_be_typed(path, typed):
    said = typed(*path, "--help")[1]
    for example in listed(EVERY[path].epilog):
        assert f"    {example}\n" in said, "not wrapped"
        words = shlex.split(example)
        assert tuple(words[: 1 + len(path)]) == ("hippo", *path)
        EVERY[path].make_context(path[-1], words[1 + len(path) :])  # raises where they are wrong


@pytest.mark.parametrize("path", ALONE, **by_words)
def test_a_wrong_option_leads_to_the_help(path, typed):
    status, said, wrong = typed(*path, "--nonsense")
    assert (status, said, wrong.count("\n")) == (2, "", 1) and f"See: hippo {' '.join(path)} --help" in wrong


@pytest.mark.parametrize(
    "path", [path for path, command in ALONE.items() if any(one.required for one in command.params)], **by_words
)
def test_a_missing_argument_is_answered_with_an_example(path, typed):
    status, said, wrong = typed(*path)
    assert (status, said, wrong.count("\n")) == (2, "", 1)
    assert f"For example: hippo {' '.join(path)} " in wrong and f"(more: hippo {' '.join(path)} --help)" in wrong


def test_no_line_of_the_list_of_commands_is_cut_off(typed):
    for path, command in EVERY.items():
        if isinstance(command, click.Group):
            assert "..." not in typed(*path, "--help")[1].partition("Commands:")[2], path
    assert {path[0] for path in EVERY if path} == set(COMMANDS)


def test_words_reach_a_command_as_they_were_typed(monkeypatch):
    """On Windows click would put values in the place of variables, and names of files in the place of a star."""
    told = {}
    monkeypatch.setattr(hippo, "main", lambda **how: told.update(how))
    main()
    assert told["windows_expand_args"] is False
