# completion
bats_require_minimum_version 1.5.0
set -o pipefail

# The completions of a line whose last word is being typed.
completions() {
    bash -c '
        compopt() { :; }
        source <("$CELLRUN" completion bash)
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _cellrun
        printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

@test "bash accepts the script" {
    run -0 bash -o pipefail -c '"$CELLRUN" completion bash | bash -n'
    [ -z "$output" ]
}

@test "bash completes commands" {
    run -0 completions cellrun tr
    [[ "$output" == *train* ]]
    [[ "$output" == *trace* ]]
    [[ "$output" != *help* ]]
}

@test "bash completes flags of the command and of every command" {
    run -0 completions cellrun config --or
    [ "$output" = --origin ]
    run -0 completions cellrun config --js
    [ "$output" = --json ]
}

@test "bash completes keys and files" {
    cd "$BATS_TEST_TMPDIR"
    touch trees.yaml
    run -0 completions cellrun train tr
    [[ "$output" == *train.epochs=* ]]
    [[ "$output" == *trees.yaml* ]]
}

@test "bash completes what help knows" {
    run -0 completions cellrun help Dens
    [ "$output" = Dense ]
}

@test "zsh and fish scripts name every command" {
    for shell in zsh fish; do
        run -0 "$CELLRUN" completion $shell
        for command in $(sed -n 's/^CR_COMMAND(\(.*\))/\1/p' src/registry.def |
            tr _ -); do
            [[ "$output" == *"$command"* ]]
        done
        # a shell that is here must accept its script
        if command -v $shell >/dev/null; then
            "$CELLRUN" completion $shell | $shell -n
        fi
    done
}

@test "another shell is refused" {
    run -2 --separate-stderr "$CELLRUN" completion tcsh
    [[ "$stderr" == *"found 'tcsh', expected bash, zsh or fish"* ]]
}
