# `bprop` next to `construct`: gradients that the config writes out.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
}

# net FILE: the config of small.bash with the network and blocks on stdin
net() {
    config base.yaml
    { echo "base: base.yaml"; cat; } >"$1"
}

# two NAME...: the same layer with MindSpore's gradient and with its own
own() {
    net plain.yaml <<'END'
network: !replace
  cells: {a: {Dense: {out_channels: 16}}, b: {Dense: {out_channels: 3}}}
  construct: |
    return b(tanh(a(x)))
END
    net own.yaml <<'END'
blocks:
  Tanh2:
    construct: return tanh(x)
    bprop: return dout * (1 - out * out)
network: !replace
  cells: {a: {Dense: {out_channels: 16}}, t: Tanh2, b: {Dense: {out_channels: 3}}}
  construct: |
    return b(t(a(x)))
END
}

@test "the gradient that construct has anyway trains to the same losses" {
    own
    for name in plain own; do
        "$CELLRUN" train $name.yaml -q -o $name "log.every=1 steps" >/dev/null
        jq -r 'select(.split == "train") | .loss' $name/metrics.jsonl >$name.losses
    done
    [ "$(wc -l <own.losses)" -ge 10 ]
    paste plain.losses own.losses | awk '{ d = $1 - $2
        if (d * d > 1e-10 * $1 * $1) { print; bad = 1 } } END { exit bad }'
    run -0 "$CELLRUN" gradcheck own.yaml
}

@test "gradcheck finds a wrong gradient" {
    own
    sed -i 's/1 - out/1 + out/' own.yaml
    run ! "$CELLRUN" gradcheck own.yaml
    [[ "$output" == *a.weight* ]]
    [[ "$output" == *DIFFERS* ]]
}

@test "an interrupted run resumes to the same bytes, with any threads" {
    own
    "$CELLRUN" train own.yaml -q -o whole train.epochs=2 --threads 1 >/dev/null
    "$CELLRUN" train own.yaml -q -o half train.epochs=1 --threads 2 >/dev/null
    "$CELLRUN" resume half train.epochs=2 -q >/dev/null
    run -0 "$CELLRUN" ckpt diff whole half --json
    [[ "$output" == *'"same": true'* ]]
    [[ "$output" != *'"same": false'* ]]
}

@test "a parameter that bprop omits is not trained, and summary says why" {
    net left.yaml <<'END'
network: !replace
  cells:
    a: {Dense: {out_channels: 16}}
    cut:
      cells: {f: {Dense: {out_channels: 16, has_bias: false}}}
      construct: return f(x)
      bprop: return dout
    b: {Dense: {out_channels: 3}}
  construct: return b(cut(a(x)))
END
    run -0 "$CELLRUN" summary left.yaml
    [[ "$output" == *"not trained: cut.f.weight: cut off by bprop at left.yaml:8:14"* ]]
    [[ "$output" != *"not trained: a.weight"* ]]
    net named.yaml <<'END'
network: !replace
  cells:
    a: {Dense: {out_channels: 16}}
    cut:
      cells: {f: {Dense: {out_channels: 16, has_bias: false}}}
      construct: return f(x)
      bprop: |
        return dout, {f.weight: transpose(dout, (1, 0)) @ x}
    b: {Dense: {out_channels: 3}}
  construct: return b(cut(a(x)))
END
    run -0 "$CELLRUN" summary named.yaml
    [[ "$output" != *"not trained"* ]]
}

@test "an input that gets None gets no gradient" {
    net none.yaml <<'END'
network: !replace
  cells:
    a: {Dense: {out_channels: 3}}
    stop: {construct: return x * 2, bprop: return None}
    b: {Dense: {out_channels: 3}}
  construct: return b(stop(a(x)))
END
    run -0 "$CELLRUN" summary none.yaml
    [[ "$output" == *"not trained: a.weight: cut off by bprop at none.yaml:"* ]]
    [[ "$output" != *"not trained: b.weight"* ]]
}

# wrong BPROP [CONSTRUCT]: what check says of a cell of one input and a w
wrong() {
    {
        printf 'network:\n  inputs: {x: {shape: [3]}}\n'
        printf '  cells: {w: {Parameter: {shape: [3], init: One}}}\n'
        printf '  construct: %s\n  bprop: |\n    %s\n' \
            "${2:-return x * w}" "$1"
    } >wrong.yaml
    run -2 --separate-stderr "$CELLRUN" check wrong.yaml
    [ -z "$output" ]
}

@test "wrong gradients are refused at their position" {
    wrong 'return dout, dout'
    [[ "$stderr" == "wrong.yaml:6:12: error: bprop returns 2 gradients, but the cell has 1 input "* ]]
    wrong 'return sum(dout)'
    [[ "$stderr" == "wrong.yaml:6:12: error: gradient of 'x': found float"*" (), expected float"*" (1, 3) "* ]]
    wrong 'return dout > 0'
    [[ "$stderr" == "wrong.yaml:6:12: error: gradient of 'x': found bool (1, 3), expected "* ]]
    wrong 'return 1'
    [[ "$stderr" == "wrong.yaml:6:12: error: gradient of 'x': expected a tensor (1, 3) or None, found 1 "* ]]
    wrong 'return dot * w'
    [[ "$stderr" == "wrong.yaml:6:12: error: 'dot' is not defined "* ]]
    [[ "$stderr" == *"did you mean 'dout'?"* ]]
    wrong 'y = dout'
    [[ "$stderr" == "wrong.yaml:6:5: error: the last line must be 'return EXPRESSION' "* ]]
}

@test "wrong maps of parameters are refused" {
    wrong 'return dout, {v: dout}'
    [[ "$stderr" == "wrong.yaml:6:22: error: the cell has no parameter 'v' "* ]]
    wrong 'return dout, {w: dout}'
    [[ "$stderr" == "wrong.yaml:6:22: error: gradient of 'w': found float"*" (1, 3), expected float"*" (3,) "* ]]
    wrong 'return dout, {w: None, w: None}'
    [[ "$stderr" == *"error: duplicate argument 'w' "* ]]
    wrong 'return dout, {w: dout'
    [[ "$stderr" == *"error: the line ends here, expected ',' or '}' "* ]]
    wrong 'return dout, {1: dout}'
    [[ "$stderr" == *"error: found '1', expected a parameter's name or '}' "* ]]
    wrong 'return dout' 'return {w: x}'
    [ "$status" -eq 2 ]
}

@test "bprop is next to construct, and may not use a name defined there" {
    printf 'network:\n  inputs: {x: {shape: [3]}}\n  bprop: return dout\n' >a.yaml
    run -2 --separate-stderr "$CELLRUN" check a.yaml
    [[ "$stderr" == "a.yaml:3:10: error: 'bprop' requires 'construct' next to it "* ]]
    printf 'network:\n  inputs: {out: {shape: [3]}}\n  construct: return out\n  bprop: return dout\n' >b.yaml
    run -2 --separate-stderr "$CELLRUN" check b.yaml
    [[ "$stderr" == *"error: an input of a cell with bprop cannot be called 'out' "* ]]
    printf 'network:\n  inputs: {x: {shape: [3]}}\n  construct: return x\n  bprop: [x]\n' >c.yaml
    run -2 --separate-stderr "$CELLRUN" check c.yaml
    [[ "$stderr" == "c.yaml:4:10: error: bprop: expected a text of lines, found "* ]]
}

@test "a cell of two inputs in a list is refused" {
    printf 'network:\n- {Dense: [3, 3]}\n- {inputs: [a, b], construct: return a + b}\n' >list.yaml
    run -2 --separate-stderr "$CELLRUN" check list.yaml
    [[ "$stderr" == "list.yaml:3:3: error: the cell: expected 2 inputs (a, b), found 1 "* ]]
}

@test "gradcheck reports a parameter that bprop omits" {
    net lost.yaml <<'END'
blocks:
  Scaled:
    cells: {w: {Parameter: {shape: [3]}}}
    construct: return x * w
    bprop: return dout * w
network: !replace
  cells: {a: {Dense: {out_channels: 3}}, s: Scaled}
  construct: return s(a(x))
END
    run -0 "$CELLRUN" gradcheck lost.yaml
    [[ "$output" == *"s.w "*" - "*" - "*"gets no gradient: cut off by bprop at \
lost.yaml:"* ]]
    run -0 "$CELLRUN" gradcheck lost.yaml --json
    [ "$(jq -c '.params[] | select(.name == "s.w") | [.norm, .agrees]' \
        <<<"$output")" = "[null,true]" ]
}

@test "bprop reads a result that the network does not, in low precision too" {
    net two.yaml <<'END'
blocks:
  Two:
    construct: return tanh(x), x * x
    bprop: |
      g, h = dout
      return g * (1 - out[0] * out[0]) + 0.1 * g * out[1] + 2 * h * x
network: !replace
  cells: {a: {Dense: {out_channels: 16}}, t: Two, b: {Dense: {out_channels: 3}}}
  construct: |
    y, _ = t(a(x))
    return b(y)
END
    "$CELLRUN" trace two.yaml --grad -o plain.npz
    for amp in 'level: O1' 'level: O2' 'level: O3' 'level: auto' \
        'level: O2, dtype: bfloat16'; do
        amp="{$amp, loss_scale: {DynamicLossScaleManager: {init_loss_scale: 1}}}"
        CELLRUN_VERIFY=1 "$CELLRUN" trace two.yaml --grad -o low.npz \
            "amp=$amp" --against plain.npz --rtol 0.03 --atol 0.03
        for how in '' --eager; do
            CELLRUN_VERIFY=1 "$CELLRUN" train two.yaml -q "amp=$amp" -o run \
                --force --steps 3 $how >/dev/null
        done
    done
}
