"""A warning points at the line of the user that called the library."""

import pytest

from gramlearn._base.warnings import warn


def call_through(*modules: str) -> None:
    """Call `warn` through one function in each of these modules, the first of which is called from here."""
    function = warn
    for name in reversed(modules):
        inside = {"__name__": name, "call": function}
        exec("def outer(message): call(message)", inside)
        function = inside["outer"]
    function("look here")


@pytest.mark.parametrize("modules", [(), ("gramlearn.problem",), ("sklearn.base", "gramlearn")])
def test_the_warning_points_at_the_caller_of_the_library(modules: tuple[str, ...]) -> None:
    with pytest.warns(UserWarning, match="look here") as caught:
        call_through(*modules)
    assert [warning.filename for warning in caught] == [__file__]
