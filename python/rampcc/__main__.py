"""The command `ramp`, as `rampcc` and `python -m rampcc`.

A wheel brings it as a program beside the module; this finds and becomes it.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path


def _places() -> list[Path]:
    """Where installers put programs: of this environment, of this user, beside a package in a folder of its own."""
    return [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))),
        Path(__file__).resolve().parent.parent / "bin",
    ]


def main() -> int:
    """Becomes the command, with this process's arguments; 1 if this build of the package has none."""
    for place in _places():
        ramp = place / "ramp"
        if ramp.is_file():
            os.execv(ramp, [os.fspath(ramp), *sys.argv[1:]])
    print(
        "rampcc: this build of the package has no command `ramp`; `cargo install --path crates/cli` makes it",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
