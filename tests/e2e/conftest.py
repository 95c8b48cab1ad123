"""What every end-to-end test may ask for."""

from e2e.fixtures import api, bare_client, client_program

__all__ = ["api", "bare_client", "client_program"]
