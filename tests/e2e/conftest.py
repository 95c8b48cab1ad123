"""What every end-to-end test may ask for."""

from e2e.fixtures import api, bare_client, client, client_program, product
from e2e.installation import installed, pip_cache, shared_folder

__all__ = ["api", "bare_client", "client", "client_program", "installed", "pip_cache", "product", "shared_folder"]
