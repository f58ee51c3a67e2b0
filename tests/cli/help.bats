# help
bats_require_minimum_version 1.5.0
set -o pipefail

@test "the overview names every verb and section" {
    run -0 --separate-stderr "$CELLRUN" help
    [[ "${lines[0]}" == "cellrun trains"* ]]
    for verb in $(sed -n 's/^CR_VERB(\(.*\))/\1/p' src/registry.def |
            tr _ -); do
        grep -q "^  $verb " <<<"$output"
    done
    for name in $(sed -n 's/^CR_SECTION(\(.*\))/\1/p' src/registry.def); do
        grep -q "^  $name " <<<"$output"
    done
    [ -z "$stderr" ]
}

@test "no line of help is wider than a terminal" {
    for name in "" train config environment codes SGD Dense cells; do
        run -0 "$CELLRUN" help $name
        [ "$(awk 'length > 80' <<<"$output" | wc -l)" -eq 0 ]
    done
}

@test "help on a type shows arguments with defaults and ranges" {
    run -0 "$CELLRUN" help SGD
    [[ "${lines[0]}" == "SGD (optimizer): "* ]]
    [[ "$output" == *"arguments, in order"*"learning_rate"*"momentum"* ]]
    [[ "$output" == *"a number of at least 0"*"default 0"* ]]
    [[ "$output" == *"example"* ]]
}

@test "a name that is several things shows all of them" {
    run -0 "$CELLRUN" help train
    [[ "$output" == *"usage: cellrun train FILE"* ]]
    [[ "$output" == *"train (section): "* ]]
}

@test "help on a key, by its path and by its name" {
    run -0 "$CELLRUN" help train.epochs
    [[ "${lines[0]}" == "train.epochs: "* ]]
    run -0 "$CELLRUN" help learning_rate
    [[ "$output" == *"SGD.learning_rate: "* ]]
    [[ "$output" == *"Momentum.learning_rate: "* ]]
}

@test "help on a word of the language" {
    run -0 "$CELLRUN" help
    [[ "$output" == *"cellrun-config(5)"* ]]
    for word in base vars blocks bprop inputs construct when repeat only \
        to_float share hook_backward warmup; do
        run -0 "$CELLRUN" help $word
        [ "${lines[0]}" = "$word (word of the language)" ]
    done
    # a word may be a key too
    run -0 "$CELLRUN" help construct
    [[ "$output" == *"watch.construct: "* ]]
    run -0 "$CELLRUN" help words
    [[ "$output" == *"  when "* ]]
    run -2 --separate-stderr "$CELLRUN" help bpropp
    [[ "$stderr" == *"did you mean 'bprop'?"* ]]
}

@test "help on a code of a message" {
    run -0 "$CELLRUN" help E0012
    [ "${lines[0]}" = "E0012: unknown argument for a type" ]
    [ "${lines[-1]}" = "exit status 2" ]
}

@test "every code has help" {
    run -0 "$CELLRUN" help codes
    for code in $(cut -c3-7 <<<"$output" | grep ^E); do
        run -0 "$CELLRUN" help "$code"
    done
}

@test "help environment shows the present values" {
    CELLRUN_DATA=/some/where run -0 "$CELLRUN" help environment
    [[ "$output" == *"CELLRUN_DATA"*"now: /some/where"* ]]
    unset CELLRUN_RUNS
    run -0 "$CELLRUN" help environment
    [[ "$output" == *"CELLRUN_RUNS"* ]]
}

@test "help exit lists the statuses" {
    run -0 "$CELLRUN" help exit
    [[ "$output" == *"  75 "* ]]
}

@test "every name of the registry has help" {
    run -0 "$CELLRUN" help --json
    for name in $(jq -r '.[].name' <<<"$output"); do
        "$CELLRUN" help "$name" >/dev/null
    done
}

@test "help --json has the rows" {
    run -0 "$CELLRUN" help SGD --json
    [ "$(jq -r '.[0].kind' <<<"$output")" = optimizer ]
    [ "$(jq -r '.[0].options[0].name' <<<"$output")" = learning_rate ]
}

@test "no help: a suggestion" {
    run -2 --separate-stderr "$CELLRUN" help Dens
    [[ "$stderr" == *"no help on 'Dens'"* ]]
    [[ "$stderr" == *"did you mean 'Dense'?"* ]]
    run -2 --separate-stderr "$CELLRUN" help --man nothing
}
