"""The page of the studio in a browser, as a person sees and uses it: conditions are waited for, never times."""

import time

from tests.browsers import ENTER, forget_logs, set_screen

PATIENCE = 120.0  # seconds that a busy machine may take to do what it does in one


class Page:
    """What stands on the page, and keys that are pressed there."""

    def __init__(self, browser):
        self.browser = browser

    def open(self, address, judge="Ada", **screen):
        """As somebody who was never there; `screen` is that of `set_screen`."""
        set_screen(self.browser, **screen)
        self.browser.get("about:blank")
        forget_logs(self.browser)
        self.browser.get(address)
        self.until("document.getElementById('judge-dialog').open")
        field = self.browser.find_element("id", "judge-field")
        field.clear()
        field.send_keys(judge + ENTER)
        self.until_open()

    def get(self, script, *given):
        """What an expression is."""
        return self.browser.execute_script(f"return {script}", *given)

    def until(self, script, *given):
        """Wait until an expression is true; what it is then."""
        looking = f"""
            const done = arguments[arguments.length - 1], began = performance.now();
            (function look(...given) {{
                const found = (function () {{ return {script}; }}).apply(null, given);
                if (found || performance.now() - began > 5000) done(found);
                else setTimeout(look, 15, ...given);
            }})(...arguments);
        """
        deadline = time.monotonic() + PATIENCE
        while not (found := self.browser.execute_async_script(looking, *given)):
            assert time.monotonic() < deadline, f"waited in vain until {script}; {self.text()}"
        return found

    def until_open(self):
        """Wait for a question that can be answered, or the sentence that there is none."""
        self.until(
            "document.getElementById('view-ask').dataset.open === 'yes' || "
            "document.getElementById('ask-title').textContent === 'No question'"
        )

    def text(self, of="body"):
        """What can be read there."""
        return self.get("document.querySelector(arguments[0]).innerText", of)

    def press(self, keys):
        """Where the focus is."""
        self.browser.switch_to.active_element.send_keys(keys)

    def answer(self, key):
        """By a key, until the next question is there."""
        self.press(key)
        self.until_open()

    def click(self, css):
        self.browser.find_element("css selector", css).click()

    def view(self, name):
        """By the link of the view, with the keyboard."""
        self.browser.find_element("css selector", f"[data-view={name}]").send_keys(ENTER)
        self.until("!document.getElementById(`view-${arguments[0]}`).hidden", name)

    def shown(self):
        """The pictures, or else the words, of the items."""
        return self.get(
            "[...document.querySelectorAll('#ask-items img, #ask-items .item, #ask-items td')]"
            ".map((e) => e.getAttribute('src') ?? e.textContent)"
        )

    def numbers(self):
        """Of the points whose pictures are shown."""
        return [int(address.removeprefix("/items/")) for address in self.shown()]

    def fetch(self, path):
        """What the server tells the page."""
        script = "const done = arguments[1]; fetch(arguments[0]).then((a) => a.json()).then(done)"
        return self.browser.execute_async_script(script, path)

    def focused(self):
        """The element that has the focus, as something that can be compared."""
        return self.get(
            "((e) => e === document.body ? '' : e.id || e.dataset.view || e.dataset.answer || "
            "e.dataset.which || e.dataset.export || `${e.tagName} ${e.textContent.trim()}`)"
            "(document.activeElement)"
        )
