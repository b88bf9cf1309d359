"""package.name = the name where it lives, loaded when it is first asked for.

So `import gramlearn` costs nothing that is not used, and `gramlearn --help` does not wait for numerical
libraries. A part may have a shorter name, too: `from gramlearn.losses import Hinge` gives what lives in
`gramlearn.problem.losses`.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, final


def load_when_asked(
    package: str, homes: Mapping[str, str], short_names: Mapping[str, str]
) -> Callable[[str], Any]:
    """`__getattr__` of a package: `homes` has the module of each name, `short_names` that of each part."""
    sys.meta_path.append(
        _ShortNames({f"{package}.{name}": home for name, home in short_names.items()})
    )

    def find(name: str) -> Any:
        if name in short_names:
            found: Any = import_module(short_names[name])
        elif name in homes:
            home = import_module(homes[name])
            found = home if homes[name] == f"{package}.{name}" else getattr(home, name)
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, found)
        return found

    return find


@final
class _ShortNames(MetaPathFinder, Loader):
    """Finds a module under another name, and gives the one that there is."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        return ModuleSpec(name, self) if name in self._homes else None

    def exec_module(self, module: ModuleType) -> None:
        # What stands here afterwards is what `import` gives.
        sys.modules[module.__name__] = import_module(self._homes[module.__name__])
