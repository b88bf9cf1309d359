"""What is made ahead comes in order, and no more of it waits than was asked for."""

import threading
import time

import pytest

from gramlearn._base.ahead import at_once, made_ahead


@pytest.mark.parametrize("n_ahead", [1, 3, 20])
def test_results_in_order(n_ahead: int) -> None:
    begun = []
    lock = threading.Lock()

    def make(item: int) -> int:
        with lock:
            begun.append(item)
        time.sleep(0.001 * (item % 3))
        return item * item

    taken = 0
    for found in made_ahead(make, range(12), n_ahead):
        assert found == taken * taken
        taken += 1
        with lock:
            assert len(begun) <= taken + n_ahead
    assert taken == 12
    assert sorted(begun) == list(range(12))
    assert list(made_ahead(make, [], n_ahead)) == []


def test_an_error_comes_in_its_turn() -> None:
    results = made_ahead(lambda item: 1 // (2 - item), range(4), 2)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_memory_and_cores_limit_how_many_work_at_once() -> None:
    assert at_once(1e30, 0.5) == 1
    assert 1 <= at_once(1.0, 0.5) <= 16
