# config
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_PATH
    cat >a.yaml <<'YAML'
vars: {n: 3, lr: 0.1}
seed: 7
optimizer: {SGD: {learning_rate: $lr, momentum: 0.0}}
train: {epochs: $(2*n)}
YAML
}

@test "config resolves variables and expressions" {
    run -0 --separate-stderr "$CELLRUN" config a.yaml
    [ "$output" = 'seed: 7
optimizer:
  SGD: {learning_rate: 0.1, momentum: 0.0}
train: {epochs: 6}' ]
    [ -z "$stderr" ]
}

@test "its output is the same config again, with and without defaults" {
    for flags in "" --full --minimal --origin; do
        # shellcheck disable=SC2086
        "$CELLRUN" config a.yaml $flags >b.yaml
        "$CELLRUN" config b.yaml --full >b.full
        "$CELLRUN" config a.yaml --full | diff - b.full
    done
}

@test "--origin names file and line, argument and environment" {
    CELLRUN_SET=$'train.limit=100' run -0 "$CELLRUN" config a.yaml seed=8 \
        --origin
    [[ "$output" == *"seed: 8  # "*"argument"* ]]
    [[ "$output" == *"learning_rate: 0.1  # a.yaml:3"* ]]
    [[ "$output" == *"limit: 100  # "*CELLRUN_SET* ]]
}

@test "--minimal omits defaults, --full adds them" {
    run -0 "$CELLRUN" config a.yaml --minimal
    [[ "$output" != *momentum* ]]
    [[ "$output" == *"epochs: 6"* ]]
    run -0 "$CELLRUN" config a.yaml --full
    [[ "$output" == *"keep_checkpoint_max: 5"* ]]
    [[ "$output" == *"nesterov: false"* ]]
    run -2 --separate-stderr "$CELLRUN" config a.yaml --full --minimal
    [[ "$stderr" == *"cannot be combined"* ]]
}

@test "--get prints a value, given or default" {
    run -0 "$CELLRUN" config a.yaml --get train.epochs
    [ "$output" = 6 ]
    run -0 "$CELLRUN" config a.yaml --get optimizer.learning_rate
    [ "$output" = 0.1 ]
    run -0 "$CELLRUN" config a.yaml --get optimizer
    [ "$output" = '{SGD: {learning_rate: 0.1, momentum: 0.0}}' ]
    run -0 "$CELLRUN" config a.yaml --get checkpoint.keep_checkpoint_max
    [ "$output" = 5 ]
    run -2 --separate-stderr "$CELLRUN" config a.yaml --get train.epoch
    [[ "$stderr" == *"the config has no key 'train.epoch'"* ]]
}

@test "--json" {
    run -0 "$CELLRUN" config a.yaml --json
    jq -e '. == {seed: 7, train: {epochs: 6},
        optimizer: {SGD: {learning_rate: 0.1, momentum: 0}}}' <<<"$output"
    run -0 "$CELLRUN" config a.yaml --json --full
    [ "$(jq .checkpoint.keep_checkpoint_max <<<"$output")" = 5 ]
    run -0 "$CELLRUN" config a.yaml --json --get optimizer
    [ "$(jq .SGD.learning_rate <<<"$output")" = 0.1 ]
}

@test "--diff shows what differs, key by key" {
    sed 's/seed: 7/seed: 8/; s/, momentum: 0.0//' a.yaml >b.yaml
    run -0 "$CELLRUN" config a.yaml --diff b.yaml
    [ "$output" = '- seed: 8
+ seed: 7
+ optimizer.SGD.momentum: 0.0' ]
    run -0 "$CELLRUN" config a.yaml --diff a.yaml
    [ -z "$output" ]
    run -0 "$CELLRUN" config a.yaml --diff b.yaml --json
    [ "$(jq -r '.[0].key' <<<"$output")" = seed ]
    run -2 --separate-stderr "$CELLRUN" config a.yaml --diff none.yaml
}

@test "files, environment and arguments: later wins" {
    echo 'seed: 10' >b.yaml
    run -0 "$CELLRUN" config a.yaml b.yaml --get seed
    [ "$output" = 10 ]
    CELLRUN_SET=seed=11 run -0 "$CELLRUN" config a.yaml b.yaml --get seed
    [ "$output" = 11 ]
    CELLRUN_SET=seed=11 run -0 "$CELLRUN" config a.yaml b.yaml seed=12 \
        --get seed
    [ "$output" = 12 ]
    run -0 "$CELLRUN" config a.yaml ~seed --get seed
    [ "$output" = 1 ]
}

@test "a wrong config prints no config" {
    run -2 --separate-stderr "$CELLRUN" config a.yaml train.epochs=0 sed=1
    [ -z "$output" ]
    [[ "$stderr" == *"argument 4: error: unknown key 'sed'"* ]]
    [[ "$stderr" == *"argument 3: error: 'train.epochs': found the number 0"* ]]
}

@test "a typo in an argument of a type, as the manual shows it" {
    run -2 --separate-stderr "$CELLRUN" config a.yaml \
        optimizer.SGD.learing_rate=1
    [ "${stderr_lines[0]}" = "command line, argument 3: error: unknown \
argument 'learing_rate' for SGD [E0012]" ]
    [ "${stderr_lines[1]}" = '   optimizer.SGD.learing_rate=1' ]
    [ "${stderr_lines[2]}" = \
      "                 ^^^^^^^^^^^^ did you mean 'learning_rate'?" ]
    [[ "${stderr_lines[3]}" == \
       "   SGD takes: learning_rate momentum "*"(cellrun help SGD)" ]]
}

@test "a member of a list is set by its name as by its place" {
    cat >named.yaml <<'END'
network: [Flatten, {Dense: {out_channels: 3}, name: fc}, {Dense: 4}]
END
    run -0 "$CELLRUN" config named.yaml network.fc.out_channels=5 \
        network.2.out_channels=6
    [[ "$output" == *"out_channels: 5"*"6"* ]]
    run -2 --separate-stderr "$CELLRUN" config named.yaml network.fd.out_channels=5
    [[ "$stderr" == *"'fd' is not a member of a list of 3"*"did you mean 'fc'?"* ]]
    run -2 --separate-stderr "$CELLRUN" config named.yaml network.other=ReLU
    [[ "$stderr" == *"members are 0 to 2"* ]]
    run -2 --separate-stderr "$CELLRUN" config named.yaml network.recompute=true
    [[ "$stderr" == *"next to a type: {SequentialCell: [...], recompute: ...}"* ]]
}

@test "other keys join a section's short form: a file's, an assignment's" {
    echo 'load: weights.npz' >short.yaml
    printf 'base: short.yaml\nload: {strict: false}\n' >long.yaml
    run -0 "$CELLRUN" config long.yaml
    [[ $output == *"load: {ckpt: weights.npz, strict: false}"* ]]
    run -0 "$CELLRUN" config short.yaml load.strict=false
    [[ $output == *"load: {ckpt: weights.npz, strict: false}"* ]]
    run -0 "$CELLRUN" config short.yaml load=other.npz 'load.skip=[a]'
    [[ $output == *"load: {ckpt: other.npz, skip: [a]}"* ]]
    run -0 "$CELLRUN" config long.yaml load=other.npz
    [[ $output == *"load: other.npz"* ]]
}
