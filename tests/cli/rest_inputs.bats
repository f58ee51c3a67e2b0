# `inputs: ["*args"]`: cells of any number of inputs, as Python's *args.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash
load tensors.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
}

# two: named.yaml, of two input columns, and rest.yaml, which has *NAME where
# the other has names
two() {
    config base.yaml
    cat >named.yaml <<'END2'
base: base.yaml
dataset: !replace
  train: {NumpySlicesDataset: {data: [train-x.npy, train-x.npy, train-y.npy], column_names: [left, right, label]}}
  eval: {NumpySlicesDataset: {data: [eval-x.npy, eval-x.npy, eval-y.npy], column_names: [left, right, label]}}
blocks:
  Body:
    inputs: [a, b]
    cells: {fc: {Dense: {out_channels: 16}}, act: ReLU}
    construct: return act(fc(a - 0.5 * b))
network: !replace
  inputs: [left, right]
  cells: {body: Body, out: {Dense: {out_channels: 3}}}
  construct: return out(body(left, right))
loss: !replace
  inputs: [logits, label]
  construct: return cross_entropy(logits, label)
metrics: [accuracy, loss, {name: ce, inputs: [logits, label], construct: "return cross_entropy(logits, label)"}]
END2
    sed 's/inputs: \[a, b\]/inputs: ["*args"]/
        s/fc(a - 0.5 \* b)/fc(args[0] - 0.5 * args[-1])/
        s/inputs: \[left, right\]/inputs: ["*cols"]/; s/(left, right)/(*cols)/
        s/inputs: \[logits, label\]/inputs: ["*all"]/g
        s/(logits, label)/(*all)/' named.yaml >rest.yaml
    [ "$(grep -c '"\*' rest.yaml)" = 4 ]
}

@test "*args in a block, network, loss and metric: the bytes of named inputs" {
    two
    for name in named rest; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
        "$CELLRUN" eval --ckpt $name >$name.eval
        "$CELLRUN" predict --ckpt $name --data eval >$name.csv
        "$CELLRUN" predict --ckpt $name left=eval-x.npy right=eval-x.npy >>$name.csv
        "$CELLRUN" trace $name.yaml --grad --feed left=eval-x.npy \
            --feed right=eval-x.npy --feed label=eval-y.npy >$name.trace
        "$CELLRUN" summary $name.yaml -v >$name.summary
    done
    run -0 "$CELLRUN" ckpt diff named rest --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    diff named.eval rest.eval
    diff named.csv rest.csv
    [ "$(wc -l <rest.csv)" -ge 200 ]
    diff named.trace rest.trace
    diff named.summary rest.summary
}

@test "*args: resumed to the same bytes, stepwise too" {
    two
    "$CELLRUN" train rest.yaml -q -o whole train.epochs=2
    "$CELLRUN" train rest.yaml -q -o part train.epochs=2 --steps 25
    "$CELLRUN" resume part -q --steps 38
    run -0 "$CELLRUN" ckpt diff whole part --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
}

@test "bprop has the tuple of *args and gives a gradient for each" {
    two
    cat >own.yaml <<'END2'
base: rest.yaml
blocks: !replace
  Sum:
    inputs: ["*args"]
    construct: |
      total = 0
      for a in args:
        total = total + a * a
      return total
    bprop: |
      grads = ()
      for a in args:
        grads = grads + (2 * a * dout,)
      return grads
network: !replace
  inputs: ["*cols"]
  cells: {a: {Dense: {out_channels: 5}}, s: Sum, b: {Dense: {out_channels: 3}}}
  construct: |
    h = tanh(a(cols[0]))
    return b(s(h, cols[1][:, :5], h) + s(h))
END2
    sed '/bprop: |/,/return grads/d' own.yaml >plain.yaml
    for name in own plain; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
    done
    run -0 "$CELLRUN" gradcheck own.yaml
    run -0 "$CELLRUN" ckpt diff own plain --rtol 1e-4 --atol 1e-5
    run -2 --separate-stderr "$CELLRUN" check own.yaml \
        'blocks.Sum.bprop=return dout'
    [[ "$stderr" == *"bprop returns 1 gradient, but the cell has 3 inputs"* ]]
    run -2 --separate-stderr "$CELLRUN" check own.yaml \
        'blocks.Sum.bprop=return None, sum(dout), None'
    [[ "$stderr" == *"gradient of 'args[1]': "* ]]
}

@test "a cell of *args may be called with none, and by keyword for others" {
    pack 'f<*' 1 2 3 4 | npy x.npy '<f4' '(1, 4)'
    cat >n.yaml <<'END2'
blocks:
  Cat:
    inputs: [x, "*args"]
    construct: "return concat((x, *args), 1) if len(args) > 0 else x"
  Three:
    inputs: ["*args"]
    construct: return 3 + len(args)
network:
  inputs: {x: {shape: [4]}}
  cells: {c: Cat, n: Three}
  construct: |
    y = c(x=x)
    return c(x, y, y) * n() + c(y)[:, :1] * n(x)
END2
    run -0 "$CELLRUN" trace n.yaml --feed x=x.npy --print network
    [[ "$output" == *"[[ 7. 10. 13. 16.  7. 10. 13. 16.  7. 10. 13. 16.]]"* ]]
}

@test "*args: what cannot be" {
    two
    bad() { # SETTING MESSAGE
        run -2 --separate-stderr "$CELLRUN" check rest.yaml "$1"
        [[ "$stderr" == *"$2"* ]] || { echo "$stderr"; false; }
    }
    bad 'blocks.Body.inputs=["*a", b]' "inputs: found '*a', expected names and, as the last one of a list, *NAME"
    bad 'blocks.Body.inputs=["*"]' "inputs: found '*', expected"
    bad 'blocks.Body.inputs=["**kwargs"]' "inputs: found '**kwargs', expected"
    bad 'blocks.Body.inputs=[a, b, c, "*args"]' "body: expected 3 to 16 inputs (a, b, c, *args), found 2"
    bad 'network.construct=return out(body(*cols, args=cols))' "body has no input 'args'"
    bad 'network.construct=return out(body(cols[0], None))' "body: input 'args[1]' is missing"
    bad 'network.construct=return out(body(cols[2]))' "cols[2]"
    bad 'network.inputs=[left, right, label, "*cols"]' "a tuple of 0"
}
