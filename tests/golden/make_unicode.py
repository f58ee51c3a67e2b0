#!/usr/bin/env python3
"""Writes src/data/unicode.inc: what src/data/unicode.c knows of characters,
from Python's unicodedata (its Unicode version is in the file).

fold(c) is what MindSpore's BasicTokenizer makes of a character with
lower_case: NFKC_Casefold, then NFD, then without the marks (Mn). Hangul
syllables are omitted: their parts are computed."""
import sys
import unicodedata as u

IGNORED = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160),
           (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F),
           (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164),
           (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0),
           (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
           (0xE0000, 0xE0FFF)]


def ignored(c):
    return any(a <= ord(c) <= b for a, b in IGNORED)


def casefold(s):
    """NFKC_Casefold (Unicode 3.13, D146 and toNFKC_Casefold)."""
    while True:
        t = "".join(c for c in s if not ignored(c))
        t = u.normalize("NFKC", u.normalize("NFKC", t).casefold())
        if t == s:
            return t
        s = t


def fold(c):
    return "".join(d for d in u.normalize("NFD", casefold(c))
                   if u.category(d) != "Mn")


def characters():
    return (c for c in range(sys.maxunicode + 1)
            if not 0xD800 <= c < 0xE000 and not 0xAC00 <= c < 0xD7A4)


def ranges(test):
    out = []
    for c in range(sys.maxunicode + 1):
        if not test(chr(c)):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def folds():
    """What becomes one other character in runs of three or more [first,
    step, count, to, move]: first + k step becomes to + k move; characters
    that vanish; and all others with their texts."""
    single, gone, others = {}, set(), {}
    for c in characters():
        t = fold(chr(c))
        if t == chr(c):
            continue
        if t == "":
            gone.add(chr(c))
        elif len(t) == 1:
            single[c] = ord(t)
        else:
            others[c] = t
    runs, done = [], set()
    for c in sorted(single):
        if c in done:
            continue
        best = (0, 0, 0)
        for step in (1, 2):
            for move in (0, 1, 2):
                n = 1
                while single.get(c + n * step) == single[c] + n * move and \
                        c + n * step not in done:
                    n += 1
                best = max(best, (n, step, move))
        n, step, move = best
        if n < 3:
            others[c] = chr(single[c])
            continue
        done.update(c + k * step for k in range(n))
        runs.append((c, step, n, single[c], move))
    return runs, gone, sorted(others.items())


def lines(items, width=79):
    row = "   "
    for i in items:
        if len(row) + 1 + len(i) + 1 > width:
            yield row
            row = "   "
        row += " " + i + ","
    yield row


def table(f, name, test):
    f.write(f"static const uint32_t {name}[][2] = {{\n")
    f.write("\n".join(lines("{ 0x%x, 0x%x }" % tuple(r)
                            for r in ranges(test))))
    f.write("\n};\n\n")


def main():
    runs, gone, others = folds()
    escape = str.maketrans({"\"": "\\\"", "\\": "\\\\"})
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write("/* Made by tests/golden/make_unicode.py from Unicode "
                f"{u.unidata_version}. */\n\n")
        table(f, "unicode_punctuation",
              lambda c: u.category(c).startswith("P"))
        table(f, "unicode_control", lambda c: u.category(c) in ("Cc", "Cf"))
        table(f, "unicode_space",
              lambda c: u.category(c).startswith("Z") or c in "\t\n\f\r")
        f.write("/* what folding takes away */\n")
        table(f, "unicode_gone", lambda c: c in gone)
        f.write("/* first, step, count, to, move of the target */\n"
                "static const struct unicode_run unicode_runs[] = {\n")
        f.write("\n".join(lines("{ 0x%x, %d, %d, 0x%x, %d }" % r
                                for r in runs)))
        f.write("\n};\n\n/* all others: the character, what it becomes */\n"
                "static const char *const unicode_others[] = {\n    \"")
        width = 6
        for c, t in others:
            item = (chr(c) + t).translate(escape) + "\\n"
            if width + len(item) > 76:
                f.write("\",\n    \"")
                width = 6
            f.write(item)
            width += len(item)
        f.write("\"\n};\n")


if __name__ == "__main__":
    main()
