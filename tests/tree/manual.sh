#!/bin/bash
# The manual pages: mandoc finds nothing, and every link of the HTML leads
# somewhere.
# shellcheck source=lib.bash
. "$(dirname "$0")/lib.bash"

if ! command -v mandoc >/dev/null; then
    result 'the manual pages # SKIP needs mandoc' </dev/null
    finish
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
pages=$(cd "$BUILD/man" && ls ./*.[0-9] | sed 's,^\./,,')

# Whether a page of the system is found depends on what is installed.
lint() {
    (cd "$1" && mandoc -T lint ./*.[0-9] 2>&1) |
        grep -v 'outdated mandoc.db\|Xr [^c][^ ]* [0-9]'
}
result 'mandoc -T lint is silent' < <(lint "$BUILD/man")

# broken DIR: links whose file or anchor is missing, anchors that occur twice
broken() {
    (cd "$1" && awk '
        {
            line = $0
            while (match(line, / id="[^"]*"/)) {
                id = substr(line, RSTART + 5, RLENGTH - 6)
                if (seen[FILENAME "#" id]++) print FILENAME ": two #" id
                line = substr(line, RSTART + RLENGTH)
            }
            line = $0
            while (match(line, / href="[^"]*"/)) {
                link = substr(line, RSTART + 7, RLENGTH - 8)
                line = substr(line, RSTART + RLENGTH)
                if (link ~ /^https:/ && link !~ /cellrun-/) continue
                if (link ~ /^#/) link = FILENAME link
                n++
                from[link] = FILENAME
            }
            seen[FILENAME] = 1
        }
        END {
            for (link in from)
                if (!(link in seen) && link != "style.css")
                    print from[link] ": " link
            if (n < 1000) print "only " n " links"
        }' *.html)
    [ -s "$1/style.css" ] && [ -s "$1/index.html" ] || echo 'files are missing'
}
# shellcheck disable=SC2086
check 'the manual becomes HTML' man/html "$BUILD/man" "$tmp/html" $pages
result 'every link of the HTML leads to a page and an anchor' < <(
    broken "$tmp/html")
result 'the index names every page' < <(
    for page in $pages; do
        grep -q "href=\"$page.html\"" "$tmp/html/index.html" || echo "$page"
    done)

# the checker itself sees what is broken
sed 's/id="train.epochs"/id="gone"/; s/cellrun.1.html/nothing.html/' \
    "$tmp/html/cellrun-config.5.html" >"$tmp/new"
mv "$tmp/new" "$tmp/html/cellrun-config.5.html"
check 'a missing page and a missing anchor are found' \
    test "$(broken "$tmp/html" | grep -c ': nothing.html\|#train.epochs')" = 2
result 'every command has a page' < <(
    for name in $("$CELLRUN" help --json | jq -r \
        '.[] | select(.kind == "command" or .kind == "command").name'); do
        [ -s "$BUILD/man/cellrun-$name.1" ] || echo "$name"
    done)
finish
