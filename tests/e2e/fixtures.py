"""Fixtures of the real client: its binary, a stub to talk to, users of it with and without the plugin."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.client import Client
from e2e.client_binary import ClientUnavailableError, client_binary
from e2e.installation import SOURCE, Installed
from e2e.product import Product
from e2e.stub_api import StubApi
from hippo_core.ops.stage import stage_plugin
from hippo_core.paths import Paths
from hippo_core.render.refresh import refresh
from hippo_core.store import Store


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


@pytest.fixture
def product(installed: Installed, tmp_path: Path) -> Product:
    """An empty memory, and a plugin staged for it, on the programs of the one real installation."""
    paths = Paths(tmp_path / "mémoire à moi")
    stage_plugin(SOURCE, paths, str(installed.python))
    with Store.open(paths.store) as store:
        refresh(store, paths)
    return Product(paths.home, installed.scripts)


@pytest.fixture
def client(bare_client: Client, product: Product) -> Client:
    """A user of the client with the plugin."""
    bare_client.plugin = product.plugin
    return bare_client
