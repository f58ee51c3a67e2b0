# State of a construct: assign(NAME, value).
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config base.yaml
    cat >net.yaml <<'END'
base: base.yaml
network: !replace
  fc: {Dense: [8, 16]}
  bn: {BatchNorm1d: {momentum: 0.9}}
  count:
    cells:
      steps: {Parameter: {shape: [], requires_grad: false}}
      mean: {Parameter: {shape: [16], init: Zero, requires_grad: false}}
      act: ReLU
    construct: |
      assign(steps, steps + 1)
      assign(mean, mean * 0.9 + 0.1 * x.mean(0))
      return act(x) + 0 * steps
  out: {Dense: [16, 3]}
END
}

# number TENSOR RUN: its values, as JSON
number() {
    "$CELLRUN" ckpt show --values "$1" --json "$2" | jq -ec ".\"$1\""
}

@test "assign counts the steps, and follows a mean as BatchNorm does" {
    # before bn, whose moving mean is that of the same values
    sed -i 's/^  bn: .*//; s/^  out:/  bn: {BatchNorm1d: {momentum: 0.9}}\n  out:/' net.yaml
    sed -i 's/return act(x) + 0 \* steps/return same(x)/; s/act: ReLU/same: Identity/' net.yaml
    "$CELLRUN" train net.yaml -q -o run train.epochs=2
    [ "$(number count.steps run)" = 38 ]
    jq -ne --argjson a "$(number count.mean run)" \
        --argjson b "$(number bn.moving_mean run)" \
        '[$a, $b] | transpose | all(.[0] - .[1] | fabs < 1e-6)'
    jq -ne --argjson a "$(number count.mean run)" '$a | any(fabs > 0.01)'
}

@test "state of a run that was resumed, and of one op by op, has the same bytes" {
    "$CELLRUN" train net.yaml -q -o whole train.epochs=2
    "$CELLRUN" train net.yaml -q -o part train.epochs=1
    "$CELLRUN" resume part -q train.epochs=2
    "$CELLRUN" train net.yaml -q -o eager train.epochs=2 --eager
    for other in part eager; do
        run -0 "$CELLRUN" ckpt diff whole $other --json --match 'count.*'
        [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    done
}

@test "state moves with every micro-batch of an update" {
    "$CELLRUN" train net.yaml -q -o run train.steps=3 train.grad_accumulation=4
       
    [ "$(number count.steps run)" = 12 ]
}

@test "evaluation and prediction leave state alone, and read it" {
    "$CELLRUN" train net.yaml -q -o run train.steps=5
    before=$(number count.steps run)
    [ "$before" = 5 ]
    "$CELLRUN" eval net.yaml --ckpt run
    [ "$(number count.steps run)" = 5 ]
    cat >read.yaml <<'END'
network:
  inputs: {x: {shape: [2]}}
  cells: {n: {Parameter: {shape: [2], init: One, requires_grad: false}}, a: Identity}
  construct: |
    assign(n, n + x[0])
    assign(n, n * 10)
    return a(x) * 0 + n
loss: {inputs: [y], construct: return mean(y)}
optimizer: {SGD: {learning_rate: 0.1}}
END
    perl -e 'print pack "f<*", 1, 2, 3, 4' | npy x.npy '<f4' '(2, 2)'
    for flag in "" --eager --as-run; do
        # the value before, twice; the last assign counts
        "$CELLRUN" trace read.yaml --feed x=x.npy $flag -q --step -o out.npz
        [ "$(number output out.npz)" = "[[1,1],[1,1]]" ]
        [ "$(number param.n out.npz)" = "[10,10]" ]
        "$CELLRUN" trace read.yaml --feed x=x.npy $flag -q --step=3 -o out.npz
        [ "$(number param.n out.npz)" = "[1000,1000]" ]
    done
    "$CELLRUN" trace read.yaml --feed x=x.npy --predict -q -o out.npz
    [ "$(number output out.npz)" = "[[1,1],[1,1]]" ]
}

@test "a step that is skipped leaves state where it was" {
    sed -i 's|return act(x) + 0 \* steps|return act(x) / where(steps == 3, 0.0, 1.0)|' net.yaml
    run -0 "$CELLRUN" train net.yaml -q -o run train.steps=8 train.nan=skip
    # from the fourth step on each is skipped: 3 are done
    [ "$(number count.steps run)" = 3 ]
}

# wrong CELLS LINE TEXT
wrong() {
    cat >wrong.yaml <<END
network:
  inputs: {x: {shape: [6]}}
  cells: {fc: {Dense: {out_channels: 6}}, $1}
  construct: |
    $2
    return fc(x)
END
    run -2 --separate-stderr "$CELLRUN" check wrong.yaml
    [[ "$stderr" == *"$3"* ]] || { echo "$stderr"; return 1; }
}

@test "wrong ones" {
    local w='w: {Parameter: {shape: [6], requires_grad: false}}'
    wrong "${w/requires_grad: false/init: One}" "assign(w, x[0])" \
        "assign: found 'w', expected a member of cells that is a Parameter with requires_grad: false"
    wrong "$w" "assign(fc, x[0])" "assign: found 'fc', expected"
    wrong "$w" "assign(w, x)" "assign: found a value (1, 6), but 'w' is (6,)"
    wrong "$w" "assign(w)" "assign: expected a name and a value"
    wrong "$w" "y = assign(w, x[0])" "assign(...) returns no value: write it on its own line"
}

@test "a constant that nothing assigns is saved, and never trained" {
    cat >const.yaml <<'END'
base: net.yaml
network: !replace
  cells:
    fc: {Dense: [8, 3]}
    scale: {Parameter: {shape: [3], init: One, requires_grad: false}}
  construct: return fc(x) * scale
END
    "$CELLRUN" train const.yaml -q -o run train.epochs=1
    [ "$(number scale run)" = "[1,1,1]" ]
    "$CELLRUN" summary const.yaml | grep '^not trained: scale: requires_grad is false$'
}
