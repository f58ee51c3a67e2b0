# Members of `cells` in the lists of others, and maps under SequentialCell. The
# names are Parameter.name of MindSpore 2.10, for the same cells.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
}

# net FILE: the config of small.bash with the network on stdin
net() {
    config base.yaml
    { echo "base: base.yaml"; cat; } >"$1"
}

# names NAME...: the parameters of a network whose text is on stdin
names() {
    printf 'cellrun: 1\nnetwork:\n  inputs: {x: {shape: [1, 4, 4]}}\n' >n.yaml
    sed 's/^/  /' >>n.yaml
    run -0 --separate-stderr "$CELLRUN" summary n.yaml --json
    [ "$(jq -r '.params[].name' <<<"$output" | xargs)" = "$*" ]
}

# wrong TEXT: the message about the members on stdin
wrong() {
    printf 'cellrun: 1\nnetwork:\n  inputs: {x: {shape: [4]}}\n' >w.yaml
    sed 's/^/  /' >>w.yaml
    run -2 "$CELLRUN" check w.yaml
    [[ "$output" == *"$1"* ]]
}

# same A B: after training in steps, and resumed, the same tensors
same() {
    local name
    for name in "$@"; do
        "$CELLRUN" train "$name.yaml" -q -o "$name" train.epochs=2
        "$CELLRUN" eval "$name.yaml" --ckpt "$name" >"$name.eval"
    done
    [ -s "$1.eval" ]
    diff "$1.eval" "$2.eval"
    run -0 "$CELLRUN" ckpt diff "$1" "$2" --json
    [[ "$output" == *'"same": true'* ]]
    [[ "$output" != *'"same": false'* ]]
}

@test "members in a list: the last cell that takes them names them" {
    names seq.0.weight seq.1.moving_mean seq.1.moving_variance seq.1.gamma \
        seq.1.beta <<'END'
cells:
  conv: {Conv2d: [1, 1, 1]}
  bn: {BatchNorm2d: 1}
  relu: ReLU
  seq: [conv, bn, relu]
construct: return seq(x)
END
}

@test "members in a list in a list: the path of the first place in it" {
    names bl.0.1.weight bl.1.weight bl.1.bias <<'END'
cells:
  conv: {Conv2d: [1, 1, 1]}
  seq: [ReLU, conv, conv]
  bl: [seq, {Dense: [4, 4]}]
construct: return bl(x) + conv(x)
END
}

@test "a member of two lists; another name for a member" {
    names t.1.weight t.1.bias al.weight al.bias <<'END'
cells:
  a: {Dense: [4, 4]}
  s: [a]
  t: [ReLU, a]
  d: {Dense: [4, 4]}
  al: d
construct: |
  for cell in t:
    x = cell(x)
  return s(x) + al(d(x))
END
}

@test "a cell within others: its members have the names of its own" {
    names q.0.conv.weight q.0.bl.1.weight q.0.bl.1.bias <<'END'
cells:
  b:
    cells:
      conv: {Conv2d: [1, 1, 1]}
      seq: [ReLU, conv, conv]
      bl: [seq, {Dense: [4, 4]}]
    construct: return bl(x)
  q: [b]
construct: return q(x)
END
}

@test "SequentialCell of a map: its names" {
    names s.fc.weight s.fc.bias <<'END'
s: {SequentialCell: {flat: Flatten, fc: {Dense: [16, 4]}, act: ReLU}}
END
    wrong "expected a list, or NAME: {Dense: ...}" <<'END'
s: {SequentialCell: {Dense: [4, 4]}}
END
    wrong "did you mean 'ReLU'?" <<'END'
s: {SequentialCell: {a: {Dense: [4, 4]}, act: Relu}}
END
}

@test "a member that is called twice is one: train, eval" {
    net a.yaml <<'END'
network: !replace
  cells:
    fc: {Dense: {out_channels: 8}}
    act: ReLU
    head: {Dense: {out_channels: 3}}
    seq: [fc, act, head]
  construct: return seq(x) + head(relu(fc(x) * 2))
END
    net b.yaml <<'END'
network: !replace
  cells:
    seq: [{Dense: {out_channels: 8}}, ReLU, {Dense: {out_channels: 3}}]
  construct: return seq(x) + seq[2](relu(seq[0](x) * 2))
END
    same a b
    net c.yaml <<'END'
network: !replace
  cells:
    fc: {Dense: {out_channels: 8}}
    head: {Dense: {out_channels: 3}}
    seq: {SequentialCell: {enter: fc, act: ReLU, out: head}}
  construct: |
    return seq.out(seq.act(seq.enter(x))) + seq[2](relu(fc(x) * 2))
END
    net d.yaml <<'END'
network: !replace
  cells:
    seq: {enter: {Dense: {out_channels: 8}}, act: ReLU, out: {Dense: {out_channels: 3}}}
  construct: return seq(x) + seq.out(relu(seq.enter(x) * 2))
END
    same c d
}

@test "a member in a list: resumed and stepwise, the same bytes" {
    net a.yaml <<'END'
network: !replace
  cells:
    fc: {Dense: {out_channels: 8}}
    bn: {BatchNorm1d: 8}
    seq: [fc, bn, ReLU, {Dense: {out_channels: 3}}]
  construct: return seq(x)
END
    "$CELLRUN" train a.yaml -q -o whole train.epochs=2
    "$CELLRUN" train a.yaml -q -o part train.epochs=1
    "$CELLRUN" resume part -q --epochs 2
    run -0 "$CELLRUN" ckpt diff whole part --json
    [[ "$output" != *'"same": false'* ]]
    "$CELLRUN" train a.yaml -q -o eager train.epochs=2 --eager
    run -0 "$CELLRUN" ckpt diff whole eager --json
    [[ "$output" != *'"same": false'* ]]
}

@test "frozen by the name that it has" {
    net a.yaml <<'END'
network: !replace
  cells:
    fc: {Dense: {out_channels: 3}}
    seq: [fc]
  construct: return seq(x)
freeze: {patterns: [seq.0.bias]}
END
    run -0 --separate-stderr "$CELLRUN" summary a.yaml --json
    [ "$(jq -r '.params[] | select(.trainable) | .name' <<<"$output")" = \
      seq.0.weight ]
    run -2 "$CELLRUN" check a.yaml freeze.patterns='[fc.bias]'
}

@test "members: what cannot be" {
    wrong "'s' refers to 't', which is declared after it" <<'END'
cells:
  s: [t]
  t: [s]
construct: return s(x)
END
    wrong "'s' refers to itself" <<'END'
cells: {s: [ReLU, s]}
construct: return s(x)
END
    wrong "unknown cell 'd'" <<'END'
cells: {c: ReLU, s: [d]}
construct: return s(c(x))
END
    wrong "modifier 'freeze' is next to a reference to 'c'" <<'END'
cells:
  c: {Dense: [4, 4]}
  s: {SequentialCell: [ReLU, [c]], freeze: true}
construct: return s(x)
END
    wrong "unknown cell 'c'" <<'END'
s: [ReLU, c]
END
}

@test "keys of cells are names that construct could call, or numbers" {
    local key
    for key in '"a b"' '"a.b"' 9x a-b é '"a#b"' '"a*"'; do
        bare=${key//\"/}
        wrong "w.yaml:5:5: error: the name of a cell: found '$bare', expected a letter or _, then letters, digits and _ [E0009]" <<END
cells:
  $key: {Dense: [4, 4]}
construct: return x
END
        wrong "w.yaml:4:3: error: the name of a cell: found '$bare'" <<END
$key: {Dense: [4, 4]}
f: ReLU
END
        wrong "w.yaml:4:24: error: the name of a cell: found '$bare'" <<END
s: {SequentialCell: {$key: {Dense: [4, 4]}}}
END
    done
    names _a1.weight _a1.bias bC.weight bC.bias <<'END'
cells: {f: Flatten, _a1: {Dense: [16, 4]}, bC: {Dense: [4, 4]}}
construct: return bC(_a1(f(x)))
END
    # as MindSpore's SequentialCell of an OrderedDict
    names 2.weight 2.bias 10.weight 10.bias <<'END'
f: Flatten
"2": {Dense: [16, 4]}
10: {Dense: [4, 4]}
END
}

@test "auto_prefix: false omits the names of members" {
    names weight bias <<'END'
auto_prefix: false
cells: {net: {Dense: [4, 4]}}
construct: return net(x)
END
    names w weight bias 0.weight 0.bias <<'END'
auto_prefix: false
cells:
  net:
    auto_prefix: false
    cells: {net: {Dense: [4, 4]}, w: {Parameter: {shape: [4]}}}
    construct: return net(x * w)
  fc: {Dense: [4, 4]}
  seq: [fc, ReLU]
construct: return seq(net(x))
END
}

@test "auto_prefix: false within a cell that prefixes names changes nothing" {
    names net.w net.net.weight net.net.bias <<'END'
cells:
  net:
    auto_prefix: false
    cells: {net: {Dense: [4, 4]}, w: {Parameter: {shape: [4]}}}
    construct: return net(x * w)
construct: return net(x)
END
}

@test "auto_prefix: false, trained, resumed, predicted as with names" {
    local text='cells: {a: {cells: {fc: {Dense: {out_channels: 8}}, bn: {BatchNorm1d: 8}}, construct: return relu(bn(fc(x)))}, out: {Dense: {out_channels: 3}}}, construct: return out(a(x))'
    net a.yaml <<END
network: !replace {auto_prefix: false, $text}
init: [{match: ["*weight", "*bias"], Constant: 0.1}]
END
    net b.yaml <<END
network: !replace {$text}
init: [{match: ["*weight", "*bias"], Constant: 0.1}]
END
    "$CELLRUN" train a.yaml -q -o a train.epochs=2 >a.out
    "$CELLRUN" train b.yaml -q -o b train.epochs=2 >b.out
    diff <(grep eval a.out) <(grep eval b.out)
    "$CELLRUN" train a.yaml -q -o c train.epochs=1
    "$CELLRUN" resume c -q --epochs 2
    cmp a/ckpt/last.safetensors c/ckpt/last.safetensors
    run -0 "$CELLRUN" ckpt show a
    [[ "$output" == *"fc.weight"* && "$output" != *"a.fc.weight"* ]]
    diff <("$CELLRUN" eval a) <("$CELLRUN" eval b)
}

@test "auto_prefix: two parameters of one name" {
    wrong "duplicate parameter name 'weight': in 'a' and in 'b'" <<'END'
auto_prefix: false
cells: {a: {Dense: [4, 4]}, b: {Dense: [4, 4]}}
construct: return b(a(x))
END
    wrong "auto_prefix: found 'no', expected true or false" <<'END'
auto_prefix: "no"
cells: {a: {Dense: [4, 4]}}
construct: return a(x)
END
}
