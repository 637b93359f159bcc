"""The licences of what is linked into `ramp`, whose authors want to be named. Usage: licences.py TARGET > THIRD-PARTY.md"""

import json
import subprocess
import sys
from pathlib import Path

COMMAND = ["cargo", "metadata", "--locked", "--format-version", "1", "--manifest-path", "crates/cli/Cargo.toml"]
NAMES = ("licen", "copying", "notice", "copyright", "unlicense")


def linked(metadata):
    """Packages that the command is made of: dependencies of build scripts and of tests are none of it."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting, found = [metadata["resolve"]["root"]], set()
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += [d["pkg"] for d in nodes[at]["deps"] if any(kind["kind"] is None for kind in d["dep_kinds"])]
    packages = [package for package in metadata["packages"] if package["id"] in found and package["source"]]
    return sorted(packages, key=lambda package: (package["name"], package["version"]))


def main(target):
    said = subprocess.run([*COMMAND, "--filter-platform", target], check=True, capture_output=True).stdout
    texts = {}
    print("# Licences of others\n\n`ramp` contains these libraries. The texts of their licences follow.\n")
    for package in linked(json.loads(said)):
        name = f"{package['name']} {package['version']}"
        print(f"- [{name}]({package['repository'] or 'https://crates.io/crates/' + package['name']}): {package['license']}")
        place = Path(package["manifest_path"]).parent
        files = sorted(path for path in place.iterdir() if path.is_file() and path.name.lower().startswith(NAMES))
        for path in files:
            texts.setdefault(path.read_text(encoding="utf-8").strip(), []).append(name)
    for text, names in texts.items():
        print(f"\n## {', '.join(dict.fromkeys(names))}\n\n```\n{text}\n```")
    return 0 if texts else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
