"""Pages of the public C++ headers: each docstring behind the declaration it stands before.

    python docs/site/headers.py include/vouch OUTPUT
"""
import pathlib
import re
import sys

WORDS = "Shapes|Types|Units|Memory|Result|Cost|Throws|Source"


def escaped(text):
    """text as reStructuredText, with what stands between backticks as code."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"``{part}``" if k % 2 else re.sub(r"([\\*`|_])", r"\\\1", part) for k, part in enumerate(parts))


def paragraphs(lines):
    """A docstring as reStructuredText: prose, tables as they are, and the fixed words as fields."""
    found = []
    for line in lines:
        word = re.match(rf"({WORDS})(, (?:{WORDS}))*\s{{2,}}", line)
        if not line.strip():
            found.append([])
        elif word:
            found.append([f":{word.group(0).strip()}:", line[word.end():].strip()])
        elif found and found[-1] and found[-1][0].startswith(":"):
            # An exception a line, its name before two spaces.
            found[-1].append(re.sub(r"^(\w+)  ", r"; \1  ", line.strip()))
        else:
            if not found or (found[-1] and line.startswith(" ") != found[-1][-1].startswith(" ") and "  " in line.strip()):
                found.append([])
            found[-1].append(line)
    blocks = []
    for block in filter(None, found):
        if block[0].startswith(":"):
            blocks.append(f"{block[0]} " + escaped(" ".join(block[1:]).replace(" ; ", "; ")))
        elif any("  " in line.strip() for line in block):
            blocks.append("::\n\n" + "\n".join("    " + line for line in block))
        else:
            blocks.append(escaped(" ".join(line.strip() for line in block)))
    text = "\n\n".join(blocks)
    return re.sub(r"(?m)^(:.*)\n\n(?=:)", r"\1\n", text)


def declaration(lines):
    """What begins with the first line: a function up to its body, a type with what of it is public."""
    taken = []
    for line in lines:
        is_type = re.match(r"(template.*> *)?(struct|class|enum)\b", " ".join(taken + [line]).replace("\n", " "))
        if not is_type and line.endswith("{"):
            return [*taken, re.sub(r"( : .*)? *\{$", ";", line)]
        if is_type and line.strip() == "private:":
            return [*taken, "};"]
        taken.append(line)
        if (line.endswith(";") or line.endswith("}")) and not line.startswith(" ") and (not is_type or "{" not in "".join(taken)
                                                                                   or line.startswith("}") or "{" in line):
            return taken
        if not is_type and line.endswith(";"):
            return taken
    return taken


def name_of(lines):
    text = re.sub(r"template <.*?>(?= *\w)|VOUCH_\w+(\(.*?\))?|requires\(.*?\)", "", " ".join(lines))
    kind = re.search(r"\b(?:struct|class|enum class|enum)\s+([\w:<>]+)", text)
    if kind:
        return kind.group(1)
    function = re.search(r"([\w:]+|operator *\S+?)\s*\(", text)
    constant = re.search(r"([\w:]+)\s*(=|;)", text)
    found = function or constant
    return found.group(1) if found else text[:40]


def entries(text):
    lines = text.splitlines()
    k = 0
    while k < len(lines):
        if not lines[k].startswith("///"):
            k += 1
            continue
        first = k
        while k < len(lines) and lines[k].startswith("///"):
            k += 1
        doc = [line[3:].removeprefix(" ") for line in lines[first:k]]
        if k < len(lines) and lines[k].strip():
            yield doc, declaration(lines[k:])


def page(path, root):
    text = path.read_text()
    first = text.splitlines()[0]
    if "detail of public headers" in text[:400] or not first.startswith("// vouch/"):
        return None
    name, _, summary = first[3:].partition(" -- ")
    found = [f"{name}\n{'=' * len(name)}\n", escaped(summary[:1].upper() + summary[1:]),
             f".. code-block:: cpp\n\n    #include <{path.relative_to(root.parent)}>"]
    for doc, lines in entries(text):
        title = name_of(lines)
        found.append(f"{escaped(title)}\n{'-' * (len(escaped(title)) + 1)}")
        found.append(".. code-block:: cpp\n\n" + "\n".join("    " + line for line in lines))
        found.append(paragraphs(doc))
    return "\n\n".join(found) + "\n"


def main(root, output):
    root, output = pathlib.Path(root), pathlib.Path(output)
    rooms = {}
    for path in sorted(root.glob("*/**/*.hpp")):
        made = page(path, root)
        if made is None:
            continue
        relative = path.relative_to(root)
        rooms.setdefault(relative.parts[0], []).append(relative.with_suffix("").as_posix())
        target = output / relative.with_suffix(".rst")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(made)
    index = ["C++\n===\n", "The public headers, by room. Each docstring is a contract under fixed words."]
    for room, pages in rooms.items():
        listed = "\n".join(f"   {one}" for one in pages)
        index.append(f"{room}\n{'-' * len(room)}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}")
    (output / "index.rst").write_text("\n\n".join(index) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
