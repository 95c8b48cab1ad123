"""Files and stores that fail: a file costs only itself, is tried again, and is set aside in the end."""

import os
from types import SimpleNamespace

import apsw
import pytest
from archive_rows import rows, texts
from transcript_files import SESSION, assistant, line, user, write

from hippo_core.errors import StoreLockedError
from hippo_core.ingest import archive as step
from hippo_core.ingest.archive import archive_files
from hippo_core.transcripts.discover import transcript_files


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "projects" / "shop" / f"{SESSION}.jsonl", user("Use uv.", 1), assistant("Yes.", 2))


class TestFailures:
    def test_a_vanished_or_unreadable_file_costs_only_itself(self, store, path):
        gone, folder = path.with_name("gone.jsonl"), path.with_name("folder.jsonl")
        folder.mkdir()
        report = archive_files(store, [gone, folder, path])
        assert [failed for failed, _ in report.failed] == [gone, folder] and report.messages == 2
        for failed, why in report.failed:
            assert why and store.progress.sources()[str(failed)].error == why
        archive_files(store, [gone])
        assert store.progress.sources()[str(gone)].attempts == 2

    def test_it_is_tried_again_and_then_forgiven(self, store, path):
        late = path.with_name("late.jsonl")
        archive_files(store, [late])
        write(late, user("Here at last.", 5))
        assert archive_files(store, [late]).messages == 1
        source = store.progress.sources()[str(late)]
        assert source.error is None and source.attempts == 0

    def test_whatever_goes_wrong_in_a_file_the_others_are_read(self, store, path, monkeypatch):
        bad = write(path.with_name("bad.jsonl"), user("boom", 5, sessionId="bad"))
        real = step.guard
        monkeypatch.setattr(step, "guard", lambda m: 1 / 0 if m.text == "boom" else real(m))
        report = archive_files(store, [bad, path])
        assert report.messages == 2 and report.failed == [(bad, f"{bad} could not be taken in (ZeroDivisionError).")]
        assert rows(store) and not store.archive.session("bad")

    def test_a_file_that_fails_while_it_is_read_leaves_nothing_behind(self, store, path, monkeypatch):
        class Failing(step.Transcript):
            def _read(self, size, count):
                for _ in super()._read(size, count):
                    raise OSError(5, "Input/output error")

        real = step.Transcript
        monkeypatch.setattr(step, "Transcript", Failing)
        report = archive_files(store, [path])
        assert report.failed == [(path, f"{path} cannot be read (Input/output error).")] and rows(store) == []
        monkeypatch.setattr(step, "Transcript", real)
        assert archive_files(store, [path]).messages == 2

    @pytest.mark.parametrize("known", [False, True])
    def test_of_a_large_file_that_fails_later_on_the_portions_before_that_stay(self, store, path, monkeypatch, known):
        more = write(path.with_name("more.jsonl"), user("And ruff.", 6, sessionId="more"))
        real, starts, transcript = step.guard, [], step.Transcript
        monkeypatch.setattr(step, "_LARGE", 0)
        monkeypatch.setattr(step, "Transcript", lambda path, start: starts.append(start) or transcript(path, start))
        monkeypatch.setattr(step, "guard", lambda m: 1 / 0 if m.text == "No." else real(m))
        begin = archive_files(store, [path]).files and path.stat().st_size if known else 0
        second = write(path, path.read_bytes(), user("Why?", 3)).stat().st_size
        write(path, path.read_bytes(), user("No.", 4))
        reports = [archive_files(store, [path, more]) for _ in range(4)]
        assert [len(report.failed) for report in reports] == [1, 1, 1, 0] and reports[3].set_aside == 1
        assert (texts(store), texts(store, "more")) == (["Use uv.", "Yes.", "Why?"], ["And ruff."])
        assert starts[known:] == [begin, 0, second, second], "of the file, of the other, and of the file twice"
        monkeypatch.setattr(step, "guard", real)
        assert archive_files(store, [path, more], retry=True).messages == 1

    def test_what_cannot_be_stored_costs_only_its_file_among_those_written_with_it(self, store, path, monkeypatch):
        bad = write(path.with_name("bad.jsonl"), user("boom", 5, sessionId="bad"))
        more = write(path.with_name("more.jsonl"), user("And ruff.", 6))
        append_all = type(store.archive).append_all

        def fragile(room, entries):
            return 1 / 0 if any(entry.message.text == "boom" for entry in entries) else append_all(room, entries)

        monkeypatch.setattr(type(store.archive), "append_all", fragile)
        report = archive_files(store, [path, bad, more])
        assert report.failed == [(bad, f"{bad} could not be taken in (ZeroDivisionError).")]
        assert (report.files, report.messages, texts(store)) == (2, 3, ["Use uv.", "Yes.", "And ruff."])
        assert store.progress.sources()[str(bad)].offset == 0

    def test_of_a_large_file_no_portion_is_stored_behind_one_that_cannot_be(self, store, path, monkeypatch):
        write(path, path.read_bytes(), user("And ruff.", 3), user("Later.", 4))
        append_all = type(store.archive).append_all

        def fragile(room, entries):
            return 1 / 0 if any(entry.message.text == "And ruff." for entry in entries) else append_all(room, entries)

        monkeypatch.setattr(step, "_LARGE", 0)
        with monkeypatch.context() as meanwhile:
            meanwhile.setattr(type(store.archive), "append_all", fragile)
            report = archive_files(store, [path])
        assert len(report.failed) == 1 and texts(store) == ["Use uv.", "Yes."]
        assert archive_files(store, [path]).messages == 2
        assert texts(store) == ["Use uv.", "Yes.", "And ruff.", "Later."]

    def test_a_locked_store_ends_the_step_and_keeps_what_is_done(self, store, path, paths, monkeypatch):
        monkeypatch.setattr(step, "PORTION", 1)  # so that the first file is written before the second is read
        second = write(path.with_name("second.jsonl"), user("More.", 5))

        def lock(done, total):
            if done == 1:
                store._db.set_busy_timeout(10)
                other.execute("BEGIN IMMEDIATE")

        other = apsw.Connection(str(paths.store))
        with pytest.raises(StoreLockedError):
            archive_files(store, [path, second], lock)
        other.close()
        assert archive_files(store, [path, second]).messages == 1 and len(texts(store)) == 3

    @pytest.mark.skipif(os.name == "nt", reason="POSIX names may hold any byte, and pipes are files there")
    def test_odd_names_and_a_pipe(self, store, tmp_path):
        odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl")
        try:
            with open(odd, "wb") as file:
                file.write(line(user("Odd.", 1)))
        except OSError:
            pytest.skip("this file system takes no such name")
        os.mkfifo(tmp_path / "pipe.jsonl")
        report = archive_files(store, transcript_files(tmp_path))
        assert report.messages == 1 and [path.name for path, _ in report.failed] == ["pipe.jsonl"]


class TestSetAside:
    """A file that keeps failing is tried three times, then left alone until it changes or somebody asks."""

    @pytest.fixture
    def attempts(self, monkeypatch):
        """Every file fails while `broken`; counts how often one was tried."""
        real, counted = step.Transcript, SimpleNamespace(broken=True, count=0)

        def transcript(path, start):
            counted.count += 1
            if counted.broken:
                raise OSError(5, "Input/output error")
            return real(path, start)

        monkeypatch.setattr(step, "Transcript", transcript)
        return counted

    def test_the_fourth_pass_leaves_it_alone_and_says_so(self, store, path, attempts):
        reports = [archive_files(store, [path]) for _ in range(5)]
        assert attempts.count == 3
        assert [len(report.failed) for report in reports] == [1, 1, 1, 0, 0]
        assert [report.set_aside for report in reports] == [0, 0, 0, 1, 1]
        source = store.progress.sources()[str(path)]
        assert source.set_aside and "Input/output error" in source.error

    @pytest.mark.skipif(os.name == "nt", reason="links need a right there")
    def test_a_link_that_leads_nowhere_is_left_alone_like_any_other(self, store, tmp_path):
        link = tmp_path / "link.jsonl"
        link.symlink_to(tmp_path / "later.jsonl")
        reports = [archive_files(store, [link]) for _ in range(5)]
        assert [len(report.failed) for report in reports] == [1, 1, 1, 0, 0]
        assert [report.set_aside for report in reports] == [0, 0, 0, 1, 1]
        write(tmp_path / "later.jsonl", user("Here at last.", 1))
        assert archive_files(store, [link]).messages == 1

    def test_it_is_tried_again_on_request(self, store, path, attempts):
        for _ in range(4):
            archive_files(store, [path])
        attempts.broken = False
        report = archive_files(store, [path], retry=True)
        assert (report.messages, report.set_aside) == (2, 0)
        assert not store.progress.sources()[str(path)].set_aside

    def test_a_request_in_vain_leaves_it_set_aside(self, store, path, attempts):
        for _ in range(4):
            archive_files(store, [path])
        assert len(archive_files(store, [path], retry=True).failed) == 1
        assert archive_files(store, [path]).set_aside == 1

    def test_it_is_tried_three_times_again_when_it_changes(self, store, path, attempts):
        for _ in range(4):
            archive_files(store, [path])
        write(path, path.read_bytes(), user("More.", 3))
        for _ in range(4):
            archive_files(store, [path])
        assert attempts.count == 6
        attempts.broken = False
        write(path, path.read_bytes(), user("Even more.", 4))
        assert archive_files(store, [path]).messages == 4

    def test_it_keeps_its_watermark_while_it_is_set_aside(self, store, path, attempts):
        attempts.broken = False
        archive_files(store, [path])
        attempts.broken, before = True, store.progress.sources()[str(path)]
        write(path, path.read_bytes(), user("And ruff.", 3))
        for _ in range(4):
            archive_files(store, [path])
        source = store.progress.sources()[str(path)]
        assert source.set_aside and (source.offset, source.digest) == (before.offset, before.digest)
        attempts.broken = False
        assert archive_files(store, [path], retry=True).messages == 1
        assert texts(store) == ["Use uv.", "Yes.", "And ruff."]

    def test_one_that_is_deleted_is_no_longer_anybody_s_trouble(self, store, path, attempts):
        for _ in range(3):
            archive_files(store, [path])
        path.unlink()
        archive_files(store, [])
        assert store.progress.sources()[str(path)].error is None

    @pytest.mark.skipif(os.name == "nt", reason="a folder is moved away and back")
    def test_one_that_is_deleted_and_put_back_as_it_was_is_read(self, store, path, attempts):
        """As where the disk that holds it was not there for a while."""
        archive_files(store, [path])
        folder = path.parent.rename(path.parents[1] / "away")
        archive_files(store, [])
        folder.rename(path.parent)
        attempts.broken = False
        assert archive_files(store, [path]).messages == 2

    def test_one_outside_the_folders_of_this_pass_is_not_taken_for_deleted(self, store, path, attempts):
        archive_files(store, [path])
        archive_files(store, [])
        assert store.progress.sources()[str(path)].error is not None


class TestShutFolder:
    @pytest.fixture
    def shut(self, store, path, monkeypatch):
        """A folder of transcripts beside the other, of which the system refuses the list while `shut` names it."""
        folder = write(path.parents[1] / "api" / "s.jsonl", user("Here at last.", 5, sessionId="s")).parent
        refused, real = {str(folder)}, os.scandir

        def scandir(name):
            if str(name) in refused:
                raise PermissionError(13, "Permission denied", str(name))
            return real(name)

        monkeypatch.setattr(os, "scandir", scandir)
        return refused

    def read(self, store, path):
        return archive_files(store, transcript_files(path.parents[1]))

    def test_it_is_named_and_set_aside_like_a_file(self, store, path, shut):
        (name,) = shut
        reports = [self.read(store, path) for _ in range(5)]
        assert [[(str(where), why) for where, why in report.failed] for report in reports] == [
            *[[(name, f"{name} cannot be read (Permission denied).")]] * 3,
            *[[]] * 2,
        ]
        assert reports[0].messages == 2 and reports[-1].set_aside == 1
        archive_files(store, [path])
        assert self.read(store, path).set_aside == 1, "another pass that does not come by does not forgive it"

    def test_once_it_opens_it_is_read_and_forgiven(self, store, path, shut):
        for _ in range(4):
            self.read(store, path)
        shut.clear()
        report = self.read(store, path)
        assert (report.messages, report.failed, report.set_aside) == (1, [], 0)
        assert not any(source.error for source in store.progress.sources().values())

    def test_a_folder_that_is_not_there_is_no_failure(self, store, tmp_path):
        assert transcript_files(tmp_path / "nowhere") == []
