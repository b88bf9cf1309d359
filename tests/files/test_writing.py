"""A file is whole or absent: whatever is raised on the way, what stood there before is still there."""

import errno
import os
import stat
import sys

import pytest

from gramlearn.files.errors import UnwritableFileError
from gramlearn.files.writing import check_writable, replacing, write_text


def test_a_file_is_written_and_nothing_is_left_beside_it(tmp_path):
    write_text(tmp_path / "a.txt", "one\ntwo äöü\n")
    assert (tmp_path / "a.txt").read_bytes() == "one\ntwo äöü\n".encode()
    assert os.listdir(tmp_path) == ["a.txt"]


def write_half_of_it(path, error):
    with replacing(path) as beside:
        beside.write_text("half of the n")
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, OSError])
def test_what_was_raised_on_the_way_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(error):
        write_half_of_it(path, error)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_full_disk_is_said_in_a_sentence_and_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with (
        pytest.raises(UnwritableFileError, match=r"a\.txt could not be written: the disk is full"),
        replacing(path),
    ):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing/a.txt", "its folder does not exist"), ("folder", "a folder stands there")],
)
def test_a_place_that_cannot_be_written_is_named(tmp_path, name, words):
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnwritableFileError, match=words):
        write_text(tmp_path / name, "new")
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")
def test_the_rights_of_a_file_stay_and_those_of_a_new_one_are_usual(tmp_path):
    old, new, usual = (tmp_path / name for name in ("old", "new", "usual"))
    old.write_text("old")
    old.chmod(0o640)
    usual.touch()
    for path in (old, new):
        write_text(path, "new")
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    assert new.stat().st_mode == usual.stat().st_mode


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_a_link_stays_one(tmp_path):
    (tmp_path / "link").symlink_to("real")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_text(pipe, "new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_place_is_tried_before_the_work_and_left_as_it_was(tmp_path):
    old = tmp_path / "old"
    old.write_text("old")
    for path in (old, tmp_path / "new"):
        check_writable(path)
    with pytest.raises(UnwritableFileError, match="its folder does not exist"):
        check_writable(tmp_path / "missing" / "new")
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["old"]
