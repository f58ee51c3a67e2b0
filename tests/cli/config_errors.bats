# Wrong configs, and the message each gets: bad/NAME.yaml and bad/NAME.txt.
bats_require_minimum_version 1.5.0
set -o pipefail

# wrong NAME [ARGUMENT...]: all that check says of bad/NAME.yaml, or of
# bad/good.yaml with arguments
wrong() {
    local name=$1 file=$1.yaml
    shift
    cd "$BATS_TEST_DIRNAME/bad"
    [ -e "$file" ] || file=good.yaml
    run -2 --separate-stderr "$CELLRUN" check "$file" "$@"
    [ -z "$output" ]
    diff "$name.txt" <(printf '%s\n' "$stderr")
}

setup() {
    unset CELLRUN_SET CELLRUN_PATH CELLRUN_DATA NO_COLOR CLICOLOR_FORCE
}

# ---- YAML

@test "a tab in the indentation" { wrong tab; }
@test "no blank after a colon" { wrong no_blank; }
@test "no blank after a colon, and a line below it" { wrong no_blank_two; }
@test "a quote that is not closed" { wrong open_quote; }
@test "a bracket that is not closed" { wrong open_bracket; }
@test "the shell's form of a variable" { wrong dollar_brace; }
@test "a key indented less than its neighbours" { wrong indent; }
@test "a key indented more than its neighbours" { wrong deeper; }
@test "two keys on a line" { wrong two_keys; }
@test "a dash on a level of its own" { wrong dash_level; }
@test "a dash after its key" { wrong dash_behind; }
@test "a pattern that looks like an alias" { wrong alias; }
@test "an expression that YAML cuts in two" { wrong open_expression; }
@test "two documents in a file" { wrong documents; }
@test "a key given twice" { wrong twice; }
@test "Latin-1 instead of UTF-8" { wrong latin1; }
@test "an unknown tag" { wrong tag; }
@test "aliases of aliases of aliases" { wrong laughs; }
@test "nested too deep" { wrong deep; }
@test "a list instead of a map" { wrong list; }

# ---- keys and values

@test "an unknown section" { wrong section; }
@test "an unknown key of a section" { wrong key; }
@test "an unknown argument of a type" { wrong argument; }
@test "an unknown key next to a type" { wrong beside; }
@test "class weights next to the loss, where nothing reads them" {
    wrong loss_weight_beside
}
@test "an unknown type" { wrong type; }
@test "a type of another kind" { wrong kind; }
@test "the type as a value" { wrong type_key; }
@test "two types in one map" { wrong two_types; }
@test "names of cells in upper case" { wrong cell_names; wrong block_cell_names; }
@test "a required argument is missing" { wrong missing; }
@test "a word for a number" { wrong word; }
@test "a number out of range" { wrong range; }
@test "numbers that are too large or too small" { wrong huge; }
@test "yes for true" { wrong yes; }
@test "an argument of Dropout without a name" { wrong dropout; }
@test "too many arguments" { wrong positions; }
@test "a word that is none of the choices" { wrong choice; }
@test "an unknown unit" { wrong unit; }
@test "steps and epochs" { wrong both; }
@test "shapes in a construct that do not fit" { wrong construct; }

# ---- variables, files, merging

@test "an undefined variable" { wrong undefined; }
@test "variables that need each other" { wrong circle; }
@test "a division by zero" { wrong zero; }
@test "an unknown function" { wrong function; }
@test "repeat outside of a list" { wrong repeat; }
@test "when that is neither true nor false" { wrong when; }
@test "a base that is not there" { wrong base; }
@test "a base that has the file as base" { wrong base_circle; }
@test "removing a key that does not exist" { wrong delete; }
@test "appending to a value that is not a list" { wrong append; }

# ---- the network

@test "a pattern that matches nothing" { wrong freeze; }
@test "a regular expression that is none" { wrong regex; }
@test "shapes that do not fit" { wrong shape; }

# ---- the command line

@test "an assignment to an unknown key" { wrong set_key train.epoch=5; }
@test "an assignment of a wrong value" { wrong set_value train.epochs=many; }
@test "an assignment into no cell" { wrong set_cell network.bdy.0=ReLU; }
@test "an assignment past the end of a list" { wrong set_index network.body.2=ReLU; }
@test "an assignment that is not YAML" { wrong set_yaml 'train={epochs: 3'; }
@test "an assignment without a value" { wrong set_none --set train.epochs; }
@test "removing an unknown key" { wrong set_remove '~train.epoch'; }
@test "a variable that only the command line uses" { wrong set_variable 'train.epochs=$n'; }
@test "a wrong line in CELLRUN_SET" {
    export CELLRUN_SET=$'seed=3\ntrain.epochs=[1\n'
    wrong environment
}

# ---- all of it

@test "all errors of a file are reported at once" { wrong several; }

@test "a wrong config is not run" {
    mkdir "$BATS_TEST_TMPDIR/empty"
    cd "$BATS_TEST_TMPDIR/empty"
    run -2 --separate-stderr "$CELLRUN" train "$BATS_TEST_DIRNAME/bad/both.yaml"
    [[ "$stderr" == *$'[E0016]\n'* ]]
    [ "${stderr_lines[-1]}" = "1 error. Nothing was run." ]
    [ -z "$(ls)" ]
}

@test "messages as JSON, one a line" {
    cd "$BATS_TEST_DIRNAME/bad"
    run -2 --separate-stderr "$CELLRUN" check several.yaml --json
    [ "$(jq -s length <<<"$stderr")" -ge 9 ]
    run -0 jq -r 'select(.code == "E0010") |
        [.file, .line, .col, .severity, .message, .hint] | @tsv' <<<"$stderr"
    [ "$output" = "several.yaml	3	45	error	undefined variable '\$widht'	did you mean '\$width'?" ]
}

@test "a file cannot send control characters to the terminal" {
    printf 'network: [ReLU]\n"\\e[31m\\u202e": "\\a\\x9b"\n' \
        >"$BATS_TEST_TMPDIR/c.yaml"
    run -2 --separate-stderr "$CELLRUN" check "$BATS_TEST_TMPDIR/c.yaml"
    [[ "$stderr" == *"unknown key '\\x1b[31m\\u{202e}'"* ]]
    printf 'network: [ReLU]\nx\033[31m\n' >"$BATS_TEST_TMPDIR/c.yaml"
    run -2 --separate-stderr "$CELLRUN" check "$BATS_TEST_TMPDIR/c.yaml"
    [[ "$stderr" == *"control character U+001B"* ]]
    [[ "$stderr" != *$'\033'* ]]
}

@test "each message has a code that help explains" {
    for code in $(cat "$BATS_TEST_DIRNAME"/bad/*.txt |
        grep -o '\[E[0-9]*\]$' | tr -d '[]' | sort -u); do
        run -0 "$CELLRUN" help "$code"
        [ -n "$output" ]
    done
}

@test "the largest integer is printed as an integer" {
    cd "$BATS_TEST_TMPDIR"
    printf '%s\n' 'network:' '  inputs: {x: {shape: [3]}}' \
        '  cells: {f: {Dense: {out_channels: 1e15}}}' \
        '  construct: return f(x)' >big.yaml
    run -2 --separate-stderr "$CELLRUN" check big.yaml
    [[ $stderr == *"the maximum is 2147483648"$'\n'* ]]
}

@test "after an integer that is too large nothing is built" {
    digits=$BATS_TEST_DIRNAME/../../configs/digits.yaml
    for key in datapipe.batch.batch_size \
        network.dense_relu_sequential.0.out_channels; do
        for n in 1e16 1e300 -1e300; do
            run -2 --separate-stderr "$CELLRUN" check "$digits" $key=$n
            [[ $stderr == *"found the number $n, expected an integer of at \
least 1 [E0006]"*"1 error" ]]
        done
    done
}

@test "a truth value is no map of keys, except for datapipe.shuffle" {
    digits=$BATS_TEST_DIRNAME/../../configs/digits.yaml
    for key in amp.overflow train.early_stop train.clip train.ema log.images \
        checkpoint.best dataset.split datapipe.batch; do
        run -2 --separate-stderr "$CELLRUN" check "$digits" $key=true
        [[ $stderr == *"'$key': found the truth value true, expected a map of keys [E0005]"* ]]
        [ $key != amp.overflow ] ||
            [[ $stderr == *"write {skip_step: true}"* ]]
    done
    # what was meant is perhaps the value of the first key
    while read -r key value hint; do
        run -2 --separate-stderr "$CELLRUN" check "$digits" "$key=$value"
        [[ $stderr == *"write $hint"*"$key takes: "*"(cellrun help $key)"* ]]
    done <<'END'
checkpoint.best accuracy {metric: accuracy}
train.early_stop loss {monitor: loss}
train.clip 1.5 {norm: 1.5}
train.ema 0.99 {decay: 0.99}
datapipe.batch 32 {batch_size: 32}
END
    run -0 "$CELLRUN" check "$digits" datapipe.shuffle=false
    run -0 "$CELLRUN" check "$digits" 'amp.overflow={skip_step: true}'
}
