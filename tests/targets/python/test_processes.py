# SPDX-License-Identifier: Apache-2.0
"""Threads, forks, pickles, signals."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import threading
import time

import embert
import numpy as np
import pytest
from conftest import run_python
from embert import _model

TEXTS = ["the cat sat on the mat", "a dog in the fog", "where is paris?", "john smith lives in hamburg"] * 25


def test_threads_share_a_model(models):
    with embert.SentenceTransformer(models("sentence"), threads=2) as model:
        expected = model.encode(TEXTS)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for vectors in pool.map(lambda _: model.encode(TEXTS, batch_size=7), range(40)):
                assert np.array_equal(vectors, expected)


def test_close_while_threads_work(models):
    model = embert.SentenceTransformer(models("sentence"))
    outcomes = []

    def work():
        try:
            while True:
                model.encode(TEXTS)
        except RuntimeError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    model.close()
    for thread in threads:
        thread.join(60)
    assert len(outcomes) == 4 and all("closed" in outcome for outcome in outcomes)


def test_length_changes_while_threads_work(models):
    with embert.SentenceTransformer(models("sentence")) as model:
        expected = model.encode(TEXTS)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            running = [pool.submit(model.encode, TEXTS) for _ in range(40)]
            for length in (32, 64, 16, 64):
                model.max_seq_length = length
            assert all(np.array_equal(future.result(), expected) for future in running)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child(models):
    model = embert.SentenceTransformer(models("sentence"))
    model.encode(TEXTS)

    def child(connection):
        try:
            model.encode("a cat")
            connection.send("no error")
        except RuntimeError as error:
            connection.send(str(error))
        model.close()
        connection.send(embert.SentenceTransformer(models("sentence")).encode("a cat").shape)

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=child, args=(theirs,))
    process.start()
    assert ours.poll(60) and "opened before a fork" in ours.recv()
    assert ours.poll(60) and ours.recv() == (32,)
    process.join(60)
    assert process.exitcode == 0
    assert model.encode("a cat").shape == (32,)
    model.close()


def test_pickle(models):
    with embert.SentenceTransformer(models("prompted"), threads=1, prompts={"own": "dog "}, truncate_dim=16) as model:
        model.max_seq_length = 32
        copy = pickle.loads(pickle.dumps(model))
        assert np.array_equal(copy.encode(TEXTS), model.encode(TEXTS)) and copy.encode(TEXTS).shape[1] == 16
        assert copy.prompts == model.prompts and copy.max_seq_length == 32 and copy.digest == model.digest
        assert len(pickle.dumps(model)) < 20_000
        copy.close()
        model.encode("a cat")
    for original in (
        embert.CrossEncoder(models("labels")),
        embert.pipeline("ner", models("ner")),
        embert.Tokenizer(models("sentence")),
    ):
        assert type(pickle.loads(pickle.dumps(original))) is type(original)


def test_pickle_of_a_folder(models, tmp_path):
    model = embert.SentenceTransformer(models.folder("sentence"), cache_folder=tmp_path)
    data = pickle.dumps(model)
    for file in tmp_path.iterdir():
        file.unlink()
    assert np.array_equal(pickle.loads(data).encode(TEXTS), model.encode(TEXTS))


def test_pickle_in_another_process(models):
    model = embert.SentenceTransformer(models("sentence"))
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert np.array_equal(pool.submit(encode_in_child, model).result(120), model.encode(TEXTS))


def encode_in_child(model):
    return model.encode(TEXTS)


def test_pickle_refuses_another_file(models, tmp_path):
    path = tmp_path / "model.emb"
    shutil.copy(models("sentence"), path)
    data = pickle.dumps(embert.SentenceTransformer(path))
    shutil.copy(models("unnormalized"), tmp_path / "other")
    os.replace(tmp_path / "other", path)
    with pytest.raises(embert.ModelFileError, match=r"model.emb: the object was pickled with a model of SHA-256"):
        pickle.loads(data)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        pickle.loads(data)


def test_pickle_refuses_a_file_that_is_replaced_before_it_is_opened(models, tmp_path, monkeypatch):
    path = tmp_path / "model.emb"
    shutil.copy(models("rerank"), path)
    data = pickle.dumps(embert.CrossEncoder(path))
    shutil.copy(models("labels"), tmp_path / "other")
    digest_of = _model.digest_of

    def digest_then_replace(file):
        digest = digest_of(file)
        os.replace(tmp_path / "other", path)
        return digest

    monkeypatch.setattr(_model, "digest_of", digest_then_replace)
    with pytest.raises(embert.ModelFileError, match="changed after it was opened"):
        pickle.loads(data)


def test_labels_are_those_of_the_opened_model(models):
    """The library writes a score for each of them, whatever a pickle or the caller's copy of the facts says."""
    with embert.CrossEncoder(models("labels")) as model:
        state = model.__getstate__()
        copy = embert.CrossEncoder.__new__(embert.CrossEncoder)
        copy.__setstate__({**state, "_num_labels": 1, "_info": {**model.info, "labels": ["one"]}})
        copy.info["labels"].clear()
        assert copy.num_labels == 3
        assert np.array_equal(copy.predict([("a cat", "a dog")] * 50), model.predict([("a cat", "a dog")] * 50))
        copy.close()


def test_digest(models, tmp_path):
    import hashlib

    path = tmp_path / "model.emb"
    shutil.copy(models("sentence"), path)
    model = embert.SentenceTransformer(path)
    assert model.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    late = embert.SentenceTransformer(path)
    shutil.copy(models("unnormalized"), tmp_path / "other")
    os.replace(tmp_path / "other", path)
    assert len(model.digest) == 64
    with pytest.raises(embert.ModelFileError, match="changed after it was opened"):
        _ = late.digest


def test_path_is_opened_again_from_elsewhere(models, tmp_path, monkeypatch):
    shutil.copy(models("sentence"), tmp_path / "model.emb")
    monkeypatch.chdir(tmp_path)
    data = pickle.dumps(embert.SentenceTransformer("model.emb"))
    monkeypatch.chdir("/")
    assert pickle.loads(data).path == str(tmp_path / "model.emb")


INTERRUPTED = """
import os, signal, sys, threading, time
import embert
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
model = embert.SentenceTransformer({path!r}, threads=2)
texts = ["john smith lives in hamburg and walks on the mat " * 5] * 2_000_000
before = signal.getsignal(signal.SIGINT)
threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begun = time.monotonic()
try:
    model.encode(texts)
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begun < 5, signal.getsignal(signal.SIGINT) is before)
print(model.encode("a cat").shape)
"""


def test_interrupt(models):
    result = run_python(INTERRUPTED.format(path=models("sentence")))
    assert result.stdout == "interrupted True True\n(32,)\n" and result.stderr == "", result


HANDLED = """
import os, signal, threading
import embert
model = embert.SentenceTransformer({path!r})
seen = []
signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
print(len(model.encode(["john smith lives in hamburg and walks on the mat " * 5] * 60_000)), seen == [signal.SIGINT])
"""


def test_handler_that_goes_on(models):
    result = run_python(HANDLED.format(path=models("sentence")))
    assert result.stdout == "60000 True\n" and result.stderr == "", result


SECOND_KILLS = """
import os, signal, threading
import embert
model = embert.SentenceTransformer({path!r})
signal.signal(signal.SIGINT, lambda number, frame: signal.signal(signal.SIGINT, signal.SIG_DFL))
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
model.encode(["john smith lives in hamburg and walks on the mat " * 5] * 60_000, show_progress_bar=False)
print(signal.getsignal(signal.SIGINT) is signal.SIG_DFL)
"""


def test_handler_that_sets_another_one(models):
    result = run_python(SECOND_KILLS.format(path=models("sentence")))
    assert result.stdout == "True\n" and result.stderr == "", result


def test_close_while_another_length_is_set(models, monkeypatch):
    """The setter opens the file again; a close meanwhile waits for it, and the model stays closed."""
    model = embert.SentenceTransformer(models("sentence"))
    begun, opened_again = threading.Event(), model._opened_again

    def slow(max_tokens):
        begun.set()
        time.sleep(0.2)
        return opened_again(max_tokens)

    monkeypatch.setattr(model, "_opened_again", slow)
    setter = threading.Thread(target=lambda: setattr(model, "max_seq_length", 16))
    setter.start()
    begun.wait()
    model.close()
    setter.join()
    assert model.closed


def test_exception_of_the_progress_bar(models, monkeypatch):
    from embert import _progress

    def fail(*_):
        raise BrokenPipeError("stderr is gone")

    with embert.SentenceTransformer(models("sentence")) as model:
        monkeypatch.setattr(_progress.Bar, "show", fail)
        with pytest.raises(BrokenPipeError, match="stderr is gone"):
            model.encode(TEXTS, show_progress_bar=True)
        assert model.encode(TEXTS).shape == (100, 32)


def test_memory_of_failed_calls(models):
    """10 calls that fail, each with 20 MB of texts: nothing waits for the garbage collector. That would be 200 MB; the
    allocator keeps 20 to 40 MB more or less."""
    result = run_python(f"""
import gc, embert
from embert import _progress
model = embert.SentenceTransformer({models("sentence")!r}, threads=1)
def fail(*_):
    raise BrokenPipeError
_progress.Bar.show = fail
texts = ["a cat " * 1000] * 3300
def failed_call():
    try:
        model.encode(texts, show_progress_bar=True)
    except BrokenPipeError:
        pass
def resident():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
gc.disable()
failed_call()
first = resident()
for _ in range(10):
    failed_call()
print(resident() - first)
""")
    assert int(result.stdout) <= 100_000, result


def test_exit_with_open_models(models):
    result = run_python(f"""
import threading, embert
model = embert.SentenceTransformer({models("sentence")!r})
threading.Thread(target=lambda: [model.encode(["a cat"] * 100) for _ in range(10_000)], daemon=True).start()
print("done")
""")
    assert result.returncode == 0 and result.stdout == "done\n" and result.stderr == ""


def test_signals_are_left_alone_in_threads(models):
    with embert.SentenceTransformer(models("sentence")) as model:
        before = signal.getsignal(signal.SIGINT)
        thread = threading.Thread(target=model.encode, args=(TEXTS,))
        thread.start()
        thread.join(60)
        assert signal.getsignal(signal.SIGINT) is before
        assert pathlib.Path(model.path).exists()
