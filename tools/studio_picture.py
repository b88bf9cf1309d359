"""docs/images/studio.png: the studio after some answers about digits, as Debian's chromium shows it.

    python -m tools.studio_picture

Ask on a phone, and See beside it; both are pages of one server that answers were given to.
"""

import base64
import json
import re
import subprocess
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

from sklearn.datasets import load_digits

from tools.report_picture import open_browser, with_few_colors

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "studio.png"
_ANSWERS = 300
_PHONE, _SCREEN, _HEIGHT = 390, 1000, 900
_MAIN = "import sys; from gramlearn.app.command import main; sys.exit(main())"
_PATIENCE = 300.0  # seconds


def main() -> None:
    """Answer, and take the picture."""
    with tempfile.TemporaryDirectory() as folder:
        line = [sys.executable, "-c", _MAIN, "studio", "--demo", "--judge", "Ada"]
        studio = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, cwd=folder)
        try:
            assert studio.stdout is not None
            address = next(text.split()[-1] for text in studio.stdout if "token=" in text)
            answer(address)
            PICTURE.write_bytes(with_few_colors(take_pictures(address)))
        finally:
            studio.kill()
            studio.wait()
    print(f"Picture: {PICTURE}")


def answer(address: str) -> None:
    """As somebody who looks whether both are even or both are odd, which the plain distance hardly tells."""
    own, token = address.split("?token=")
    digits = load_digits().target

    def ask(path: str, said: dict[str, Any] | None = None) -> Any:
        head = {"X-Token": token, "Content-Type": "application/json"}
        body = None if said is None else json.dumps({"judge": "Ada", **said}).encode()
        with urlopen(Request(f"{own}api/{path}", body, head)) as reply:
            return json.load(reply)

    question = ask("next", {})
    for k in range(_ANSWERS):
        first, second = (digits[item["number"]] for item in question["items"])
        said = "alike" if first % 2 == second % 2 else "unlike"
        event = {"event": str(uuid4()), "question": question["question"], "answer": said}
        question = ask("answer", event)["next"]
        if k % 10 == 9:  # a person takes longer, and what is learned meanwhile chooses what follows
            time.sleep(1.0)


def take_pictures(address: str) -> bytes:
    """Both, side by side."""
    from PIL import Image

    with open_browser() as browser:
        ask = take(browser, address, "ask", _PHONE)
        see = take(browser, address, "see", _SCREEN)
    both = Image.new("RGB", (_PHONE + _SCREEN + 1, _HEIGHT), (217, 221, 227))
    both.paste(Image.open(BytesIO(ask)), (0, 0))
    both.paste(Image.open(BytesIO(see)), (_PHONE + 1, 0))
    written = BytesIO()
    both.save(written, "PNG")
    return written.getvalue()


def take(browser: Any, address: str, view: str, width: int) -> bytes:
    """One of the views, once all of it is there."""
    screen = {"width": width, "height": _HEIGHT, "deviceScaleFactor": 1, "mobile": width == _PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    browser.get(address)
    if browser.execute_script("return localStorage.getItem('studio judge')") is None:
        browser.execute_script("localStorage.setItem('studio judge', 'Ada')")
        browser.get(address)
    browser.get(re.sub(r"\?.*", f"#{view}", address))
    ready = {
        "ask": "document.getElementById('view-ask').dataset.open === 'yes'",
        "see": "document.querySelector('#see-scores svg circle') && "
        "document.querySelector('.one-map .tools > label + label:not([hidden])')",
    }[view]
    deadline = time.monotonic() + _PATIENCE
    while not browser.execute_script(f"return {ready}"):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{view} does not show what was learned")
        time.sleep(0.1)
    browser.execute_script("document.activeElement.blur()")
    browser.execute_async_script(
        "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
    )
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {})
    return base64.b64decode(taken["data"])


if __name__ == "__main__":
    main()
