"""A website for scripts/load: makes its own pages of a given size, or takes those of a folder, and serves them on loopback.

Run by scripts/load; it prints its port and ends when its standard input closes.
"""

import asyncio
import gzip
import pathlib
import random
import sys

THINGS = """harbour kiln orchard lighthouse ferry workshop meadow quarry library mill canal greenhouse bakery
observatory vineyard foundry cottage bridge market reservoir""".split()
PARTS = """roof wall gate lantern rope rack basin ledger map window path seat stove barrel hinge stair signal
pump field archive""".split()
PEOPLE = """the keeper|the mason|a baker|two gardeners|the harbour master|our neighbour|a retired teacher|the surveyor|
the glazier|the youngest apprentice|a visiting botanist|the ferry crew""".replace("\n", "").split("|")
DEEDS = """repaired|measured|painted|described|rebuilt|catalogued|photographed|weighed|sketched|replaced|inherited|
restored|compared|moved|counted""".replace("\n", "").split("|")
WHEN = """in early spring|after the long drought|before the first frost|during the war years|on a calm morning|
within a single season|over the following decade|while the road was closed|shortly after the flood|
at the end of the century""".replace("\n", "").split("|")
WHY = """because the old timber had begun to warp|since nobody remembered where the plans were kept|
although the council had set aside very little money|so that boats could enter at low water|
as the stone from the northern pit was softer than expected|which surprised everyone who had seen the earlier survey|
and the accounts of that year still mention the cost|but the work was never quite finished""".replace("\n", "").split("|")
ADJECTIVES = "narrow slate copper weathered northern shallow tall whitewashed quiet granite wooden modest".split()

STYLE = """<style>
body { font: 16px/1.5 Georgia, serif; color: #222; background: #fff; margin: 0 }
.wrap { max-width: 60rem; margin: 0 auto; padding: 1rem }
nav ul { list-style: none; display: flex; gap: 1rem } nav a:hover { text-decoration: underline }
article h2 { margin-top: 2rem } .note { border-left: 3px solid #888; padding-left: 1rem }
table { border-collapse: collapse } td, th { border: 1px solid #ccc; padding: .2rem .5rem }
aside.related { font-size: 90% } footer { color: #555 } @media print { nav { display: none } }
</style>
"""


class Writer:
    """Writes plain English about nothing in particular, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def sentence(self) -> str:
        pick = self.random.choice
        thing, part, adjective = pick(THINGS), pick(PARTS), pick(ADJECTIVES)
        forms = (
            f"{pick(PEOPLE)} {pick(DEEDS)} the {adjective} {part} of the {thing} {pick(WHEN)}, {pick(WHY)}.",
            f"{pick(WHEN)}, {pick(PEOPLE)} {pick(DEEDS)} the {part} beside the {thing}.",
            f"the {thing} kept its {adjective} {part} until {pick(PEOPLE)} {pick(DEEDS)} it {pick(WHEN)}.",
            f"of the {self.random.randint(3, 90)} {part}s at the {thing}, only the {adjective} ones are still in use.",
        )
        text = pick(forms)
        return text[0].upper() + text[1:]

    def text(self, sentences: int) -> str:
        return " ".join(self.sentence() for _ in range(sentences))

    def heading(self) -> str:
        return f"The {self.random.choice(ADJECTIVES)} {self.random.choice(PARTS)} of the {self.random.choice(THINGS)}"

    def block(self) -> str:
        """A piece of an article: mostly paragraphs, and now and then something else."""
        pick, kind = self.random.choice, self.random.randrange(12)
        if kind == 0:
            return f"<h2>{self.heading()}</h2>\n"
        if kind == 1:
            items = "".join(f"<li>{self.sentence()}</li>\n" for _ in range(4))
            return f"<ul>\n{items}</ul>\n"
        if kind == 2:
            rows = "".join(
                f"<tr><td>{pick(THINGS)}</td><td>{self.random.randint(1700, 1990)}</td><td>{pick(PARTS)}</td></tr>\n"
                for _ in range(5)
            )
            return f"<table>\n<tr><th>place</th><th>year</th><th>part</th></tr>\n{rows}</table>\n"
        if kind == 3:
            return f'<blockquote class="note"><p>{self.text(2)}</p></blockquote>\n'
        if kind == 4:
            return f"<pre><code>{pick(PARTS)} = {self.random.randint(2, 99)}\nprint({pick(PARTS)})\n</code></pre>\n"
        if kind == 5:
            return f'<figure><img src="/{pick(THINGS)}.jpg" alt="The {pick(PARTS)} seen from the {pick(THINGS)}"></figure>\n'
        link = f'<a href="/{pick(THINGS)}/{pick(PARTS)}">{pick(ADJECTIVES)} {pick(PARTS)}</a>'
        return f"<p>{self.text(2)} See the {link}. <em>{self.sentence()}</em> {self.text(1)}</p>\n"


FIRST = "The account begins at the sea wall."
LAST = "The account ends at the town gate."


def page(size: int) -> bytes:
    """An article of exactly `size` bytes that begins with FIRST and ends with LAST."""
    writer = Writer(size)
    links = "".join(f'<li><a href="/{thing}">{thing}</a></li>' for thing in THINGS[:8])
    head = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{writer.heading()}</title>\n{STYLE}'
        f"<script>window.pages = {{ opened: Date.now() }};</script>\n</head>\n<body>\n<div class=\"wrap\">\n"
        f"<nav><ul>{links}</ul></nav>\n<main>\n<article>\n<h1>{writer.heading()}</h1>\n<p>{FIRST} {writer.text(3)}</p>\n"
    )
    tail = (
        f"{LAST}</p>\n</article>\n</main>\n<aside class=\"related\"><h3>More</h3><ul>{links}</ul></aside>\n"
        "<footer><p>Written for measuring.</p></footer>\n</div>\n</body>\n</html>\n"
    )
    room = size - len(head) - len(tail)
    if room < 100:
        raise ValueError(f"a page of {size} bytes has no room for text")
    blocks, used = [], 0
    while True:
        block = writer.block()
        if used + len(block) > room - 100:
            break
        blocks.append(block)
        used += len(block)
    filler = "<p>"
    while len(filler) < room - used:
        filler += writer.sentence() + " "
    filler = filler[: room - used - 2] + ". "
    whole = (head + "".join(blocks) + filler + tail).encode("ascii")
    if len(whole) != size:
        raise AssertionError(f"made {len(whole)} bytes instead of {size}")
    return whole


async def serve(names: list[str], compressed: bool) -> None:
    """Serves a page for each name under its place in the list: a number is the size of one to make, the rest are files."""
    answers = {}
    for place, name in enumerate(names):
        if name.isdigit():
            body, kind = page(int(name)), "text/html; charset=utf-8"
        else:
            body, kind = pathlib.Path(name).read_bytes(), "text/html"
        encoding = ""
        if compressed:
            body, encoding = gzip.compress(body, mtime=0), "content-encoding: gzip\r\n"
        head = (
            f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n"
            f"{encoding}content-length: {len(body)}\r\nconnection: close\r\n\r\n"
        )
        answers[f"/{place}".encode()] = head.encode() + body
    missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
            path = head.split(b" ", 2)[1].split(b"?")[0]
            writer.write(answers.get(path, missing))
            await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.TimeoutError, OSError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(serve(sys.stdin.readline().rstrip("\n").split("\t"), sys.argv[1] == "gzip"))
