"""What leads to each version of the documentation: a list for the selector, and a page that goes to the newest. Usage: versions.py DOCS"""

import json
import sys
from pathlib import Path

# Whoever comes without a version, or from before there were versions, gets the newest, with what stands after # in the address.
REDIRECT = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>ramp: documentation</title>
<link rel="icon" href="data:,">
<meta http-equiv="refresh" content="1; url={newest}/index.html">
<script>location.replace("{newest}/index.html" + location.hash)</script>
<a href="{newest}/index.html">Documentation of ramp {newest}</a>
</html>
"""


def main(docs):
    versions = [path.parent.name for path in docs.glob("*/index.html")]
    versions.sort(key=lambda version: [int(part) for part in version.split(".")], reverse=True)
    known = [{"version": version, "title": version, "aliases": []} for version in versions]
    (docs / "versions.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    (docs / "index.html").write_text(REDIRECT.format(newest=versions[0]), encoding="utf-8")
    # It holds addresses that are right on one host only.
    for page in docs.glob("*/404.html"):
        page.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
