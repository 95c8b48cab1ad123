"""Picks the embedder that the settings name. Knows the names; opening loads nothing heavy."""

from hippo_core.config import Config
from hippo_core.embed.base import Embedder
from hippo_core.errors import UsageError, VectorsUnavailableError


def open_embedder(config: Config) -> Embedder:
    """The embedder of `config`, its model not loaded yet.

    VectorsUnavailableError when it is switched off or cannot run here; UsageError when there is none of that name.
    """
    if config.embedder == "local":
        from hippo_core.embed.minilm import MiniLm

        return MiniLm()
    if config.embedder == "openai":
        from hippo_core.embed.openai_embedder import OpenAiEmbedder

        return OpenAiEmbedder(config.openai_base_url)
    if config.embedder == "off":
        raise VectorsUnavailableError("Search by meaning is switched off (embedder: off); recall works by keywords.")
    raise UsageError(f"There is no embedder {config.embedder!r}: it is local, openai or off.")
