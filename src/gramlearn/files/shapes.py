"""Names of columns -> a shape: which column holds the first item, which the second, and which the judgment."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from gramlearn.files.columns import find_column, named_column, plain
from gramlearn.files.formats.table import Table, listed, shown
from gramlearn.files.words import ALIKE, NEITHER, UNLIKE, are_scores, read_words
from gramlearn.sources.errors import FileError

_JUDGMENT = (
    *(
        "alike",
        "same",
        "issame",
        "similar",
        "issimilar",
        "match",
        "ismatch",
        "judgment",
        "judgement",
    ),
    *(
        "label",
        "goldlabel",
        "answer",
        "verdict",
        "choice",
        "link",
        "linktype",
        "type",
        "constraint",
    ),
    *("relation", "duplicate", "isduplicate"),
)
_SCORE = ("score", "similarity", "similarityscore", "sim", "rating", "grade", "relevance")

# Role of a column -> the names by which it is found, without spaces, hyphens and underscores.
ROLES: Mapping[str, tuple[str, ...]] = {
    "first": ("first", "id1", "a", "i", "ida", "text1", "sentence1", "premise", "one"),
    "second": ("second", "id2", "b", "j", "idb", "text2", "sentence2", "hypothesis", "two"),
    "third": ("third", "id3", "c", "k", "idc", "text3", "sentence3", "three"),
    "odd": ("odd", "oddoneout", "oddone", "outlier"),
    "alike": (*_JUDGMENT, *_SCORE),
    "score": (*_SCORE, *_JUDGMENT),
    "anchor": ("anchor", "anchorid", "query", "queryid"),
    "positive": ("positive", "pos", "positiveid"),
    "negative": ("negative", "neg", "negativeid", "hardnegative"),
    "query": ("query", "queryid", "qid", "topic", "topicid"),
    "chosen": ("chosen", "clicked", "click", "selected", "picked", "accepted"),
    "passedover": ("passedover", "skipped", "notclicked", "notchosen", "unclicked", "rejected"),
    "document": ("document", "documentid", "corpusid", "doc", "docid", "docno", "passage", "pid"),
    "relevance": ("relevance", "rel", "qrel", "score", "grade", "label"),
    "upper": ("upper", "upperbound"),
    "lower": ("lower", "lowerbound"),
    "weight": ("weight", "weights"),
}
_SIDES = (("left", "right"), ("source", "target"), ("from", "to"), ("first", "second"))
_NUMBERED = re.compile(r"(.+?)[\s_\-]?([123])")
_LETTERED = re.compile(r"(.+?)(?:[\s_\-]([abc])|(?<=[a-z])([ABC]))")
_SEVERAL = re.compile(r"(negative|neg|hardnegative|passedover|skipped|rejected)\d+")


@final
@dataclass(frozen=True)
class Shape:
    """What a row says, by the roles of its columns; of `either` it needs one, and may have the optional."""

    name: str
    roles: tuple[str, ...]
    either: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Such as "(first, second, alike)"."""
        either = (" or ".join(self.either),) if self.either else ()
        return "(" + ", ".join(spoken(role) for role in (*self.roles, *either)) + ")"


# In this order: a shape that needs more is asked for before one that needs less.
SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("odd", ("first", "second", "odd"), optional=("third",)),
        Shape("clicks", ("query", "chosen", "passedover")),
        Shape("triplets", ("anchor", "positive", "negative")),
        Shape("qrels", ("query", "document", "relevance")),
        Shape("bounds", ("first", "second"), either=("upper", "lower")),
        Shape("pairs", ("first", "second", "alike")),
        Shape("scores", ("first", "second", "score")),
        Shape("similar", ("anchor", "positive")),
    )
}


_BOTH = Shape("similar", ("first", "second"))


@final
@dataclass(frozen=True)
class Found:
    """A shape, and the column of each of its roles.

    `relevance_as` is what relevance becomes, where that was stated. `is_entailment` says that these are
    premises and hypotheses, whose labels are three, and that nobody named these columns otherwise.
    """

    shape: Shape
    column: Mapping[str, str]
    relevance_as: str | None = None
    is_entailment: bool = False

    def as_scores(self) -> "Found":
        """The same columns, and what was read as a judgment or a grade as a score."""
        column = dict(self.column)
        column["score"] = column.pop("relevance" if self.shape.name == "qrels" else "alike")
        return Found(SHAPES["scores"], column)


def spoken(role: str) -> str:
    """The role as people write it."""
    return "passed over" if role == "passedover" else role


def find_shape(table: Table, shape: str | None, columns: Mapping[str, str] | None) -> Found:
    """The shape of a table: the one that was stated, or the first whose columns are there."""
    given = _check_given(table, columns)
    if shape is not None:
        stated = _stated(table, shape)
        found = _columns_of(table, stated, given)
        if isinstance(found, str) and stated.name in ("pairs", "triplets", "scores"):
            graded = _columns_of(table, SHAPES["qrels"], given)
            if not isinstance(graded, str):
                relevant = Found(SHAPES["qrels"], graded, stated.name)
                return relevant.as_scores() if stated.name == "scores" else relevant
        if isinstance(found, str):
            needed = ", ".join(spoken(role) for role in (*stated.roles, *stated.either))
            raise FileError(
                f"{table.source} has no column {spoken(found)!r}, which the shape {stated.name!r} needs; it "
                f"has {listed(table.columns)}; say which is which of {needed} with `columns` "
                f"(--column), such as {spoken(found)}={shown(next(reversed(table.columns)))}."
            )
        return Found(stated, found, is_entailment=_is_entailment(found, given))
    if not table.has_header and not given:
        return _guess_by_cells(table)
    for candidate in SHAPES.values():
        found = _columns_of(table, candidate, given)
        if not isinstance(found, str) and set(given) <= set(found):
            return Found(candidate, found, is_entailment=_is_entailment(found, given))
    if (alone := _two_alone(table, given)) is not None:
        return alone
    raise FileError(_why_none(table))


def _two_alone(table: Table, given: Mapping[str, str]) -> Found | None:
    """Two items in a row, and no word about them: those that are alike."""
    both = _columns_of(table, _BOTH, given)
    if isinstance(both, str) or not set(table.columns) <= set(both.values()):
        return None
    roles = {"first": "anchor", "second": "positive"}
    return Found(SHAPES["similar"], {roles.get(role, role): name for role, name in both.items()})


def find_third(table: Table, found: Found) -> str | None:
    """Of a shape with two items, a column that no role has and that is named as a third item."""
    free = [name for name in table.columns if name not in found.column.values()]
    exact = find_column(free, ROLES["third"])
    if exact is not None or "first" not in found.column:
        return exact
    third, first = _find(free, "third"), found.column["first"]
    # Such as text_3 beside text_1; annotator_3 beside it is no third text.
    is_beside = third is not None and plain(third)[:-1] == plain(first)[:-1]
    return third if is_beside else None


def merge_numbered(table: Table) -> Table:
    """The table with columns such as negative_1, negative_2 as one column of lists."""
    groups: dict[str, list[str]] = {}
    for name in table.columns:
        if (match := _SEVERAL.fullmatch(plain(name))) is not None:
            groups.setdefault(match[1], []).append(name)
    columns = dict(table.columns)
    for stem, names in groups.items():
        if find_column(columns, [stem]) is None:
            cells = zip(*(columns.pop(name) for name in names), strict=True)
            columns[stem] = [list(several) for several in cells]
    return table.with_columns(columns)


def _check_given(table: Table, columns: Mapping[str, str] | None) -> dict[str, str]:
    given = {}
    for role, name in (columns or {}).items():
        if plain(role) not in ROLES:
            known = ", ".join(map(spoken, ROLES))
            raise FileError(f"`columns` has {role!r}, which no column is for; there are {known}.")
        given[plain(role)] = named_column(table, name, f"columns: {role}")
    return given


def _stated(table: Table, shape: str) -> Shape:
    """The shape of that name; some have two."""
    name = plain(shape)
    aliases = {"links": "pairs", "oddoneout": "odd", "similarities": "scores"}
    name = aliases.get(name, name)
    if name not in SHAPES:
        raise FileError(f"the shape {shape!r} is not known; known are {', '.join(SHAPES)}.")
    return SHAPES[name]


def _columns_of(table: Table, shape: Shape, given: Mapping[str, str]) -> dict[str, str] | str:
    """The column of each role, or the role that has none."""
    if not table.has_header and not given:
        return _by_place(table, shape)
    found = {role: name for role, name in given.items() if role in _roles(shape)}
    optional = {*shape.either, *shape.optional, "weight"}
    for role in _roles(shape):
        free = [name for name in table.columns if name not in found.values()]
        if role not in found and (name := _find(free, role)) is not None:
            found[role] = name
    for role in _roles(shape):
        if role not in found and role not in optional:
            return role
    if shape.either and not set(shape.either) & set(found):
        return shape.either[0]
    return found


def _roles(shape: Shape) -> tuple[str, ...]:
    return (*shape.roles, *shape.either, *shape.optional, "weight")


def _find(names: list[str], role: str) -> str | None:
    """By its name, or by what it shares with another: doc_1 and doc_2, itemA and itemB, left and right."""
    found = find_column(names, ROLES[role])
    place = ("first", "second", "third").index(role) if role in ("first", "second", "third") else -1
    if found is not None or place < 0:
        return found
    for name in names:
        match = _NUMBERED.fullmatch(name) or _LETTERED.fullmatch(name)
        if match is not None:
            mark = next(group for group in match.groups()[1:] if group)
            if "1a2b3c".index(mark.lower()) // 2 == place:
                return name
    for side in _SIDES if place < 2 else ():
        starts = [name for name in names if plain(name).startswith(side[place])]
        if starts:
            return starts[0]
    return None


def _by_place(table: Table, shape: Shape) -> dict[str, str] | str:
    """Without a header, roles in their order; one column more is the third item, or a weight."""
    names = list(table.columns)
    roles = list(shape.roles) + list(shape.either)
    if shape.name == "odd" and len(names) == 4:
        roles.insert(2, "third")
    if len(names) == len(roles) + 1:
        roles.append("weight")
    if len(names) < len(shape.roles):
        return roles[len(names)]
    return dict(zip(roles, names, strict=False))


def _is_entailment(found: Mapping[str, str], given: Mapping[str, str]) -> bool:
    names = [plain(found.get(role, "")) for role in ("first", "second")]
    return names == ["premise", "hypothesis"] and "alike" not in given


def _guess_by_cells(table: Table) -> Found:
    """Without a header and a stated shape: pairs, if the third of three columns is 1, 0 or -1 throughout."""
    names = list(table.columns)
    pairs = dict(zip(SHAPES["pairs"].roles, names, strict=False))
    if len(names) == 3 and not are_scores(table.columns[names[2]]):
        said = set(read_words(table.columns[names[2]]).tolist())
        if said <= {ALIKE, UNLIKE, NEITHER}:
            return Found(SHAPES["pairs"], pairs)
    raise FileError(_why_none(table))


def _why_none(table: Table) -> str:
    known = ", ".join(shape.words for shape in SHAPES.values())
    if not table.has_header:
        return (
            f"{table.source} has {len(table.columns):,} columns without names; state the shape with `shape`, "
            f"or begin the file with names: {known}."
        )
    return (
        f"{table.source} has the columns {listed(table.columns)}, which are no judgments that are known: "
        f"{known}; say which column is which with `columns` (--column), such as "
        f"first={shown(next(iter(table.columns)))}; if the first line is no header, put one before it."
    )
