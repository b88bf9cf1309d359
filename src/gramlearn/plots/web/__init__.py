"""What pages share: the look, small parts of a page, finding points on a map.

The scripts are modules. A page in one file cannot import modules, so that they stand in its script without the
word `export`.
"""

import re
from importlib.resources import files


def web_part(name: str) -> str:
    """The text of a file of this folder."""
    return files("gramlearn.plots.web").joinpath(name).read_text(encoding="utf-8")


def as_script(*names: str) -> str:
    """Modules of this folder as the beginning of a script."""
    return "".join(re.sub(r"^export ", "", web_part(name), flags=re.MULTILINE) for name in names)
