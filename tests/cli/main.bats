# The program as such: commands, flags, streams, exit statuses.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset NO_COLOR CLICOLOR_FORCE CELLRUN_SET
    printf 'seed: 1\ntrain: {epochs: 1}\n' >c.yaml
}

@test "no command is wrong usage" {
    run -2 --separate-stderr "$CELLRUN"
    [ -z "$output" ]
    [ "${stderr_lines[0]}" = "cellrun: error: no command given [E0501]" ]
}

@test "an unknown command has a suggestion" {
    run -2 --separate-stderr "$CELLRUN" chek c.yaml
    [ "${stderr_lines[0]}" = \
      "command line, argument 1: error: unknown command 'chek' [E0501]" ]
    [[ "$stderr" == *"^^^^ did you mean 'check'?"* ]]
}

@test "a file instead of a command" {
    run -2 --separate-stderr "$CELLRUN" c.yaml
    [[ "$stderr" == *"did you mean 'cellrun train c.yaml'?"* ]]
}

@test "an unknown flag has a suggestion and its place" {
    run -2 --separate-stderr "$CELLRUN" config c.yaml --orgin
    [ "${stderr_lines[0]}" = \
"command line, argument 3: error: unknown flag '--orgin' for config [E0501]" ]
    [ "${stderr_lines[2]}" = "   ^^^^^^^ did you mean '--origin'?" ]
    [ "${stderr_lines[3]}" = "   (cellrun help config)" ]
}

@test "a flag without its value" {
    run -2 --separate-stderr "$CELLRUN" config c.yaml --get
    [[ "$stderr" == *"flag '--get' without a value, expected text"* ]]
}

@test "a flag with a wrong value" {
    run -2 --separate-stderr "$CELLRUN" config c.yaml --threads=many
    [ "${stderr_lines[0]}" = "command line, argument 3: error: --threads: \
found 'many', expected an integer from 0 to 256 [E0005]" ]
    [ "${stderr_lines[2]}" = "             ^^^^" ]
}

@test "a number too large for an integer: the message has the maximum" {
    for batch in 2147483649 9e15 1e18 99999999999999999999; do
        run -2 --separate-stderr "$CELLRUN" summary c.yaml --batch $batch
        [[ "$stderr" == *"--batch: found the number $batch, expected an \
integer of at least 1 [E0006]"*"the maximum is 2147483648"* ]]
    done
    run -2 --separate-stderr "$CELLRUN" check c.yaml seed=1e30
    [[ "$stderr" == *"the maximum is 9223372036854775807"* ]]
    run -2 --separate-stderr "$CELLRUN" summary c.yaml --batch inf
    [[ "$stderr" == *"expected an integer of at least 1 [E0005]"* ]]
}

@test "an empty value is a value" {
    run -2 --separate-stderr "$CELLRUN" config c.yaml --threads=
    [[ "$stderr" == *"--threads: found '', expected an integer"* ]]
    run -2 --separate-stderr "$CELLRUN" config c.yaml --json=maybe
    [[ "$stderr" == *"--json: found 'maybe', expected true or false"* ]]
    run -0 "$CELLRUN" config c.yaml --json=false --get seed
    [ "$output" = 1 ]
}

@test "too few and too many operands" {
    run -2 --separate-stderr "$CELLRUN" check
    [[ "$stderr" == *"check: found no operand, expected at least one"* ]]
    [[ "$stderr" == *"usage: cellrun check FILE..."* ]]
    run -2 --separate-stderr "$CELLRUN" version 1
    [[ "$stderr" == *"version: found more operands than the maximum of 0"* ]]
}

@test "flags may be anywhere, -- ends them, - is standard input" {
    run -0 "$CELLRUN" --json config c.yaml --get seed
    [ "$output" = 1 ]
    run -0 "$CELLRUN" config --get seed -- c.yaml
    [ "$output" = 1 ]
    run -0 bash -c '"$CELLRUN" config - --get seed <c.yaml'
    [ "$output" = 1 ]
    run -2 --separate-stderr "$CELLRUN" config -- --get
    [[ "$stderr" == *"'--get'"* ]]
}

@test "--set, --seed and bare assignments are the same thing, in order" {
    run -0 "$CELLRUN" config c.yaml --set train.epochs=2 --get train.epochs
    [ "$output" = 2 ]
    run -0 "$CELLRUN" config c.yaml train.epochs=3 --get train.epochs
    [ "$output" = 3 ]
    run -0 "$CELLRUN" config c.yaml --seed 9 --get seed
    [ "$output" = 9 ]
    run -0 "$CELLRUN" config c.yaml --set seed=2 seed=3 --get seed
    [ "$output" = 2 ] # --set is an assignment: bare ones come first
}

@test "--help in any place is help on the command" {
    "$CELLRUN" help config >want
    for args in "config --help" "config -h" "--help config" "config x.yaml -h"
    do
        # shellcheck disable=SC2086
        run -0 --separate-stderr "$CELLRUN" $args
        diff want <(echo "$output")
    done
}

@test "results on stdout, messages on stderr" {
    run -2 --separate-stderr "$CELLRUN" config missing.yaml
    [ -z "$output" ]
    [[ "$stderr" == *"cannot open 'missing.yaml'"* ]]
}

@test "--json makes one object of every message" {
    run -2 --separate-stderr "$CELLRUN" config c.yaml --json --orgin
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ "$stderr" == '{"severity": "error", "argument": 4, '* ]]
    [[ "$stderr" == *'"code": "E0501"'* ]]
    [[ "$stderr" == *'"hint": "did you mean '\''--origin'\''?"'* ]]
}

@test "colour: only where it is wanted" {
    run -2 --separate-stderr "$CELLRUN" nope
    [[ "$stderr" != *$'\e'* ]]
    CLICOLOR_FORCE=1 run -2 --separate-stderr "$CELLRUN" nope
    [[ "$stderr" == *$'\e'* ]]
    CLICOLOR_FORCE=1 NO_COLOR=1 run -2 --separate-stderr "$CELLRUN" nope
    [[ "$stderr" != *$'\e'* ]]
    run -2 --separate-stderr "$CELLRUN" nope --color always
    [[ "$stderr" != *$'\e'* ]] # the command is found out first
    run -2 --separate-stderr "$CELLRUN" config c.yaml --orgin --color always
    [[ "$stderr" == *$'\e'* ]]
    CLICOLOR_FORCE=1 run -2 --separate-stderr "$CELLRUN" config --color never
    [[ "$stderr" != *$'\e'* ]]
}

@test "control bytes of arguments do not reach the terminal" {
    run -2 --separate-stderr "$CELLRUN" $'ne\e[31mat\r'
    [[ "$stderr" != *$'\e'* ]]
    [[ "$stderr" == *'ne\x1b[31mat\x0d'* ]]
}

@test "a full disk is a failure" {
    run -1 --separate-stderr bash -c '"$CELLRUN" version >/dev/full'
    [[ "$stderr" == *"cannot write standard output: No space left"* ]]
    [[ "$stderr" == *"[E0602]"* ]]
    # the reason is lost where stdio has no bytes left to write at the end
    run -1 --separate-stderr bash -c '"$CELLRUN" schema >/dev/full'
    [[ "$stderr" == *"cannot write standard output"*"[E0602]"* ]]
}

@test "a closed stdout is a failure" {
    run -1 --separate-stderr bash -c '"$CELLRUN" help >&-'
    [[ "$stderr" == *"cannot write standard output"* ]]
}

@test "closed stdin and stderr are not taken for files" {
    run -0 --separate-stderr bash -c '"$CELLRUN" config c.yaml --get seed \
        <&- 2>&-'
    [ "$output" = 1 ]
}

@test "a closed pipe ends with 141 and without a message" {
    run -141 --separate-stderr perl -e 'pipe R, W or die; close R;
        open STDOUT, ">&W" or die; exec @ARGV' "$CELLRUN" schema
    [ -z "$stderr" ]
}
