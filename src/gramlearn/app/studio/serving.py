"""Points, items and store -> a page that is served until Ctrl-C."""

import errno
import sys
import webbrowser
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn.app.output import say
from gramlearn.app.studio.desk import Desk
from gramlearn.app.studio.exchange import Exchange
from gramlearn.app.studio.guard import is_loopback
from gramlearn.app.studio.items import Items
from gramlearn.app.studio.learning import Learning
from gramlearn.app.studio.server import StudioServer
from gramlearn.app.studio.store import Store
from gramlearn.app.studio.studio import Studio
from gramlearn.files.points import Points

_DEMO_STORE = "studio-demo.db"


def serve(given: Namespace) -> None:
    """Until Ctrl-C, which ends it in a sentence."""
    points, items, store_path = _read(given)
    for note in items.notes:
        say(f"gramlearn: note: {note}")
    if given.check and not Path(store_path).exists():
        print(
            f"{len(items.rows):,} points to ask about; {store_path} is made when the studio starts"
        )
        return
    with ExitStack() as stack:
        store = stack.enter_context(Store.open(store_path, points))
        desk = Desk(store, given.kind, items.rows, given.repeats)
        n = len(desk.asked.answers)
        print(f"{len(items.rows):,} points to ask about, {n:,} answers so far in {store_path}")
        if given.check:
            return
        learning = stack.enter_context(Learning(desk, points.X, items.rows))
        exchange = Exchange(store, points, given.kind)
        studio = Studio(desk, items, learning, exchange, given.judge)
        server = stack.enter_context(_listening(given, studio))
        _tell(given, server)
        try:
            server.serve_forever(poll_interval=0.2)
        except KeyboardInterrupt:
            n = len(desk.asked.answers)
            say(
                f"\nStopped. {n:,} answers are in {store_path}; the same command goes on with them."
            )


def _read(given: Namespace) -> tuple[Points, Items, str]:
    if given.demo:
        for option in ("points", "items"):
            if getattr(given, option) is not None:
                raise ValueError(f"--demo has its own points; leave out --{option}, or --demo.")
        return *_demo(), given.store or _DEMO_STORE
    if given.points is None:
        raise ValueError(
            "pass the points with --points, or --demo to try it on handwritten digits."
        )
    if given.store is None:
        raise ValueError(
            "pass the file for the answers with --store, such as --store judgments.db."
        )
    from gramlearn.app.arguments import read_given_points

    points = read_given_points(given)
    return points, Items.read(points, given.items, given.item_column), given.store


def _demo() -> tuple[Points, Items]:
    """Digits as they come with scikit-learn, and their pictures."""
    from sklearn.datasets import load_digits

    from gramlearn.plots.report.items import as_png, gray_or_colors

    bunch: Any = load_digits()
    X = np.asarray(bunch.data, dtype=np.float32)
    pictures = [as_png(picture) for picture in gray_or_colors(16.0 - bunch.images)]
    return Points(X, source="handwritten digits"), Items.of_pictures(pictures)


def _listening(given: Namespace, studio: Studio) -> StudioServer:
    try:
        return StudioServer(given.host, given.port, studio)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise ValueError(
                f"--port {given.port} is taken, perhaps by another studio; pass another, or none for one that "
                "is free."
            ) from None
        raise ValueError(
            f"--host {given.host} with --port {given.port} cannot be listened on "
            f"({(error.strerror or str(error)).lower()}); pass an address of this machine."
        ) from None


def _tell(given: Namespace, server: StudioServer) -> None:
    if not is_loopback(given.host):
        say(
            f"gramlearn: note: on {given.host} other machines can reach the page, and what is sent is not "
            "encrypted: whoever sees the address below can answer, and read all items."
        )
    print(f"The page is at {server.address_to_open}")
    print("Ctrl-C stops it; answers are kept as they are given.")
    sys.stdout.flush()
    if given.open:
        webbrowser.open(server.address_to_open)
