"""Answers that were confirmed are on the disk, each once, and those that stand are those of a plain list."""

import hypothesis
import numpy as np
from hypothesis import strategies as st

from gramlearn.app.studio.store import Store
from gramlearn.files.points import Points

POINTS = Points(np.arange(24.0).reshape(12, 2), ids=[f"id {k}" for k in range(12)], source="p.csv")
ANSWERS = {
    "pair": ("alike", "unlike", "unsure"),
    "triplet": ("second", "third", "unsure"),
    "odd": ("first", "second", "third", "unsure"),
}


def open_store(folder):
    return Store.open(folder / "judgments.db", POINTS)


@st.composite
def an_answer(draw):
    kind = draw(st.sampled_from(sorted(ANSWERS)))
    n = 2 if kind == "pair" else 3
    items = draw(st.permutations(range(12)))[:n]
    return kind, tuple(items), draw(st.sampled_from(ANSWERS[kind])), draw(st.booleans())


JUDGES = st.sampled_from(["Ada", "Bo", ""])
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), JUDGES, an_answer()),
        st.tuples(st.just("undo"), JUDGES, st.none()),
        st.tuples(st.just("change"), JUDGES, an_answer(), st.integers(0, 11)),
        st.tuples(st.just("again"), JUDGES, st.integers(0, 11)),
        st.tuples(st.just("reopen"), JUDGES),
    ),
    max_size=12,
)


class Model:
    """What stands, as a list that answers are appended to and removed from."""

    def __init__(self):
        self.seq, self.stand = 0, []

    def answer(self, judge, what, of=None):
        self.seq += 1
        self.stand = [one for one in self.stand if one[0] != of] + [(self.seq, judge, *what)]

    def undo(self, judge):
        self.seq += 1
        own = [one for one in self.stand if one[1] == judge]
        self.stand = [one for one in self.stand if one not in own[-1:]]
        return own[-1] if own else None


def plain(answer):
    if answer is None:
        return None
    return (answer.seq, answer.judge, answer.kind, answer.items, answer.answer, answer.random)


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(EVENTS)
def test_what_stands_is_what_stands_in_a_list(tmp_path_factory, events):
    folder = tmp_path_factory.mktemp("store")
    store, model, done = open_store(folder), Model(), []
    for k, (what, judge, *rest) in enumerate(events):
        if what == "reopen":
            store.close()
            store = open_store(folder)
            continue
        if what == "again":
            if done:
                call, found = done[rest[0] % len(done)]
                assert call(store) == found
            continue
        of = None
        if what == "change":
            if not model.stand:
                continue
            of = model.stand[rest[1] % len(model.stand)][0]
        if what == "undo":

            def call(store, k=k, judge=judge):
                return plain(store.undo(f"event {k}", judge))

            found = model.undo(judge)
        else:

            def call(store, k=k, judge=judge, said=rest[0], of=of):
                return store.answer(f"event {k}", f"question {k}", judge, *said, of=of)

            model.answer(judge, rest[0], of)
            found = model.seq
        assert call(store) == found
        done.append((call, found))
        assert store.last_seq == model.seq
        assert [plain(answer) for answer in store.answers()] == model.stand
    with store, open_store(folder) as another:
        assert another.answers() == store.answers()
