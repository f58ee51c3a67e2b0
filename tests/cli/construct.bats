# Composite cells: what they compute is the same however it is written.
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

map() {
    net map.yaml <<'END'
network: !replace
  body: {a: {Dense: {out_channels: 16}}, act: ReLU, b: {Dense: {out_channels: 3}}}
END
}

# same A B: one plan, and after training the same tensors
same() {
    local name
    for name in "$@"; do
        "$CELLRUN" summary -v "$name.yaml" >"$name.plan"
        "$CELLRUN" train "$name.yaml" -q -o "$name" train.epochs=1
        "$CELLRUN" eval "$name.yaml" --ckpt "$name" >"$name.eval"
    done
    diff "$1.plan" "$2.plan"
    diff "$1.eval" "$2.eval"
    [ -s "$1.plan" ]
    [ -s "$1.eval" ]
    run -0 "$CELLRUN" ckpt diff "$1" "$2" --json
    [[ "$output" == *'"same": true'* ]]
    [[ "$output" != *'"same": false'* ]]
}

@test "a construct is the same as a map in order" {
    map
    net text.yaml <<'END'
network: !replace
  body:
    cells: {a: {Dense: {out_channels: 16}}, act: ReLU, b: {Dense: {out_channels: 3}}}
    construct: |
      h = act(a(x))
      return b(h)
END
    same map text
}

@test "a block is the same as its contents" {
    map
    net block.yaml <<'END'
blocks:
  Body:
    params: {width: required, classes: 3}
    cells: {a: {Dense: {out_channels: $width}}, act: ReLU, b: {Dense: {out_channels: $classes}}}
    construct: |
      return b(act(a(x)))
network: !replace
  body: {Body: {width: 16}}
END
    "$CELLRUN" summary -v map.yaml | sed 's/  Cell /  Body /' >map.plan
    "$CELLRUN" summary -v block.yaml | sed 's/  Cell /  Body /' >block.plan
    diff map.plan block.plan
    "$CELLRUN" summary block.yaml | grep '^body.a  *Dense .* 144 ' >/dev/null
}

@test "a cell called twice has one set of parameters" {
    net twice.yaml <<'END'
network: !replace
  cells: {a: {Dense: {out_channels: 8}}, out: {Dense: {out_channels: 3}}}
  construct: |
    return out(a(a(x)))
END
    "$CELLRUN" summary twice.yaml >out
    grep -q '^parameters: 99$' out # 8 * 8 + 8 + 8 * 3 + 3
}

@test "the printed config of a network of blocks loads as the same" {
    net block.yaml <<'END'
blocks:
  Res:
    params: {width: required, skip: true}
    cells:
      fc: {Dense: {out_channels: $width}}
      off: {ReLU: , when: $skip}
    construct: |
      return off(fc(x)) + x * $(1/width)
network: !replace
  body: [{Res: {width: 8}, repeat: 2}, {Res: {width: 8, skip: false}}]
  out: {Dense: {out_channels: 3}}
END
    "$CELLRUN" config block.yaml >plain.yaml
    run ! grep -q '^blocks' plain.yaml
    "$CELLRUN" summary -v block.yaml >a
    "$CELLRUN" summary -v plain.yaml >b
    diff <(grep -v '  Cell \|  Res ' a) <(grep -v '  Cell \|  Res ' b)
    grep -q '^body.2.off  *Identity ' a
}

@test "training with and without a block: one plan, the same bytes" {
    # BatchNorm, Dropout and a shortcut; both are called body, so the random
    # numbers are the same
    net plain.yaml <<'END'
network: !replace
  body:
    cells:
      fc: {Dense: {out_channels: 8}}
      bn: BatchNorm1d
      drop: {Dropout: {p: 0.3}}
    construct: |
      return x + drop(bn(fc(x)))
  out: {Dense: {out_channels: 3}}
END
    net block.yaml <<'END'
blocks:
  Cell:
    params: {width: required, p: 0.5}
    cells:
      fc: {Dense: {out_channels: $width}}
      bn: BatchNorm1d
      drop: {Dropout: {p: $p}}
      off: {Dense: {out_channels: 99}, when: $(p > 1)}
    construct: |
      return x + off(drop(bn(fc(x))))
network: !replace
  body: {Cell: {width: 8, p: 0.3}}
  out: {Dense: {out_channels: 3}}
END
    for name in plain block; do
        "$CELLRUN" summary -v $name.yaml |
            grep -v '  Cell \|body.off ' >$name.plan
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=2
        jq -r .loss $name/metrics.jsonl >$name.losses
    done
    diff plain.plan block.plan
    diff plain.losses block.losses
    [ "$(wc -l <plain.losses)" -ge 3 ]
    run -0 "$CELLRUN" ckpt diff plain block --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
}

@test "tuples: results of a block, unpacked and packed" {
    net tuple.yaml <<'END'
blocks:
  Two:
    cells: {a: {Dense: {out_channels: 8}}, act: ReLU}
    construct: |
      h = a(x)
      return h, act(h)
network: !replace
  cells: {two: {Two: {}}, out: {Dense: {out_channels: 3}}}
  construct: |
    t = two(x)
    h, r = t
    both = (r, h - t[0])
    return out(both[0] + both[1])
END
    net plain.yaml <<'END'
network: !replace
  cells: {two: {a: {Dense: {out_channels: 8}}, act: ReLU}, out: {Dense: {out_channels: 3}}}
  construct: |
    return out(two(x))
END
    for name in tuple plain; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
    done
    run -0 "$CELLRUN" ckpt diff tuple plain --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    "$CELLRUN" trace tuple.yaml >trace
    for name in 'output.two#.0' 'output.two#.1' output.out; do
        grep -q "^$name " trace
    done
}

@test "tuples in tuples are unpacked by nested names" {
    cells='{enc: {LSTM: {hidden_size: 5, num_layers: 2}}, dec: {LSTM: {hidden_size: 5, num_layers: 2}}}'
    cat >nested.yaml <<END
network:
  inputs: {x: {shape: [3, 4]}}
  cells: $cells
  construct: |
    y, (h, c) = enc(x)
    z, (h, _) = dec(x, (h, c))
    (a, (b, (d, _))), e = (z, (h, (c, y))), y
    t = 0
    for i, ((u), v) in enumerate(((a, e), (e, a))):
        t = t + i * u - v
    return t + sum(b) + sum(d)
END
    cat >plain.yaml <<END
network:
  inputs: {x: {shape: [3, 4]}}
  cells: $cells
  construct: |
    y, s = enc(x)
    z, r = dec(x, hx=s)
    t = 0 * z - y + y - z
    return t + sum(r[0]) + sum(s[1])
END
    perl -e 'print pack "f<*", map { sin } 1 .. 24' | npy x.npy '<f4' '(2, 3, 4)'
    "$CELLRUN" trace nested.yaml --seed 3 --feed x=x.npy -o a.safetensors
    run -0 "$CELLRUN" trace plain.yaml --seed 3 --feed x=x.npy \
        --against a.safetensors -o b.safetensors
}

@test "tuples in tuples: names that do not fit" {
    wrong() {
        printf 'network:\n  construct: |\n    %s\n    return a\n' "$1" >c.yaml
        run -2 --separate-stderr "$CELLRUN" check c.yaml \
            'network.inputs={x: {shape: [4]}}'
        echo "$stderr"
        [[ $stderr == *"c.yaml:3:$2"* ]]
    }
    wrong 'a, (b, c) = (x, x)' '17: error: found 2 names, but the value is '
    wrong 'a, (b, c) = (x, (x, x, x))' '17: error: found 2 names, but the value'
    wrong 'a, (b, c = (x, (x, x))' "14: error: found '=', expected ')'"
    wrong 'a, (b, 3) = (x, (x, x))' "12: error: found '3', expected a name"
    wrong 'a, () = (x, (x, x))' "9: error: found ')', expected a name"
    wrong '(a,) = x' '12: error: found 1 name, but the value is a tensor'
    wrong '[a] = (x, x)' '11: error: found 1 name, but the value is a tuple of'
    wrong '[a, b) = (x, x)' "10: error: found ')', expected ']'"
    wrong 'a,, = x' "7: error: found ',', expected a name"
    wrong '(a, b) += (x, x)' "12: error: found '+'"
    wrong "$(printf '(%.0s' {1..99})a = x" '68: error: brackets are nested too'
}

@test "a tuple of one: names before a comma, lists of names, one piece" {
    printf 'network:\n  inputs: {x: {shape: [4]}}\n  construct: |\n' >head
    (cat head && echo '    return x + 1') >want.yaml
    perl -e 'print pack "f<*", map { sin } 1 .. 8' | npy x.npy '<f4' '(2, 4)'
    "$CELLRUN" trace want.yaml --feed x=x.npy -o want.safetensors
    for line in '(a,) = (x,)' 'a, = (x,)' '[a] = [x]' '[a, ] = x,' \
        '(a, b,) = x, x' '[a, (b,)] = x, (x,)' 'a, = split(x, 4, 1)' \
        'a = split(x, 4, axis=1)[0]' 'a = x.split(4, 1)[0]' \
        '(a,) = chunk(x, 1, 1)' 'a = concat(split(x, 4, -1), 1)'; do
        (cat head && printf '    %s\n    return a + 1\n' "$line") >c.yaml
        run -0 "$CELLRUN" trace c.yaml --feed x=x.npy \
            --against want.safetensors -o got.safetensors
    done
    (cat head && printf '    for a, in [(x,)]:\n        b = a\n' &&
        echo '    return b + 1') >c.yaml
    run -0 "$CELLRUN" trace c.yaml --feed x=x.npy --against want.safetensors \
        -o got.safetensors
}

@test "a value may be dropped with _" {
    net drop.yaml <<'END'
network: !replace
  cells: {out: {Dense: {out_channels: 3}}}
  construct: |
    _, best = topk(x, 4)
    most, _ = topk(x, 4)
    return out(most + 0 * best)
END
    "$CELLRUN" summary drop.yaml >out
    grep -q '^out  *Dense .* 15 ' out # 4 * 3 + 3
}

@test "keyword arguments: of cells, functions and a block's inputs" {
    net words.yaml <<'END'
blocks:
  Mix:
    inputs: [left, right]
    construct: |
      return left * 2 - right
network: !replace
  cells: {fc: {Dense: {out_channels: 8}}, mix: {Mix: {}}, out: {Dense: {out_channels: 3}}}
  construct: |
    h = fc(x=x)
    h = mix(right=mean(input=h, axis=1, keepdims=True), left=h)
    return out(clamp(h, max=1.0, min=-1.0))
END
    net order.yaml <<'END'
network: !replace
  cells: {fc: {Dense: {out_channels: 8}}, out: {Dense: {out_channels: 3}}}
  construct: |
    h = fc(x)
    h = h * 2 - mean(h, 1, True)
    return out(clamp(h, -1.0, 1.0))
END
    for name in words order; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
    done
    run -0 "$CELLRUN" ckpt diff words order --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
}

@test "share: one parameter for two cells, under the first one's name" {
    net share.yaml <<'END'
network: !replace
  a: {Dense: [8, 8]}
  act: Tanh
  b: {Dense: [8, 8], share: {weight: a.weight}}
  out: {Dense: {out_channels: 3}}
END
    run -0 --separate-stderr "$CELLRUN" summary share.yaml --json
    [ "$(jq -r '.params[].name' <<<"$output" | sort | xargs)" = \
      "a.bias a.weight b.bias out.bias out.weight" ]
    # its gradient is the sum of both uses
    "$CELLRUN" gradcheck share.yaml
    "$CELLRUN" train share.yaml -q -o run train.epochs=1
    "$CELLRUN" eval --ckpt run >/dev/null
}

@test "several inputs: columns of the data by their names" {
    config base.yaml
    cat >two.yaml <<'END'
base: base.yaml
dataset: !replace
  train: {NumpySlicesDataset: {data: [train-x.npy, train-x.npy, train-y.npy], column_names: [left, right, label]}}
  eval: {NumpySlicesDataset: {data: [eval-x.npy, eval-x.npy, eval-y.npy], column_names: [left, right, label]}}
network: !replace
  inputs: [right, left]
  cells: {fc: {Dense: {out_channels: 16}}, act: ReLU, out: {Dense: {out_channels: 3}}}
  construct: |
    return out(act(fc(left - 0 * right)))
END
    cat >one.yaml <<'END'
base: base.yaml
network: !replace
  fc: {Dense: {out_channels: 16}}
  act: ReLU
  out: {Dense: {out_channels: 3}}
END
    for name in one two; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
    done
    run -0 "$CELLRUN" ckpt diff one two --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    # without names the network cannot choose
    run -2 --separate-stderr "$CELLRUN" check two.yaml \
        network.inputs=!delete
    [[ "$stderr" == *"several columns (left, right)"* ]]
}

@test "a loss written out is the loss by its name" {
    net text.yaml <<'END'
blocks:
  Entropy:
    inputs: [logits, label]
    params: {classes: 3}
    construct: |
      target = one_hot(label, $classes)
      return -mean(sum(log_softmax(logits, 1) * target, 1))
network: !replace
  fc: {Dense: {out_channels: 3}}
loss: {Entropy: {}}
END
    net name.yaml <<'END'
network: !replace
  fc: {Dense: {out_channels: 3}}
END
    net mean.yaml <<'END'
network: !replace
  fc: {Dense: {out_channels: 3}}
loss:
  inputs: [logits, label]
  cells: {ce: CrossEntropyLoss}
  construct: |
    return ce(logits, label)
END
    for name in text name mean; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
        jq -r '.loss' $name/metrics.jsonl >$name.losses
    done
    diff name.losses mean.losses
    run -0 "$CELLRUN" ckpt diff name mean --json
    [[ "$output" == *'"same": true'* && "$output" != *'"same": false'* ]]
    paste text.losses name.losses | awk '
        { d = $1 - $2; bad += d * d > 1e-10 * $2 * $2; n++ }
        END { exit bad || n < 2 }'
    "$CELLRUN" gradcheck text.yaml
}

@test "a loss that is a column, a parameter or a view of one" {
    net bare.yaml <<'END'
network: !replace
  cells: {w: {Parameter: {shape: [1], init: 2.0}}}
  construct: |
    return w, x
loss: {inputs: [w, x, label], construct: return w}
optimizer: {SGD: {learning_rate: 0.25}}
metrics: [loss]
END
    # its gradient is 1, which no step of the plan writes
    for text in 'return w' 'return reshape(w, (1, 1))' 'return w * 1'; do
        for way in '' --eager train.clip.norm=9; do
            run -0 "$CELLRUN" train bare.yaml -q -o bare --force $way \
                train.steps=3 log.every=1 loss.construct="$text"
            [ "$(jq '.loss' bare/metrics.jsonl | sed 3q | xargs)" = \
                '2 1.75 1.5' ]
        done
    done
    run -0 "$CELLRUN" train bare.yaml -q -o bare --force train.steps=3 \
        loss.construct='return x'
    [[ "$output" == *'status: completed'* ]]
}

@test "a loss of the output alone needs no label" {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    config small.yaml
    cat >alone.yaml <<'END'
base: small.yaml
loss: {inputs: [y], construct: "return mean(square(y))"}
metrics: !replace [loss]
END
    run -0 "$CELLRUN" train alone.yaml -q -o alone train.epochs=1
    awk -v l="$(value eval.loss)" 'BEGIN { exit !(l > 0 && l < 0.1) }'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt alone
    [[ "$output" == "loss: "* ]]
}

@test "a network of several results gives them to the loss" {
    net results.yaml <<'END'
network: !replace
  cells: {fc: {Dense: {out_channels: 8}}, out: {Dense: {out_channels: 3}}}
  construct: |
    h = fc(x)
    return out(h), h
loss:
  inputs: [logits, hidden, label]
  cells: {ce: CrossEntropyLoss}
  construct: |
    return ce(logits, label) + 0.01 * mean(square(hidden))
metrics: [accuracy, loss]
END
    run -0 --separate-stderr "$CELLRUN" train results.yaml -q -o run \
        train.epochs=2 --require 'accuracy>=0.5'
    "$CELLRUN" gradcheck results.yaml
    run -2 --separate-stderr "$CELLRUN" check results.yaml 'loss.inputs=[logits]' 'loss.construct=return mean(logits)'
    [[ "$stderr" == *"the network returns 2 results, but the loss expects 1"* ]]
    names=$(printf 'a%d, ' {1..16})
    run -2 --separate-stderr "$CELLRUN" check results.yaml "loss.inputs=[${names}label]"
    [[ "$stderr" == *"a loss has at most 16 inputs"* ]]
    run -2 --separate-stderr "$CELLRUN" check results.yaml "metrics=[loss, {name: m, inputs: [${names}label], construct: return mean(a1)}]"
    [[ "$stderr" == *"a metric has at most 16 inputs"* ]]
}

@test "a cell called twice: both calls count, in training too" {
    net twice.yaml <<'END'
network: !replace
  cells: {a: {Dense: {out_channels: 8}}, bn: BatchNorm1d, out: {Dense: {out_channels: 3}}}
  construct: |
    h = bn(a(x))
    return out(bn(a(h)))
END
    "$CELLRUN" gradcheck twice.yaml
    "$CELLRUN" trace twice.yaml >trace
    for name in a 'a#2' bn 'bn#2' out; do
        grep -q "^output.$name " trace
    done
    "$CELLRUN" train twice.yaml -q -o run train.epochs=1
    "$CELLRUN" eval --ckpt run >/dev/null
}

@test "name: what a member of a list is called" {
    net named.yaml <<'END'
network: !replace
  body: [{Dense: {out_channels: 16}, name: a}, {ReLU: , name: act}, {Dense: {out_channels: 3}, name: b}]
END
    map
    for name in map named; do
        "$CELLRUN" train $name.yaml -q -o $name train.epochs=1
    done
    run -0 "$CELLRUN" ckpt diff map named --json
    [[ "$output" == *'"name": "body.b.bias"'* && "$output" != *'"same": false'* ]]
    net mixed.yaml <<'END'
network: !replace
  body: [{Dense: {out_channels: 16}, name: first}, ReLU, {Dense: {out_channels: 3}}]
END
    "$CELLRUN" summary mixed.yaml >out
    grep -q '^body.first ' out
    grep -q '^body.2 ' out
}

@test "name: wrong ones" {
    net two.yaml <<'END'
network: !replace
  body: [{Dense: {out_channels: 16}, name: a}, {Dense: {out_channels: 3}, name: a}]
END
    run -2 --separate-stderr "$CELLRUN" check two.yaml
    [[ "$stderr" == *"duplicate cell name 'body.a'"* ]]
    net dot.yaml <<'END'
network: !replace
  body: [{Dense: {out_channels: 3}, name: a.b}]
END
    run -2 --separate-stderr "$CELLRUN" check dot.yaml
    [[ "$stderr" == *": error: name: found 'a.b', expected a lower-case letter, then letters, digits and _"* ]]
    net key.yaml <<'END'
network: !replace
  body: {Dense: {out_channels: 3}, name: other}
END
    run -2 --separate-stderr "$CELLRUN" check key.yaml
    [[ "$stderr" == *"the cell already has the name 'body'"* ]]
}

@test "two weighted losses on two results" {
    local two="$BATS_TEST_DIRNAME/../../configs/two_losses.yaml" name
    # the sum of both, each with its weight
    for name in 0 1 0.25; do
        "$CELLRUN" trace "$two" "vars.share=$name" |
            awk '$1 == "loss" { print $3 }' >"loss$name"
    done
    awk '{ getline b <"loss1"; getline c <"loss0.25"
        d = $1 + 0.25 * (b - $1) - c
        exit !($1 > 1 && b > $1 && d * d < 1e-8) }' loss0
    run -0 "$CELLRUN" train "$two" -q -o run train.epochs=1 \
        --require 'accuracy>=0.7'
}
