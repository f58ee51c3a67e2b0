# trace: one batch, what flows, and how it compares.
bats_require_minimum_version 1.5.0
set -o pipefail
load tensors

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    pack 'f<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x.npy '<f4' '(4, 3)'
    pack 'l<*' 0 1 1 0 | npy y.npy '<i4' '(4,)'
    cat >net.yaml <<'END'
cellrun: 1
network:
  fc: {Dense: [3, 4]}
  act: Tanh
  out: {Dense: [4, 2]}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}
END
    feed=(--feed x=x.npy --feed label=y.npy)
}

names() {
    "$CELLRUN" ckpt ls "$1" | awk 'NR > 1 { print $1 }' | sort
}

@test "outputs of the network alone" {
    run -0 "$CELLRUN" trace net.yaml --feed x=x.npy -o o.safetensors
    [ "$(names o.safetensors | xargs)" = \
      "output output.act output.fc output.out" ]
    run -0 "$CELLRUN" ckpt ls o.safetensors
    [[ "$output" == *"output.act  F"??"    (4, 4)"* ]]
}

@test "a table without a file to write" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}"
    [ "${#lines[@]}" = 6 ]
    [[ "${lines[0]}" == tensor*shape*mean*std*min*max* ]]
    [[ "${lines[5]}" == loss*"()"* ]]
}

@test "loss, gradients, parameters and slots" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad --step \
        -o o.safetensors
    names o.safetensors >got
    for p in fc.weight fc.bias out.weight out.bias; do
        printf '%s\n' "grad.$p" "param.$p" "slot.moments.$p"
    done >want
    for c in fc act out; do
        printf '%s\n' "output.$c" "grad.output.$c"
    done >>want
    printf '%s\n' output loss grad.x >>want
    diff got <(sort want)
}

@test "the output of a parameter is that of the step, not the updated one" {
    cat >param.yaml <<'END'
cellrun: 1
network:
  cells:
    fc: {Dense: [3, 2]}
    w: {Parameter: {shape: [2], init: 0.5}}
  construct: return fc(x) * w
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.5}}
END
    run -0 "$CELLRUN" trace param.yaml "${feed[@]}" -o o.npz
    run -0 "$CELLRUN" trace param.yaml "${feed[@]}" --step -o s.npz
    run -0 "$CELLRUN" ckpt diff --match 'output*' o.npz s.npz
}

@test "the same as before, and the same op by op" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad --step=3 -o a.npz
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad --step=3 \
        --against a.npz --rtol 0 --atol 0
    [ "${lines[1]}" = "differ: 0" ]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad --step=3 --eager \
        --against a.npz
    [ "${lines[1]}" = "differ: 0" ]
}

@test "evaluation drops nothing, and has gradients too" {
    sed -i 's/^  act: Tanh/&\n  drop: {Dropout: {p: 0.5}}/' net.yaml
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --eval --grad -o e.npz
    [ "$(names e.npz | grep -c '^grad.output.')" = 4 ]
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2
    # half of the values are 0 in training: the same half each time
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --ckpt w -o t.npz
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --ckpt w --against t.npz \
        --rtol 0 --atol 0
    run -6 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --ckpt w --against t.npz --eval
    [ "${lines[2]}" = "first: output.drop" ]
    run -6 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --ckpt w --against t.npz --seed 2
    [ "${lines[2]}" = "first: output.drop" ]
}

@test "names do not depend on --eager" {
    sed -i 's/^network:/&\n  flat: Flatten/' net.yaml
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad -o a.safetensors
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad --eager \
        -o b.safetensors
    equal names a.safetensors b.safetensors
}

@test "the first tensor that differs, and by how much" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --step -o a.safetensors
    run -6 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --step optimizer.learning_rate=0.2 --against a.safetensors
    [ "${lines[0]}" = "compared: 13" ]
    [ "${lines[1]}" = "differ: 4" ]
    [ "${lines[2]}" = "first: param.fc.weight" ]
    [[ "${lines[3]}" == "largest deviation "*" at ["*"]: "*" beyond" ]]
    [[ "$stderr" == *"'param.fc.weight' is the first of 4"*"[E0403]"* ]]
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --step --atol 10 \
        optimizer.learning_rate=0.2 --against a.safetensors
}

@test "what only the reference has is a difference" {
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" -o a.safetensors
    run -6 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        --against a.safetensors --json
    [[ "$output" == *'"compared": 4, "differ": 1, "first": "loss"'* ]]
    run -0 "$CELLRUN" trace net.yaml --feed x=x.npy -o b.safetensors
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --against b.safetensors
}

@test "shapes of another kind differ" {
    run -0 "$CELLRUN" trace net.yaml --feed x=x.npy -o a.safetensors
    pack 'f<*' 1 2 3 | npy one.npy '<f4' '(1, 3)'
    run -6 --separate-stderr "$CELLRUN" trace net.yaml --feed x=one.npy \
        --against a.safetensors
    [[ "$output" == *"shape (1, 4) here, (4, 4) there"* ]]
}

@test "numpy's own types are converted" {
    pack 'd<*' 1 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x8.npy '<f8' '(4, 3)'
    pack 'q<*' 0 1 1 0 | npy y8.npy '<i8' '(4,)'
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" -o a.safetensors
    run -0 "$CELLRUN" trace net.yaml --feed x=x8.npy --feed label=y8.npy \
        --against a.safetensors --rtol 0 --atol 0
}

@test "weights from a file, all of them and no others" {
    st w.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --ckpt w -o a.npz
    run -6 "$CELLRUN" trace net.yaml "${feed[@]}" --against a.npz
    # both classes are alike then
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --ckpt w
    [[ "${lines[5]}" == "loss"*" 0.693147 "* ]]
    st other.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 x:2
    run -4 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --ckpt other
    [[ "$stderr" == *"missing    out.bias (2,)"* ]]
    [[ "$stderr" == *"unexpected x (2,)"* ]]
    st more.safetensors fc.weight:4,3 fc.bias:4 out.weight:2,4 out.bias:2 x:1
    run -4 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --ckpt more
    [[ "$stderr" == *"unexpected x (1,)"* ]]
    run -4 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --ckpt w network.out.out_channels=3
    [[ "$stderr" == *"shape      out.weight (2, 4) in the file, (3, 4) in"* ]]
    [[ "$stderr" == *"shape      out.bias (2,) in the file, (3,) in"* ]]
}

@test "wrong usage" {
    run -2 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" \
        --eval --step
    [[ "$stderr" == *"--step and --eval"*"[E0501]"* ]]
    run -2 --separate-stderr "$CELLRUN" trace net.yaml --feed x.npy
    [[ "$stderr" == *"found 'x.npy', expected COLUMN=FILE.npy"* ]]
    run -2 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        --feed x=x.npy
    [[ "$stderr" == *"duplicate column 'x'"* ]]
    run -2 --separate-stderr "$CELLRUN" trace net.yaml
    [[ "$stderr" == *"the section 'dataset' is missing: no batch to use"* ]]
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" ~optimizer --step
    run -2 "$CELLRUN" trace net.yaml --feed x=x.npy --grad
}

@test "--grad without a loss: the network's output with ones, or with --sens" {
    # CrossEntropyLoss's own gradient as --sens gives the gradients of the loss
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" --grad -o loss.npz
    run -0 "$CELLRUN" trace net.yaml "${feed[@]}" ~loss --grad -o ones.npz
    names ones.npz | grep '^grad' | xargs >got
    [ "$(cat got)" = "grad.fc.bias grad.fc.weight grad.out.bias grad.out.weight grad.output.act grad.output.fc grad.output.out grad.x" ]
    unzip -qo ones.npz grad.output.out.npy
    pack 'f<*' 1 1 1 1 1 1 1 1 | npy ones.npy '<f4' '(4, 2)'
    if [[ $("$CELLRUN" version) == *"real: float32"* ]]; then
        cmp ones.npy grad.output.out.npy
    fi
    for how in --predict "--sens ones.npy" "--sens 0=ones.npy --eager"; do
        # shellcheck disable=SC2086
        run -0 "$CELLRUN" trace net.yaml --feed x=x.npy --grad $how \
            --against ones.npz --rtol 1e-6 --atol 1e-7
    done
    unzip -qo loss.npz grad.output.out.npy
    run -0 "$CELLRUN" trace net.yaml --feed x=x.npy --grad \
        --sens grad.output.out.npy -o o.npz
    run -6 "$CELLRUN" trace net.yaml --feed x=x.npy --grad \
        --sens grad.output.out.npy --against loss.npz --rtol 0 --atol 0
    [[ "$output" == *"differ: 1"*"first: loss"* ]]
}

@test "--wrt: columns and parameters by name, by pattern and by position" {
    set -- "$CELLRUN" trace net.yaml "${feed[@]}" --grad
    run -0 "$@" -o all.npz freeze.patterns='fc.*'
    [[ "$(names all.npz | xargs)" != *grad.fc.* ]]
    run -0 "$@" -o ref.npz
    for wrt in x 0 'fc.*' '/bias$/' 'x out.weight' '*'; do
        # a frozen parameter too
        run -0 "$@" --wrt "$wrt" -o o.npz freeze.patterns='fc.*'
        names o.npz | grep -v '^grad.output\|^output\|^loss' | xargs
        run -0 "$CELLRUN" ckpt diff o.npz ref.npz --match 'grad.[xfo]*.?* grad.x'
    done >got
    diff got - <<'END'
grad.x
grad.x
grad.fc.bias grad.fc.weight
grad.fc.bias grad.out.bias
grad.out.weight grad.x
grad.fc.bias grad.fc.weight grad.out.bias grad.out.weight grad.x
END
    run -0 "$@" --as-run --wrt x -o o.npz
    [ "$(names o.npz | xargs)" = "grad.x loss output" ]
    run -0 "$CELLRUN" ckpt diff o.npz ref.npz --match grad.x
}

@test "--wrt and --sens that will not do" {
    set -- "$CELLRUN" trace net.yaml "${feed[@]}" --grad
    run -2 --separate-stderr "$@" --wrt fc.wieght
    [[ "$stderr" == *"pattern 'fc.wieght' matches no column or parameter"*"closest: fc.weight"* ]]
    run -2 --separate-stderr "$@" --wrt 1
    [[ "$stderr" == *"found input 1, expected 0 to 0: the network has 1 input [E0501]"* ]]
    run -2 --separate-stderr "$@" --wrt label
    [[ "$stderr" == *"found column 'label' of type int32, expected float32"* ]]
    run -2 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" --wrt x
    [[ "$stderr" == *"give --grad too"* ]]
    run -2 --separate-stderr "$@" --sens x.npy
    [[ "$stderr" == *"--sens: found (4, 3), expected (4, 2), the shape of the network's output"* ]]
    run -2 --separate-stderr "$@" --sens 1=x.npy
    [[ "$stderr" == *"found output 1, expected 0 to 0"* ]]
    run -2 --separate-stderr "$@" --sens x.npy --step
    [[ "$stderr" == *"--sens and --step"* ]]
    run -0 --separate-stderr "$@" --wrt spare --feed spare=x.npy \
        network.inputs='[x]' \
        metrics='[{name: m, inputs: [y, spare], construct: return mean(y)}]'
    [[ "$stderr" == *"no gradient arrives at column 'spare'"* ]]
    sed 's/^  fc:/  inputs: [x]\n  cells:\n    fc:/; s/^  \(act\|out\):/    \1:/
        s/^loss.*/  construct: |\n    h = act(fc(x))\n    return out(h), h/' \
        net.yaml >two.yaml
    pack 'f<*' 1 1 1 1 1 1 1 1 | npy s.npy '<f4' '(4, 2)'
    run -2 --separate-stderr "$CELLRUN" trace two.yaml --feed x=x.npy --grad \
        --sens s.npy
    [[ "$stderr" == *"the network has 2 outputs, expected one array for each: --sens 0=FILE.npy"* ]]
    run -2 --separate-stderr "$CELLRUN" trace two.yaml --feed x=x.npy --grad \
        --sens 0=s.npy
    [[ "$stderr" == *"not set for output 1"* ]]
}

@test "data that will not do" {
    run -3 "$CELLRUN" trace net.yaml --feed x=nothing.npy
    printf 'hello' >bad.npy
    run -3 "$CELLRUN" trace net.yaml --feed x=bad.npy
    pack 'l<*' 0 1 2 0 | npy two.npy '<i4' '(4,)'
    run -3 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        --feed label=two.npy
    [[ "$stderr" == *"[E0204]"* ]]
    pack 'l<*' 0 1 | npy short.npy '<i4' '(2,)'
    run -3 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        --feed label=short.npy
    [[ "$stderr" == *"found 2 rows, expected 4 as in the previous column"* ]]
    pack 'f<*' 1 | npy none.npy '<f4' '()'
    run -3 "$CELLRUN" trace net.yaml --feed x=none.npy
    pack 'q<*' 0 1 5000000000 0 | npy big.npy '<i8' '(4,)'
    run -3 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        --feed label=big.npy
    [[ "$stderr" == *"element 2 is 5000000000, which does not fit 32 bits"* ]]
}

@test "references that will not do" {
    run -4 "$CELLRUN" trace net.yaml --feed x=x.npy --against nothing
    run -4 "$CELLRUN" trace net.yaml --feed x=x.npy --against net.yaml
    run -1 --separate-stderr "$CELLRUN" trace net.yaml --feed x=x.npy \
        -o nowhere/a.npz
    [[ "$stderr" == *"nowhere/a.npz: error: "*"[E0602]"* ]]
}

@test "the gradients of a loss that is not finite are computed, all of them" {
    pack 'f<*' inf 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x.npy '<f4' '(4, 3)'
    run -0 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" --grad \
        --json network.act='!replace {Identity: {}}'
    [[ "$stderr" == *"the loss is not finite at step 1; the first output that is not finite: fc (Dense): training would end"* ]]
    jq -e 'map(select(.name | startswith("grad."))) | length == 8 and
        all(.not_finite > 0)' <<<"$output"
}

@test "an update that cannot be made" {
    pack 'f<*' inf 2 3 -1 0.5 0 0 -2 1 4 1 -1 | npy x.npy '<f4' '(4, 3)'
    run -5 --separate-stderr "$CELLRUN" trace net.yaml "${feed[@]}" --step \
        network.act='!replace {Identity: {}}'
    [[ "$stderr" == *"not finite at step 1; the first output that is not finite: "*"[E0401]"* ]]
}

@test "the first batch of the data, and a checkpoint as config" {
    cat >>net.yaml <<'END'
dataset:
  train:
    NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 2}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" trace net.yaml -o a.npz
    run -0 "$CELLRUN" ckpt ls a.npz
    [[ "$output" == *"output.fc"*"(2, 4)"* ]]
    run -0 "$CELLRUN" train net.yaml -q -o run
    run -0 "$CELLRUN" trace run --step -o b.npz
    run -0 "$CELLRUN" trace net.yaml --ckpt run --step -o c.npz
    run -0 "$CELLRUN" ckpt diff b.npz c.npz
    # slots continued: without them the update is another one
    run -0 "$CELLRUN" ckpt ls run --json
    run -6 "$CELLRUN" trace net.yaml --step --against c.npz
    mkdir other && cd other
    run -0 "$CELLRUN" trace ../run --step --against ../b.npz --atol 0 --rtol 0
}

# A block in a block, called twice; tuples in tuples; a recurrent cell.
nested() {
    cat >nested.yaml <<'E'
cellrun: 1
vars: {twice: 2.0}
blocks:
  Two:
    cells: {a: {Dense: {out_channels: 3}}, b: {Dense: {out_channels: 2}}}
    construct: return a(x), b(x)
  Wrap:
    cells: {two: Two}
    construct: |
      p, q = two(x)
      r, s = two(x * $twice)
      return p, (q, r)
  Dist:
    inputs: [p, rest, label]
    construct: return mean(square(p)) + mean(square(rest[0])) + mean(rest[1]) + mean(label)
network:
  inputs: {x: {shape: [3]}}
  cells:
    wrap: Wrap
    lstm: {LSTM: {input_size: 3, hidden_size: 5, batch_first: true}}
  construct: |
    t = wrap(x)
    h = lstm(expand_dims(x, 1))
    return t[0] + mean(h[0]), t[1]
loss: Dist
E
}

@test "tuples, members of tuples, cells called twice" {
    nested
    run -0 "$CELLRUN" trace nested.yaml --feed x=x.npy --feed label=x.npy \
        --grad -o o.npz
    cat >want <<'E'
grad.output.lstm#.0
grad.output.wrap#.0
grad.output.wrap#.1.0
grad.output.wrap#.1.1
grad.output.wrap.two#.0
grad.output.wrap.two#.1
grad.output.wrap.two#2.0
grad.output.wrap.two.a
grad.output.wrap.two.a#2
grad.output.wrap.two.b
output#.0
output#.1.0
output#.1.1
output.lstm#.0
output.lstm#.1.0
output.lstm#.1.1
output.wrap#.0
output.wrap#.1.0
output.wrap#.1.1
output.wrap.two#.0
output.wrap.two#.1
output.wrap.two#2.0
output.wrap.two#2.1
output.wrap.two.a
output.wrap.two.a#2
output.wrap.two.b
output.wrap.two.b#2
E
    names o.npz | grep output | LC_ALL=C sort | diff want -
    run -0 "$CELLRUN" trace nested.yaml --feed x=x.npy --feed label=x.npy \
        --grad --eager --against o.npz --rtol 0 --atol 0
    [ "${lines[1]}" = "differ: 0" ]
    # the members are the values themselves, in every plan
    run -0 "$CELLRUN" trace nested.yaml --feed x=x.npy --json
    for pair in "wrap#.1.1 wrap.two.a#2" "wrap#.1.0 wrap.two.b" \
        "wrap.two#2.1 wrap.two.b#2"; do
        a=$(grep -oP "output.${pair% *}\", \K[^}]*" <<<"$output")
        b=$(grep -oP "output.${pair#* }\", \K[^}]*" <<<"$output")
        [ -n "$a" ]
        [ "$a" = "$b" ]
    done
}

@test "the first cell of a graph that differs" {
    nested
    feed=(--feed x=x.npy --feed label=x.npy)
    run -0 "$CELLRUN" trace nested.yaml "${feed[@]}" --grad -o o.npz
    # the second call of one cell inside of a block
    run -6 --separate-stderr "$CELLRUN" trace nested.yaml "${feed[@]}" \
        --grad vars.twice=2.5 --against o.npz
    [ "${lines[2]}" = "first: output.wrap.two.a#2" ]
    # another loss: all outputs are the same, then the loss comes
    run -6 --separate-stderr "$CELLRUN" trace nested.yaml "${feed[@]}" \
        --grad --against o.npz \
        blocks.Dist.construct='return mean(p) + mean(rest[0]) + mean(label)'
    [ "${lines[2]}" = "first: loss" ]
}

@test "--print: the values of a cell, as NumPy prints them" {
    cd "$BATS_TEST_TMPDIR"
    cat >values.yaml <<'END'
network:
  inputs: {x: {shape: [3]}}
  cells:
    a: {Dense: {out_channels: 2, weight_init: 0.5, has_bias: false}}
    b: {Dense: {out_channels: 1, weight_init: 1, has_bias: false}}
  construct: return b(a(x))
END
    { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
      perl -e 'print pack "f<*", 1, 2, 3, 0.25, 0, 0'; } >v.npy
    type=Float32
    if "$CELLRUN" version | grep float64 >/dev/null; then type=Float64; fi
    "$CELLRUN" trace values.yaml --feed x=v.npy --print a >got
    diff got - <<END
output.a: Tensor(shape=[2, 2], dtype=$type, value=
[[3.    3.   ]
 [0.125 0.125]])
END
    run -0 "$CELLRUN" trace values.yaml --feed x=v.npy --print network
    [ "$output" = "output: Tensor(shape=[2, 1], dtype=$type, value=
[[6.  ]
 [0.25]])" ]
    run -0 "$CELLRUN" trace values.yaml --feed x=v.npy --print a --grad
    [[ "$output" == *"grad.a.weight: Tensor(shape=[2, 3], dtype=$type, value="* ]]
    [[ "$output" != *"output.b"* ]]
    run -2 "$CELLRUN" trace values.yaml --feed x=v.npy --print c
    [[ "$output" == *"--print: cell 'c' not found"* ]]
}

@test "--feed: a column that neither network nor loss takes is an error" {
    cat >in.yaml <<'END'
network:
  inputs: [image, size]
  construct: return image * size
loss: {inputs: [y, goal], construct: return mean(y - goal)}
END
    run -2 "$CELLRUN" trace in.yaml --feed imgae=x.npy --feed size=x.npy
    [[ "$output" == *"--feed: unknown column 'imgae'; the network uses image, size [E0501]"*"did you mean 'image'?"* ]]
    run -2 "$CELLRUN" gradcheck in.yaml --feed image=x.npy --feed size=x.npy \
        --feed gaol=x.npy
    [[ "$output" == *"unknown column 'gaol'"*"did you mean 'goal'?"* ]]
    "$CELLRUN" trace in.yaml --feed image=x.npy --feed size=x.npy \
        --feed goal=x.npy
}

@test "-o -: the tensors go to a pipe, by --to, and to no terminal" {
    local to
    for to in safetensors npz ckpt; do
        "$CELLRUN" trace net.yaml "${feed[@]}" -o "o.$to"
        "$CELLRUN" trace net.yaml "${feed[@]}" --to "$to" -o - | cmp - "o.$to"
    done
    "$CELLRUN" trace net.yaml "${feed[@]}" -o - | cmp - o.safetensors
    [ ! -e ./- ]
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" -o - --json
    run -2 "$CELLRUN" trace net.yaml "${feed[@]}" -o - --print fc
    [[ $output == *"--print and -o - both write to standard output"* ]]
    run -2 script -qec "'$CELLRUN' trace net.yaml ${feed[*]} -o -" /dev/null
    [[ $output == *"-o -: standard output is a terminal, expected a file or a pipe"* ]]
    run -1 bash -c "'$CELLRUN' trace net.yaml ${feed[*]} -o - >/dev/full"
    [[ $output == *"cannot write standard output: No space left on device"* ]]
}

@test "the input of a norm over one number has no gradient, not even rounding" {
    cat >c.yaml <<'END'
network:
  inputs: {x: {shape: [48]}}
  cells:
    w: {Parameter: {shape: [48], init: {Normal: {sigma: 1.0}}}}
    b: {Parameter: {shape: [48], init: {Normal: {sigma: 1.0}}}}
    s: {Parameter: {shape: [48], init: {Normal: {sigma: 1.0}}}}
    n: {BatchNorm1d: {use_batch_statistics: true}}
  construct: |
    y = group_norm(x, 48, w, b) + w * n(x)
    return sum(tanh(y) * s)
END
    pack 'f<*' $(seq -2.4 0.1 2.3) | npy one.npy '<f4' '(1, 48)'
    "$CELLRUN" trace c.yaml -q --feed x=one.npy --grad --wrt x >table
    awk '$1 == "grad.x" { print $4, $5, $6, $7 }' table >got
    [ "$(<got)" = "0 0 0 0" ] || { cat table; false; }
}
