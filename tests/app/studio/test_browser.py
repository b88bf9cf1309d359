"""A person's whole way in a real browser: ask, undo, see, export, reload, and a server that is stopped."""

import time

import numpy as np
from sklearn.datasets import load_digits
from tests.app.studio.command import Command
from tests.app.studio.pages import PATIENCE, Page
from tests.browsers import BACKSPACE, ENTER, LEFT, RIGHT, asked_for

from gramlearn.app.studio.store import Store
from gramlearn.files import read_judgments
from gramlearn.files.points import Points

DIGITS = load_digits()
POINTS = Points(np.asarray(DIGITS.data, dtype=np.float32), source="handwritten digits")


def are_alike(numbers):
    """To somebody who looks whether both are even; so half of the pairs are alike."""
    return len({DIGITS.target[number] % 2 for number in numbers}) == 1


def judged(page):
    """The key of the right answer."""
    return RIGHT if are_alike(page.numbers()) else LEFT


def number(page):
    return int(page.text("#ask-number").split()[-1])


def drawn(page):
    return page.get("document.getElementById('map').toDataURL()")


def until_drawn_otherwise(page, before):
    page.until("document.getElementById('map').toDataURL() !== arguments[0]", before)


def see_the_map(page):
    """Once there are a map and a score."""
    page.view("see")
    page.until("document.querySelector('#see-scores svg circle')")
    page.until("document.getElementById('map')?.dataset.version")
    return page.fetch("/api/map")


def test_a_persons_whole_way(browser, tmp_path):
    page, store = Page(browser), tmp_path / "answers.db"
    words = ("--demo", "--store", store)
    with Command(*words, folder=tmp_path) as studio:
        own = f"http://127.0.0.1:{studio.port}/"
        page.open(studio.address, "Ada")
        assert studio.address.split("token=")[1] not in browser.current_url

        # Thirty answers by keyboard, of which two are taken back, each by another key.
        for k in range(30):
            shown = page.shown()
            page.answer(judged(page))
            assert page.shown() != shown
            if k in (9, 19):
                page.answer("u" if k == 9 else BACKSPACE)
                assert page.shown() == shown  # the question comes again
                assert page.text("#ask-saved").startswith("Taken back: ")
        given = 28
        assert number(page) == given + 1
        assert page.fetch("/api/state")["n_answers"] == given

        # A score needs some random questions, of which there may be too few yet.
        while page.fetch("/api/state")["n_random"] < 5:
            page.answer(judged(page))
            given += 1
        first = see_the_map(page)
        assert "random questions the learned distance foretells" in page.text("#see-words")
        assert "Learned " in page.text("#see-scores")
        assert first["before"] != first["now"]
        now = drawn(page)
        page.click("#map-before")
        until_drawn_otherwise(page, now)
        page.click("#map-now")

        # With more answers the map moves.
        page.view("ask")
        page.until_open()
        for _ in range(5):
            page.answer(judged(page))
            given += 1
        page.view("see")
        page.until(
            "+document.getElementById('map').dataset.version > arguments[0]", first["version"]
        )
        assert page.fetch("/api/map")["now"] != first["now"]

        # What is exported are the answers that stand.
        page.view("mend")
        page.until("document.querySelectorAll('.card').length")
        allowed = {"behavior": "allow", "downloadPath": str(tmp_path)}
        browser.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        browser.find_element("css selector", "[data-export=csv]").send_keys(ENTER)
        page.until("document.getElementById('files-said').textContent.startsWith('Written to ')")
        exported = until_there(tmp_path / "judgments.csv")
        assert read_judgments(exported, POINTS).side.size == given

        # A reload of the page changes nothing.
        browser.refresh()
        page.view("ask")
        page.until_open()
        assert page.text("#judge") == "Judge: Ada"
        assert number(page) == given + 1

        # The server is stopped: what is said meanwhile is kept by the page.
        code, said = studio.stop()
        assert (code, f"{given} answers are in" in said) == (0, True)
        page.press(judged(page))
        page.until("!document.getElementById('trouble').hidden")
        assert "is not saved yet, and is kept here" in page.text("#trouble")
    with Command(*words, "--port", studio.port, folder=tmp_path) as studio:
        assert f"{given} answers so far" in "".join(studio.lines)
        page.until("document.getElementById('trouble').innerText.includes('Open the address')")
        browser.get(studio.address)
        page.until_open()
        given += 1
        assert page.text("#ask-saved") == "What was not saved before is saved now."
        assert number(page) == given + 1
        page.view("mend")
        shown = min(given, 50)  # at a time
        page.until("document.querySelectorAll('.card').length === arguments[0]", shown)
        assert all(address.startswith((own, f"blob:{own}")) for address in asked_for(browser))
        assert studio.stop()[0] == 0
    with Store.open(store, POINTS) as opened:
        answers = opened.answers()
    assert len(answers) == given
    assert {answer.judge for answer in answers} == {"Ada"}
    right = ["alike" if are_alike(answer.items) else "unlike" for answer in answers]
    assert [answer.answer for answer in answers] == right


def until_there(path):
    """A file that the browser writes."""
    deadline = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path
