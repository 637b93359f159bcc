"""Whether every link of a site leads somewhere within it, and no page loads anything from another host. Usage: check.py SITE"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser loads by itself, rather than when a reader follows it.
LOADED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
# Relations of `link` that say where something is and load nothing.
NAMED = {"canonical", "next", "prev", "edit"}


class Page(HTMLParser):
    """Links of a page, what it loads, and its anchors."""

    def __init__(self):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], {"", "top"}
        self.leads = None

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := attributes.get(name))}
        if tag == "meta" and attributes.get("http-equiv") == "refresh":
            self.leads = attributes["content"].partition("url=")[2]
            self.links.append(self.leads)
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        named = tag == "link" and attributes.get("rel") in NAMED
        if tag in LOADED and attributes.get(LOADED[tag]) and not named:
            self.loaded.append(attributes[LOADED[tag]])


def main(site):
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = Page()
        pages[path].feed(path.read_text(encoding="utf-8"))
    faults, links = [], 0
    for path, page in pages.items():
        for address in page.loaded:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                faults.append(f"{path.relative_to(site)} loads {address}")
        for address in [*page.links, *page.loaded]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or address.startswith("/"):
                continue
            links += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            # A page that leads on takes what stands after # along.
            while target in pages and pages[target].leads and target != path:
                target = (target.parent / pages[target].leads).resolve()
            # What stands after # in the playground's address is a comparison.
            anchor = "" if "=" in parts.fragment else unquote(parts.fragment)
            if not target.exists():
                faults.append(f"{path.relative_to(site)}: nothing is at {address}")
            elif target in pages and anchor not in pages[target].anchors:
                faults.append(f"{path.relative_to(site)}: {address} names no place of that page")
    print("\n".join(faults), file=sys.stderr, end="\n" if faults else "")
    print(f"{len(pages)} pages, {links} links within the site, {len(faults)} wrong")
    return 1 if faults or not links else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
