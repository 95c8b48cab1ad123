"""Fixtures of the real client: its binary, a stub to talk to, a user of it with a home of their own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.client import Client
from e2e.client_binary import ClientUnavailableError, client_binary
from e2e.stub_api import StubApi


@pytest.fixture(scope="session")
def client_program() -> Path:
    """The real client. Skips where it cannot be had, unless HIPPO_REQUIRE_CLIENT=1 says that it must."""
    try:
        return client_binary()
    except ClientUnavailableError as error:
        if os.environ.get("HIPPO_REQUIRE_CLIENT") == "1":
            pytest.fail(f"HIPPO_REQUIRE_CLIENT=1, but {error}")
        pytest.skip(str(error))


@pytest.fixture
def api() -> Iterator[StubApi]:
    with StubApi() as stub:
        yield stub


@pytest.fixture
def bare_client(client_program: Path, api: StubApi, tmp_path: Path) -> Client:
    """A user of the client who has no plugin."""
    return Client(client_program, api, tmp_path / "user")
