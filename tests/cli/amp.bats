# Mixed precision: amp and to_float. What the numbers are stands in
# tests/golden (cases amp_*).
bats_require_minimum_version 1.5.0
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config c.yaml
}


@test "O0 is float32: the same numbers as without amp, dropout included" {
    "$CELLRUN" trace c.yaml --step=3 -o a.npz
    "$CELLRUN" trace c.yaml --step=3 amp.level=O0 -o b.npz
    cmp a.npz b.npz
    "$CELLRUN" trace c.yaml --step=3 amp.level=O2 --against a.npz --rtol 0.02 \
        --atol 0.01 # other elements dropped would show
    run ! "$CELLRUN" trace c.yaml --step=3 amp.level=O2 --against a.npz
}

@test "planned and eager plans agree in every level" {
    for level in O1 O2 O3 auto; do
        for dtype in float16 bfloat16; do
            "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=$dtype \
                --eager -o e.npz
            "$CELLRUN" trace c.yaml --grad amp.level=$level amp.dtype=$dtype \
                --against e.npz --rtol 1e-3
        done
    done
}

@test "cast puts a cell back into float32" {
    "$CELLRUN" trace c.yaml amp.level=O3 'amp.cast={float32: ["*"]}' -o a.npz
    "$CELLRUN" trace c.yaml -o b.npz
    cmp a.npz b.npz
    run --separate-stderr "$CELLRUN" check c.yaml 'amp.cast={float32: [nix]}'
    [ "$status" -eq 2 ]
    [[ $stderr == *"'nix' matches no cell"* ]]
    run --separate-stderr "$CELLRUN" check c.yaml 'amp.cast={float23: [fc]}'
    [ "$status" -eq 2 ]
    [[ $stderr == *"found 'float23', expected float32, float16 or bfloat16"* ]]
    [[ $stderr == *"did you mean 'float32'?"* ]]
}

@test "to_float and amp.level exclude each other; both places are named" {
    cat >x.yaml <<'END'
amp:
  level: O2
network:
  fc: {Dense: [4, 3], to_float: float16}
END
    run --separate-stderr "$CELLRUN" check x.yaml
    [ "$status" -eq 2 ]
    [[ $stderr == *"x.yaml:4:33: error: to_float and amp.level exclude each other"* ]]
    [[ $stderr == *"amp.level: O2      (x.yaml:2)"* ]]
}

@test "to_float: a wrong type, and a loss" {
    cat >x.yaml <<'END'
network:
  fc: {Dense: [4, 3], to_float: float8}
END
    run --separate-stderr "$CELLRUN" check x.yaml
    [ "$status" -eq 2 ]
    [[ $stderr == *"x.yaml:2:33: error: to_float takes float16, bfloat16 or float32, not 'float8'"* ]]
}
