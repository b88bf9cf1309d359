"""The page in a real browser: nothing asked for, nothing run that was given, by mouse and by keyboard."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors
from tests.browsers import (
    DOWN,
    ENTER,
    ESCAPE,
    LEFT,
    RIGHT,
    TAB,
    UP,
    asked_for,
    forget_logs,
    set_screen,
    settle,
)
from tests.plots.reports import CLASSES, TEXTS, content, learned, texts

from gramlearn import MetricLearner, Pairs
from gramlearn.plots import report


@pytest.fixture(scope="module")
def fitted() -> Any:
    return learned()


@pytest.fixture(scope="module")
def path(fitted: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of points whose texts, classes and title bite."""
    learner, X, kind, _, held = fitted
    place = tmp_path_factory.mktemp("report") / "page.html"
    return report(
        learner,
        X,
        held,
        CLASSES[kind],
        path=place,
        items=texts(),
        title="<script>window.bitten = 4</script>",
    )


@pytest.fixture
def page(browser: Any, path: Path) -> Any:
    """Anew, of a screen of usual width, in light."""
    show(browser, path)
    return browser


def show(browser: Any, path: Path, width: int = 1200, scheme: str = "light") -> None:
    set_screen(browser, width, scheme)
    forget_logs(browser)
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    settle(browser)


def press(browser: Any, keys: str, where: str = "map-before") -> None:
    browser.execute_script("document.getElementById(arguments[0]).focus()", where)
    browser.switch_to.active_element.send_keys(keys)


def places(browser: Any, side: str) -> list[int]:
    """The neighbors that are listed, as places among the points."""
    script = "return [...document.querySelectorAll(`#near-${arguments[0]} li`)].map((li) => +li.dataset.place)"
    return list(browser.execute_script(script, side))


def click_point(browser: Any, path: Path, k: int, side: str) -> None:
    """Click where the page draws point k."""
    maps = content(path)["maps"]
    xy = np.frombuffer(base64.b64decode(maps[side]), "<u2").reshape(-1, 2) / 65535
    canvas = browser.find_element("id", f"map-{side}")
    browser.execute_script(
        "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas
    )
    box = browser.execute_script(
        "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width]", canvas
    )
    inner = box[2] - 28
    x, y = box[0] + 14 + xy[k, 0] * inner, box[1] + 14 + (1 - xy[k, 1]) * inner
    for kind in ("mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)


def test_nothing_is_asked_for_and_no_error_is_logged(page: Any) -> None:
    press(page, DOWN + ENTER + ESCAPE)
    assert asked_for(page) == [page.current_url]
    timed = page.execute_script(
        "return performance.getEntriesByType('resource').map((e) => e.name)"
    )
    assert [name for name in timed if not name.startswith("data:")] == []
    assert page.get_log("browser") == []


def test_the_policy_stops_what_would_be_run_or_asked_for(page: Any) -> None:
    found = page.execute_async_script(
        """
        const done = arguments[0], stopped = [];
        document.addEventListener("securitypolicyviolation", (event) => stopped.push(event.effectiveDirective));
        const script = document.createElement("script");
        script.textContent = "window.bitten = 5";
        const image = document.createElement("img");
        image.src = "http://127.0.0.1:9/image.png";
        document.body.append(script, image);
        setTimeout(() => done([stopped, window.bitten === undefined]), 200);
        """
    )
    assert sorted(found[0]) == ["img-src", "script-src-elem"]
    assert found[1]


def test_texts_that_bite_are_shown_as_texts(page: Any) -> None:
    for k in range(len(TEXTS)):
        press(page, "n" * (k + 1) + ENTER if k == 0 else "n" + ENTER)
        shown = page.execute_script(
            "return document.querySelector('#picked .chosen .item:not(.name)').textContent"
        )
        expected = content_text(k)
        assert shown == expected
    assert page.execute_script("return window.bitten") is None
    assert page.execute_script("return document.scripts.length") == 2
    assert page.execute_script("return document.images.length") == 0
    assert "</script><b>odd" in page.find_element("css selector", "#maps .legend").text
    assert page.title == "<script>window.bitten = 4</script>"
    # Whatever direction a text is written in, it does not turn what stands around it.
    ways = page.execute_script(
        "return [...document.querySelectorAll('.item')].map((e) => getComputedStyle(e).unicodeBidi)"
    )
    assert set(ways) == {"isolate"}


def content_text(k: int) -> str:
    if k == 6:
        return "m" * 2000 + " … (1,046,576 more letters)"
    return TEXTS[k].replace("\ud83d", "?")


def test_a_click_lists_the_nearest_before_and_after(page: Any, path: Path, fitted: Any) -> None:
    learner, X, *_ = fitted
    both = {"before": X, "after": learner.transform(X)}
    expected = {
        side: NearestNeighbors(n_neighbors=10).fit(points).kneighbors(return_distance=False)
        for side, points in both.items()
    }
    for side in both:
        # Points that nothing lies on top of, in the plane that is clicked.
        maps = content(path)["maps"]
        xy = np.frombuffer(base64.b64decode(maps[side]), "<u2").reshape(-1, 2).astype(float)
        gaps = np.linalg.norm(xy[:, None] - xy, axis=2) + np.diag(np.full(len(xy), np.inf))
        for k in np.argsort(-gaps.min(axis=1))[:4]:
            click_point(page, path, int(k), side)
            for which in both:
                assert places(page, which) == expected[which][k].tolist()
    listed = page.execute_script(
        "return [...document.querySelectorAll('#near-after .item')].map((e) => e.textContent)"
    )
    assert listed == [content(path)["items"]["texts"][m] for m in places(page, "after")]


def test_the_keyboard_does_all_that_the_mouse_does(page: Any) -> None:
    order = []
    page.execute_script("document.body.tabIndex = -1; document.body.focus()")
    for _ in range(6):
        page.switch_to.active_element.send_keys(TAB)
        order.append(
            page.execute_script(
                "const e = document.activeElement; return e.id || e.className || e.type"
            )
        )
    assert order == ["skip", "map-before", "map-after", "find", "submit", "wide"]

    def spoken() -> str:
        return str(page.execute_script("return document.getElementById('spoken').textContent"))

    press(page, DOWN)
    first = spoken()
    press(page, RIGHT)
    assert first.startswith("point ")
    assert spoken() != first
    press(page, ENTER)
    assert len(places(page, "before")) == len(places(page, "after")) == 10
    assert "Nearest before: point " in spoken()
    press(page, ESCAPE)
    assert places(page, "before") == []
    press(page, "item 12" + ENTER, "find")
    assert "point 12" in page.find_element("css selector", "#picked .chosen").text
    press(page, "nowhere to be found" + ENTER, "find")
    assert spoken() == "Nothing found."
    page.execute_script("document.querySelector('#statements .card button').focus()")
    page.switch_to.active_element.send_keys(ENTER)
    assert spoken().startswith("Marked on both maps: point ")
    assert page.switch_to.active_element.get_attribute("id") == "map-after"


def test_an_arrow_moves_that_way_unless_nothing_lies_there(page: Any, path: Path) -> None:
    maps = content(path)["maps"]
    xy = np.frombuffer(base64.b64decode(maps["after"]), "<u2").reshape(-1, 2).astype(float)

    def now() -> int:
        text = page.execute_script("return document.getElementById('spoken').textContent")
        return int(text.split(",")[0].removeprefix("point "))

    press(page, RIGHT, "map-after")  # to one in the middle
    n_moves = 0
    for key, way in [(LEFT, (-1, 0)), (DOWN, (0, -1)), (RIGHT, (1, 0)), (UP, (0, 1))] * 3:
        start = now()
        press(page, key, "map-after")
        along = (xy - xy[start]) @ way
        across = np.abs((xy - xy[start]) @ way[::-1])
        lies_there = (along > 0) & (across <= 1.001 * along)
        assert (
            lies_there[now()]
            if now() != start
            else not (lies_there & (across < 0.99 * along)).any()
        )
        n_moves += now() != start
    assert n_moves > 6


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_it_fits_phones_and_screens_in_light_and_dark(
    browser: Any, path: Path, width: int, scheme: str
) -> None:
    show(browser, path, width, scheme)
    press(browser, "n" * 7 + ENTER)  # whose text is a megabyte long, of one word
    settle(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    ground, ink = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color].map("
        "(c) => c.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + +part, 0))"
    )
    assert (ground < ink) == (scheme == "dark")
    empty = browser.execute_script(
        "return [...document.querySelectorAll('figure svg')].filter((svg) => !svg.childElementCount).length"
    )
    assert empty == 0


def test_on_paper_it_is_light_and_unfolded(browser: Any, path: Path) -> None:
    show(browser, path, scheme="dark")
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    assert browser.execute_script(
        "return [...document.querySelectorAll('details')].every((d) => d.open)"
    )
    browser.execute_script("window.dispatchEvent(new Event('afterprint'))")
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("colors", [(), (3,), (4,)], ids=["gray", "colors", "with opacity"])
def test_pictures_are_shown(
    colors: tuple[int, ...], browser: Any, fitted: Any, tmp_path: Path
) -> None:
    learner, X, *_ = fitted
    shape = (len(X), 6, 9, *colors)
    pictures = np.random.default_rng(0).integers(0, 256, size=shape).astype(np.uint8)
    show(browser, report(learner, X, path=tmp_path / "page.html", items=pictures))
    press(browser, "n" + ENTER)
    settle(browser)
    sizes = browser.execute_script(
        "return Promise.all([...document.querySelectorAll('#picked img')].map((image) => image.decode()"
        ".then(() => [image.naturalWidth, image.naturalHeight])))"
    )
    assert sizes == [[9, 6]] * 21
    assert browser.get_log("browser") == []


def test_a_share_of_the_prior_stands_beside_the_certificate_and_in_the_table(
    browser: Any, fitted: Any, tmp_path: Path
) -> None:
    X = fitted[1]
    alike = [[k, k + 3] for k in range(80)]
    learner = MetricLearner(random_state=0).fit(X, side=Pairs(alike, n_points=len(X)))
    assert learner.prior_share_ == 0.25
    show(browser, report(learner, X, path=tmp_path / "page.html"))
    words = browser.execute_script("return document.getElementById('certificate').innerText")
    assert "The metric is this answer mixed with a quarter of the prior" in words
    heads, shares = browser.execute_script(
        "const cells = (name) => [...document.querySelectorAll(`#trials ${name}`)];"
        "return [cells('th').map((cell) => cell.innerText),"
        " cells('tbody tr').map((row) => row.children[4].innerText)]"
    )
    assert heads[4].lower() == "prior's share"
    assert set(shares) == {"25 %", "–"}
    assert browser.get_log("browser") == []
