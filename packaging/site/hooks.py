"""What the repository's documentation needs to become a site: its index as navigation, its version, and links that leave it."""

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
SHORT = re.compile(r"<code>([^<]{1,28})</code>")
VERSION = re.compile(r'^version = "(.+)"', re.MULTILINE)
FENCE = re.compile(r"^(```.*?^```)", re.DOTALL | re.MULTILINE)


def on_config(config):
    """The navigation is docs/README.md: a tab for each of its sections, a page for each of its links."""
    text = Path(config.docs_dir, "README.md").read_text(encoding="utf-8")
    nav = [{"Start": "README.md"}]
    for section in text.split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        pages = [(name.strip("`"), to) for _, name, to, _ in LINK.findall(body) if not to.startswith("..")]
        nav.append({title: [{name.replace("`", ""): to} for name, to in pages]})
    config.nav = nav
    version = VERSION.search(Path(config.docs_dir, "../Cargo.toml").read_text(encoding="utf-8")).group(1)
    config.site_dir = str(Path(config.site_dir, version))
    return config


def on_page_content(html, page, config, files):
    """Names such as `--rtt` stay on one line."""
    return SHORT.sub(r'<code class="short">\1</code>', html)


def on_page_markdown(markdown, page, config, files):
    """Links to files that are no part of the documentation lead to what they held in this version, as text. Folders are only named."""
    here = posixpath.dirname(page.file.src_uri)

    def link(found):
        mark, name, to, anchor = found.groups()
        if re.match(r"[a-z]+:", to):
            return found.group(0)
        place = posixpath.normpath(posixpath.join("docs", here, to))
        inside = place.startswith("docs/")
        if inside and files.get_file_from_path(place.removeprefix("docs/")):
            return found.group(0)
        target = Path(config.docs_dir).parent / place
        if target.is_dir():
            return name
        if not target.exists():
            return found.group(0)
        copy = f"source/{place}.txt"
        if files.get_file_from_path(copy) is None:
            files.append(File.generated(config, copy, content=target.read_bytes()))
        return f"{mark}[{name}]({posixpath.relpath(copy, here or '.')})"

    # What stands in blocks of code is no link. Odd parts are such blocks.
    parts = FENCE.split(markdown)
    return "".join(part if number % 2 else LINK.sub(link, part) for number, part in enumerate(parts))
