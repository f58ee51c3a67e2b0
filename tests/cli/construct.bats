# Composite cells: what they compute is the same however it is written.
bats_require_minimum_version 1.5.0
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
    [ -s "$1.plan" ] && [ -s "$1.eval" ]
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

@test "a block is the same as what it stands for" {
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
    "$CELLRUN" summary block.yaml | grep -q '^body.a  *Dense .* 144 '
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
