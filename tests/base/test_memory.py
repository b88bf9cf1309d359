"""The memory that is there, as the system and the container tell it."""

from gramlearn._base import memory


def test_of_the_system(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2000 kB\n")
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "meminfo")
    assert memory.available_memory() == 2000 * 1024


def test_of_a_container(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "_CONTAINER", tmp_path)
    (tmp_path / "memory.max").write_text("5000\n")
    (tmp_path / "memory.current").write_text("2000\n")
    assert memory.available_memory() == 3000
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_memory() > 1e8


def test_where_no_system_tells(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(memory, "_SYSTEM", tmp_path / "nothing")
    assert memory.available_memory() > 1e8
