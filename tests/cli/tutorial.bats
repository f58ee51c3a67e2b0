# The commands of cellrun-tutorial(7), run as printed in one shell, in the order
# of the page. Each output is compared: `...` stands for any text, on a line of
# its own for any lines, and runs of blanks are equal.

bats_require_minimum_version 1.5.0
set -o pipefail

PAGE=$BATS_TEST_DIRNAME/../../man/cellrun-tutorial.7.in

# Writes each command to NUMBER.cmd and its output in the page to NUMBER.want;
# `sections` has a line "SECTION|NUMBER" for each.
extract() {
    awk '
        function unescape(s) {
            sub(/^\\&/, "", s)
            gsub(/\\e/, "\\", s)
            return s
        }
        /^\.Sh/ { section = substr($0, 5); next }
        /^\.Bd/ { display = 1; next }
        /^\.Ed/ { display = 0; next }
        !display { next }
        /^\$ / {
            name = sprintf("%03d", ++n)
            print section "|" name >"sections"
            print unescape(substr($0, 3)) >(name ".cmd")
            printf "" >(name ".want")
            here = /<<.END.$/
            more = here || /(\\e|\||; do|; then)$/
            next
        }
        more {
            print unescape($0) >(name ".cmd")
            more = here ? !/^END$/ : !/^  done$/ && /(\\e|\||; do|done|[^ ]null)$/
            next
        }
        { print unescape($0) >(name ".want") }
    ' "$PAGE"
}

setup_file() {
    unset CELLRUN_SET CELLRUN_RUNS MAKEFLAGS MAKELEVEL MFLAGS
    local top=$BATS_TEST_DIRNAME/../..
    export STEPS=$BATS_FILE_TMPDIR/steps SOURCE=$BATS_FILE_TMPDIR/source
    mkdir -p "$STEPS" "$SOURCE/build"
    (cd "$STEPS" && extract)
    ln -s "$CELLRUN" "$SOURCE/build/cellrun"
    ln -s "${BUILD:-$top/build/plain}" "$SOURCE/build/plain"
    ln -s "$(realpath "$top/datasets")" "$(realpath "$top/src")" "$SOURCE"
    if "$CELLRUN" version | grep float64 >/dev/null; then
        export CPPFLAGS=-DCELLRUN_DOUBLE
    fi
    (
        set +e # as in the reader's shell
        cd "$SOURCE"
        status=0
        for step in "$STEPS"/*.cmd; do
            status_is "$status"
            # shellcheck disable=SC1090
            . "$step" >"${step%.cmd}.got" 2>&1 3>&- </dev/null
            status=$?
        done
        status_is 0 # each command has its test
    )
}

status_is() {
    return "$1"
}

# flat: lines of standard input without repeated or trailing blanks
flat() {
    sed -e 's/[[:blank:]][[:blank:]]*/ /g' -e 's/ $//'
}

# like WANT GOT: whether line GOT is line WANT, in which ... is any text
like() {
    local want
    want=$(sed -e 's/[][*?\\]/\\&/g' -e 's/[.][.][.]/*/g' <<<"$1")
    # shellcheck disable=SC2053
    [[ $2 == $want ]]
}

# compare STEP: whether its output is as in the page; else shows both
compare() {
    local want got i=0 any=
    mapfile -t want < <(flat <"$1.want")
    mapfile -t got < <(flat <"$1.got")
    for line in "${want[@]}"; do
        if [ "$line" = ... ]; then
            any=1
            continue
        fi
        while [ -n "$any" ] && [ "$i" -lt "${#got[@]}" ]; do
            if like "$line" "${got[i]}"; then break; fi
            i=$((i + 1))
        done
        if [ "$i" -lt "${#got[@]}" ] && like "$line" "${got[i]}"; then
            any=
            i=$((i + 1))
        else
            printf '%s\n' "$ $(cat "$1.cmd")" "--- page has" "$line" \
                "--- output" "$(cat "$1.got")"
            return 1
        fi
    done
    if [ -z "$any" ] && [ "$i" -lt "${#got[@]}" ]; then
        printf '%s\n' "$ $(cat "$1.cmd")" "--- more than the page has" \
            "${got[@]:i}"
        return 1
    fi
}

# section NAME COUNT: its commands, of which there are COUNT
section() {
    local step n=0
    while IFS='|' read -r name step; do
        [ "$name" = "$1" ] || continue
        n=$((n + 1))
        compare "$STEPS/$step"
    done <"$STEPS/sections"
    [ "$n" -eq "$2" ]
}

@test "every section with commands has a test, and every command ran" {
    [ "$(cut -d '|' -f 1 "$STEPS/sections" | uniq)" = "$(sed -n \
        's/^    section "\{0,1\}\([A-Z -]*[A-Z]\)"\{0,1\} [0-9]*$/\1/p' \
        "$BATS_TEST_FILENAME")" ]
    for step in "$STEPS"/*.cmd; do
        [ -e "${step%.cmd}.got" ]
    done
}

@test "set up" {
    section DESCRIPTION 3
}

@test "digits" {
    section DIGITS 14
}

@test "your own images" {
    section "YOUR OWN IMAGES" 11
}

@test "a table" {
    section "A TABLE" 7
}

@test "a text" {
    section "A TEXT" 5
}

@test "when a run does not learn" {
    section "WHEN A RUN DOES NOT LEARN" 7
}

@test "sweeps" {
    section SWEEPS 5
}

@test "fine-tuning" {
    section FINE-TUNING 3
}

@test "a block of your own" {
    section "A BLOCK OF YOUR OWN" 3
}

@test "a loss of your own" {
    section "A LOSS OF YOUR OWN" 3
}

@test "a plug-in" {
    section "A PLUG-IN" 7
}
