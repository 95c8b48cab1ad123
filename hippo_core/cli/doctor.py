"""`hippo doctor`: a line for each check, and what was mended. The checks are the doctor room's."""

import sys

import click

from hippo_core import paths
from hippo_core.cli.output import to_json
from hippo_core.cli.recall import current_folder, on_terminal
from hippo_core.cli.say import say
from hippo_core.doctor.base import Finding


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Repair what can safely be repaired.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor_command(fix: bool, as_json: bool) -> None:
    """Check everything, one line each; exit with 1 when something is wrong."""
    from hippo_core.doctor.run import examine, mend

    where = current_folder() or str(paths.current().home)
    found, done = mend(paths.current(), where) if fix else (examine(paths.current(), where), [])
    wrong = [finding for finding in found if not finding.ok]
    if as_json:
        rows = [{"check": f.check, "ok": f.ok, "line": f.line, "means": f.means, "do": f.do, "fixable": bool(f.fix)}
                for f in found]  # fmt: skip
        mended = [{"check": one.check, "done": one.done, "line": one.line} for one in done]
        click.echo(to_json({"ok": not wrong, "checks": rows, "mended": mended}))
    else:
        for one in done:
            say(f"{'mended' if one.done else 'not mended'}  {one.check}: {one.line}")
        say("\n".join(map(_line, found)))
        fixable = sum(finding.fix is not None for finding in wrong)
        if fixable and not fix:
            say(f"{fixable} of {len(wrong)} can be repaired: hippo doctor --fix")
    if wrong:
        sys.exit(1)


def _line(finding: Finding) -> str:
    name = finding.check.ljust(12)
    if finding.ok:
        return f"ok     {on_terminal('head', name)} {finding.line}"
    return (
        f"{on_terminal('number', 'wrong')}  {on_terminal('head', name)} {finding.line.removesuffix('.')}. "
        f"{finding.means} → {finding.do}"
    )
