"""The page in a real browser: items, script as text, keys, fingers, screen readers, and all screens."""

import json

import numpy as np
import pytest
from tests.app.studio.pages import Page
from tests.app.studio.serving import Client, NoLearning, serving, some_points
from tests.browsers import DOWN, ENTER, ESCAPE, LEFT, RIGHT, TAB, UP, asked_for, settle

from gramlearn.app.studio.beside.learned import Learned
from gramlearn.app.studio.beside.map import Map
from gramlearn.app.studio.beside.scores import Score
from gramlearn.app.studio.items import Items
from gramlearn.files.points import Points

SCRIPT = "<script>window.bitten = 1</script><img src=x onerror='window.bitten = 2'>"
LONG = "nice colors, but the zip is on the wrong side and the lining thin; " * 9
TEXTS = [SCRIPT, LONG, "x" * 400, "short", "two\nlines", "مناسب", "</textarea>&amp;", "a", "b", "c"]
COLUMNS = {"name": ["kettle", "pot", "pan"], "price": ["19.90", "29.90"], "color": ["red", ""]}
N = 10
CONTRAST = """(() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (color) => parts(color).slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor, alpha = parts(color)[3] ?? 1;
      if (alpha === 1) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement, style = getComputedStyle(element);
    if (!node.textContent.trim() || !element.checkVisibility()) continue;
    if (element.closest(".unseen, .c-mark, script, noscript")) continue;
    const ink = element.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(ink), light(ground(element))].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), node.textContent.trim().slice(0, 40), ink, ground(element)]);
  }
  return found;
})()"""
TO_REACH = """[...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')]
  .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)
  .filter((e) => e.type !== 'radio' || e.checked)
  .map((e) => (e.dataset.number ??= String(document.querySelectorAll('[data-number]').length)))"""


def texts(folder):
    points = Points(some_points(N).X, [f"{SCRIPT}{k}" for k in range(N)], items=TEXTS)
    return points, Items.read(points, None)


def table(folder):
    rows = [[f"p{k}", *(of[k % len(of)] for of in COLUMNS.values())] for k in range(N)]
    lines = [",".join(row) for row in (["id", *COLUMNS], *rows)]
    (folder / "items.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    points = Points(some_points(N).X, [row[0] for row in rows])
    return points, Items.read(points, str(folder / "items.csv"))


def pictures(folder):
    from gramlearn.plots.report.items import as_png

    shades = np.random.default_rng(0).integers(0, 256, size=(N, 8, 12), dtype=np.uint8)
    return some_points(N), Items.of_pictures([as_png(picture) for picture in shades])


def made_up(suspects):
    """Something learned, of which all is drawn."""
    rng = np.random.default_rng(0)
    lines = np.array([[0, 1, 1], [2, 3, 0], [4, 5, 1]])
    where = Map(np.arange(N), rng.normal(size=(N, 2)), rng.normal(size=(N, 2)), lines)
    scores = [Score(n, n // 5, 0.6 + n / 100, 0.55, 1 / n) for n in (10, 20, 30)]
    return Learned("It goes well.", "More do not help.", scores, 30, 0.1, where, suspects, 1)


@pytest.fixture
def page(browser):
    return Page(browser)


# -- what is shown ------------------------------------------------------------------------------------


def test_script_is_shown_as_text_wherever_items_and_names_are(page, tmp_path):
    points, items = texts(tmp_path)
    learning = NoLearning()
    with serving(tmp_path / "a.db", points, items, repeats=2, learning=learning) as server:
        for judge, answer in (("<b>Bo</b>", "alike"), ("Cy", "unlike")):
            client = Client.of(server, judge)
            asked = client.next()
            while "none" not in asked:
                asked = client.answer(asked, answer)["next"]
            client.close()
        client = Client.of(server, "Ada")
        page.open(server.address_to_open, SCRIPT[:30])
        assert page.text("#judge") == f"Judge: {SCRIPT[:30]}"
        assert "no more questions" in page.text("#ask-items")
        page.view("mend")
        page.until("document.querySelectorAll('.card').length")
        page.click("[data-which=disagreements]")
        page.until(
            "document.querySelector('#mend-note').textContent.startsWith('Questions to which')"
        )
        shown = page.get("[...document.querySelectorAll('.card .item')].map((e) => e.textContent)")
        assert set(TEXTS) == set(shown)
        assert "<b>Bo</b>" in page.text("#mend-list")
        learning.learned = made_up([1])
        page.view("see")
        page.until("document.getElementById('map')?.dataset.version")
        assert "<b>Bo</b>: 45, Cy: 45" in page.text("#see-counts")
        assert "0 % of 45 questions" in page.text("#see-counts")
        page.get("document.getElementById('map').focus()")
        page.press("\ue011")  # Home: the first point, whose text bites
        page.until("!document.querySelector('.tip').hidden")
        assert page.text(".tip") == SCRIPT
        assert page.get("window.bitten === undefined && document.images.length === 0")
        client.close()
    assert [
        entry for entry in page.browser.get_log("browser") if "Security" in entry["message"]
    ] == []


def test_differences_of_rows_are_marked_for_eyes_and_for_ears(page, tmp_path):
    points, items = table(tmp_path)
    with serving(tmp_path / "a.db", points, items, kind="triplet", seed=0) as server:
        page.open(server.address_to_open)
        rows = page.get(
            "[...document.querySelectorAll('.compare tbody tr')].map((row) => [...row.querySelectorAll('td')]"
            ".map((cell) => [cell.querySelector('bdi')?.textContent ?? '', cell.className, "
            "cell.textContent.includes('(differs)')]))"
        )
        assert len(rows) == len(COLUMNS)
        differ = 0
        for (first, *_), *others in rows:
            for value, name, is_said in others:
                assert (value != first) == (name == "differs") == is_said
                differ += is_said
        assert 0 < differ < 6


@pytest.mark.parametrize(
    ("n", "kind", "says"),
    [
        (2, "triplet", "A question needs 3 points that can be shown, and there are 2"),
        (2, "pair", "There are no more questions: all 1 about these 2 points have been answered"),
    ],
)
def test_where_there_is_no_question_a_sentence_says_why(page, tmp_path, n, kind, says):
    with serving(tmp_path / "a.db", some_points(n), kind=kind) as server:
        page.open(server.address_to_open)
        if kind == "pair":
            page.answer(UP)
        assert says in page.text("#ask-items")
        page.view("see")  # of vectors alone, too
        page.until("document.querySelector('#see-words').innerText.includes('has vectors alone')")


# -- fingers, keys and ears ---------------------------------------------------------------------------


def swipe(page, to):
    """From the middle of the items."""
    x, y = page.get(
        "(({ x, y, width, height }) => [x + width / 2, y + height / 2])"
        "(document.getElementById('ask-items').getBoundingClientRect())"
    )
    for kind, places in (("Start", [x]), ("Move", [(x + to) / 2]), ("Move", [to]), ("End", [])):
        points = [{"x": place, "y": y} for place in places]
        event = {"type": f"touch{kind}", "touchPoints": points}
        page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)


def test_fingers_swipe_and_tap(page, tmp_path):
    points, items = pictures(tmp_path)
    with serving(tmp_path / "a.db", points, items, kind="triplet") as server:
        page.open(server.address_to_open, width=390, height=760, touch=True)
        assert page.get("getComputedStyle(document.querySelector('#undo kbd')).display") == "none"
        said = []
        # Taps are clicks here: of those that are emulated, some never become one, on any page.
        for act in (
            lambda: swipe(page, 20),
            lambda: swipe(page, 370),
            lambda: page.click("[data-answer=unsure]"),
            lambda: page.click("figure[data-place='1']"),
            lambda: page.click("figure[data-place='2']"),
        ):
            act()
            page.until(
                "document.getElementById('ask-number').textContent.endsWith(arguments[0])",
                str(len(said) + 2),
            )
            page.until_open()
            said.append(page.text("#ask-saved"))
        names = ("second", "third", "unsure", "second", "third")
        assert said == [f"Saved: {name}." for name in names]


def test_a_key_answers_once_and_only_what_was_seen(page, tmp_path):
    with serving(tmp_path / "a.db", kind="odd") as server:
        page.open(server.address_to_open)
        for key, name in (
            (LEFT, "first"),
            (DOWN, "second"),
            (RIGHT, "third"),
            (UP, "unsure"),
            ("2", "second"),
        ):
            page.press(key * 3)  # two of them before the next question can have been seen
            page.until_open()
            assert page.text("#ask-saved") == f"Saved: {name}."
        assert page.fetch("/api/state")["n_answers"] == 5
        page.press("?")
        assert page.get("document.getElementById('help-dialog').open")
        page.press(LEFT + ESCAPE)
        assert not page.get("document.getElementById('help-dialog').open")
        page.click("#help")
        page.click("#by-keys")
        page.press(ESCAPE)
        page.press(LEFT + RIGHT + "u")
        settle(page.browser)
        assert page.fetch("/api/state")["n_answers"] == 5  # single keys were switched off
        page.browser.find_element("css selector", "[data-answer=third]").send_keys(ENTER)
        page.until("document.getElementById('ask-saved').textContent === 'Saved: third.'")


def test_an_answer_outlives_a_lost_connection(page, tmp_path):
    with serving(tmp_path / "a.db") as server:
        page.open(server.address_to_open)
        network = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        page.browser.execute_cdp_cmd(
            "Network.emulateNetworkConditions", {"offline": True, **network}
        )
        page.press(RIGHT)
        page.until("document.getElementById('trouble').textContent.includes('is kept here')")
        page.browser.execute_cdp_cmd(
            "Network.emulateNetworkConditions", {"offline": False, **network}
        )
        page.until("document.getElementById('ask-saved').textContent === 'Saved: alike.'")
        assert page.get("document.getElementById('trouble').hidden")
        page.until_open()
        assert page.fetch("/api/state")["n_answers"] == 1


def test_the_keyboard_alone_reaches_everything_and_sees_where_it_is(page, tmp_path):
    learning = NoLearning()
    points, items = table(tmp_path)
    with serving(tmp_path / "a.db", points, items, learning=learning) as server:
        page.open(server.address_to_open)
        page.answer(RIGHT)
        learning.learned = made_up([1])
        for name in ("ask", "see", "mend"):
            page.view(name)
            ready = {
                "ask": "true",
                "see": "document.getElementById('map')?.dataset.version",
                "mend": "document.querySelector('.card')",
            }
            page.until(ready[name])
            settle(page.browser)
            left = set(page.get(TO_REACH))
            page.get("(document.body.tabIndex = -1, document.body.focus())")
            for _ in range(3 * len(left)):
                page.press(TAB)
                number, style, wide = page.get(
                    "((e) => [e.dataset.number, getComputedStyle(e).outlineStyle, "
                    "parseFloat(getComputedStyle(e).outlineWidth)])(document.activeElement)"
                )
                if number is not None:
                    assert (style, wide) == ("solid", 3), page.focused()
                    left.discard(number)
                if not left:
                    break
            assert not left, [
                page.get(f"document.querySelector('[data-number=\"{k}\"]').outerHTML") for k in left
            ]
        for name, button in (("judge", "#judge"), ("help", "#help")):
            page.view("ask")
            page.until_open()
            page.browser.find_element("css selector", button).send_keys(ENTER)
            assert page.get("document.getElementById(arguments[0]).open", f"{name}-dialog")
            page.press(ESCAPE)
            assert not page.get("document.getElementById(arguments[0]).open", f"{name}-dialog")
            assert page.focused() == name


def test_a_screen_reader_is_told_what_is_asked_and_what_each_part_is(page, tmp_path):
    points, items = pictures(tmp_path)
    learning = NoLearning()
    with serving(tmp_path / "a.db", points, items, learning=learning) as server:
        page.open(server.address_to_open)
        a, b = page.numbers()
        spoken = "document.getElementById('spoken')"
        assert page.get(f"{spoken}.ariaLive") == "polite"
        assert (
            page.get(f"{spoken}.textContent").strip()
            == f"Alike? one: picture {a}; the other: picture {b}"
        )
        page.answer(LEFT)
        assert page.get(f"{spoken}.textContent").startswith("Saved: unlike. Alike? one: picture ")
        learning.learned = made_up([1])
        for name in ("ask", "see", "mend"):
            page.view(name)
            if name == "see":
                page.until("document.getElementById('map')?.dataset.version")
            assert page.focused() == f"{name}-title"
            settle(page.browser)
            tree = page.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            named = (
                "button",
                "link",
                "textbox",
                "checkbox",
                "radio",
                "image",
                "img",
                "application",
                "combobox",
                "region",
            )
            parts = [
                node
                for node in tree
                if node.get("role", {}).get("value") in named and not node["ignored"]
            ]
            assert len(parts) > 8
            assert [node["role"] for node in parts if not node["name"]["value"].strip()] == []
            headings = [
                node["name"]["value"]
                for node in tree
                if node.get("role", {}).get("value") == "heading"
            ]
            assert headings[0] == "gramlearn studio"
            assert page.get("document.documentElement.lang") == "en"


# -- screens ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("things", "kind"), [(texts, "triplet"), (table, "odd"), (pictures, "pair")]
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_all_and_every_word_can_be_read(page, tmp_path, things, kind, scheme):
    points, items = things(tmp_path)
    learning = NoLearning()
    with serving(
        tmp_path / "a.db", points, items, kind=kind, learning=learning, repeats=2
    ) as server:
        page.open(
            server.address_to_open, "W" * 80, width=390, height=760, scheme=scheme, touch=True
        )
        for _ in range(3):
            page.answer(UP)
        learning.learned = made_up([1, 2])
        for name in ("ask", "see", "mend"):
            page.view(name)
            if name == "see":
                page.until("document.getElementById('map')?.dataset.version")
            if name == "mend":
                page.until("document.querySelectorAll('.card').length === 3")
            settle(page.browser)
            assert page.get("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
            read = page.get(CONTRAST)
            assert len(read) > 10
            assert [found for found in read if found[0] < 4.5] == []
            if name == "ask":
                # The answers are on the screen, and large enough for a thumb.
                boxes = page.get(
                    "[...document.querySelectorAll('#ask-answers button')]"
                    ".map((b) => b.getBoundingClientRect()).map((b) => [b.left, b.right, b.top, b.bottom])"
                )
                for left, right, top, bottom in boxes:
                    assert 0 <= left < right <= 390
                    assert 0 <= top < bottom <= 760
                    assert min(right - left, bottom - top) >= 44
        ground = page.get("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 128")
        assert ground == (scheme == "dark")
        own = f"http://127.0.0.1:{server.server_port}/"
        assert all(address.startswith(own) for address in asked_for(page.browser))
        assert json.dumps(page.browser.get_log("browser")) == "[]"
