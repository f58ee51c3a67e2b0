# The language of construct: lines, conditions, lists and methods. What is
# written with them computes the same as what is written out.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    perl -e 'print pack "f<*", map { sin(1.7 * $_) } 1 .. 72' |
        npy x.npy '<f4' '(3, 4, 6)'
}

# net NAME CELLS LINE...: NAME.yaml, a network of those cells and lines
net() {
    {
        echo "network:"
        echo "  inputs: {x: {shape: [4, 6]}}"
        echo "  cells: {$2}"
        echo "  construct: |"
        printf '    %s\n' "${@:3}"
        echo "loss: {inputs: [y], construct: return mean(y)}"
    } >"$1.yaml"
}

# output NAME FLAG...: the numbers that the network gives for x.npy
output() {
    "$CELLRUN" trace "$1.yaml" --feed x=x.npy "${@:2}" -q -o "$1.npz"
    "$CELLRUN" ckpt show --values output "$1.npz" --json |
        jq -ec .output
}

# same A B: the same numbers, in training, in prediction and op by op
same() {
    local flag a b
    for flag in "" --as-run --predict --eager; do
        a=$(output "$1" $flag)
        b=$(output "$2" $flag)
        [ -n "$a" ]
        [ "$a" = "$b" ] || { echo "$a"; echo "$b"; return 1; }
    done
}

# wrong TEXT...: check refuses net.yaml and says each
wrong() {
    local text
    run -2 --separate-stderr "$CELLRUN" check net.yaml
    for text in "$@"; do
        [[ "$stderr" == *"$text"* ]] || { echo "$stderr"; return 1; }
    done
}

fc='{Dense: {out_channels: 6}}'

@test "if, elif, else: the branch of a value that is known" {
    local k lines=("return a(x)" "return a(x) * 2" "return a(x) - x")
    for k in 0 1 2; do
        net if "a: $fc" "if $k == 0: y = a(x)" "elif $k == 1:" "    y = a(x)" \
            "    y = y * 2" "else:" "    return a(x) - x" "return y"
        net flat "a: $fc" "${lines[k]}"
        same if flat
    done
}

@test "a condition of shapes, None, texts and tuples" {
    net net "a: $fc" "b, c, d = x.shape" \
        "one = 1 if x.ndim == 3 and x.shape[-1] == 6 and x.shape == (b, 4, 6) else 0" \
        "two = 1 if None is None and not 'a' == 'b' and one is not None else 0" \
        "three = 1 if 4 in x.shape[1:] and 7 not in (c, d) and x.size == 24 * b else 0" \
        "four = 1 if x.dtype == 'float32' or x.dtype == 'float64' else 0" \
        "return a(x) * (one + two + three + four)"
    net flat "a: $fc" "return a(x) * 4"
    same net flat
}

@test "a parameter of a block decides which cells are called" {
    local deep
    for deep in true false; do
        cat >net.yaml <<END
blocks:
  Body:
    params: {deep: required}
    cells: {a: $fc, b: $fc}
    construct: |
      if \$deep:
          x = b(x)
      return a(x)
network:
  inputs: {x: {shape: [4, 6]}}
  body: {Body: {deep: $deep}}
END
        "$CELLRUN" summary net.yaml >out
        [ "$(grep -c '^body.b ' out)" = "$([ $deep = true ] && echo 1 || echo 0)" ]
    done
}

@test "for: over a list of cells, numbers, pairs; one set of parameters" {
    local cells="fc: [$fc, $fc, {Dense: {out_channels: 6}, name: last}]"
    net list "$cells" "return fc(x)"
    net loop "$cells" "for layer in fc: x = layer(x)" "return x"
    net index "$cells" "for i in range(len(fc)):" "    x = fc[i](x)" "return x"
    net pairs "$cells" "for i, layer in enumerate(fc):" "    if i < 2:" \
        "        x = layer(x)" "return fc.last(x)"
    net zip "$cells" "for layer, k in zip(fc[:2], (1, 2)):" \
        "    x = layer(x) * k / k" "return fc[-1](x)"
    for name in loop index pairs; do
        same list $name
    done
    [ -n "$(output zip)" ]
    "$CELLRUN" summary loop.yaml | grep '^parameters: 126$'
    "$CELLRUN" summary loop.yaml | grep '^fc.last '
    # members and the list by itself are the same cells
    net both "$cells" "return fc(x) + fc[0](x)"
    "$CELLRUN" summary both.yaml | grep '^parameters: 126$'
}

@test "+= and its like" {
    net net "a: $fc" "y = a(x)" "y += x" "y *= 2" "y -= 1" "y /= 4" "y **= 2" \
        "y %= 3" "y //= 0.25" "return y"
    net flat "a: $fc" "return ((((a(x) + x) * 2 - 1) / 4) ** 2 % 3) // 0.25"
    same net flat
}

@test "lists in place of tuples, and *tuple among arguments" {
    net net "a: $fc" "parts = [a(x), x]" "y = concat([*parts, x], axis=-1)" \
        "shape = [x.shape[0], 8, 9]" "return reshape(y, shape)"
    net flat "a: $fc" "y = concat((a(x), x, x), axis=-1)" \
        "return reshape(y, (shape(x, 0), 8, 9))"
    same net flat
    net net "a: $fc" "args = (a(x), x)" "return maximum(*args)"
    net flat "a: $fc" "return maximum(a(x), x)"
    same net flat
}

@test "x.NAME(...) is NAME(x, ...)" {
    net net "a: $fc" "y = a(x).relu().view(-1, 6).transpose(1, 0)" \
        "y = y.T.reshape(x.shape).sum(axis=1, keepdims=True)" \
        "return y.broadcast_to(x.shape).astype(float32).permute(0, 2, 1)"
    net flat "a: $fc" "y = transpose(reshape(relu(a(x)), (-1, 6)), (1, 0))" \
        "y = sum(reshape(transpose(y), shape(x)), axis=1, keepdims=True)" \
        "return transpose(broadcast_to(y, shape(x)), (0, 2, 1))"
    same net flat
}

@test "training: another way in training than in prediction" {
    net net "a: $fc, b: $fc" "y = a(x)" "if training:" "    y = y + b(x)" \
        "return y"
    net train "a: $fc, b: $fc" "return a(x) + b(x)"
    net predict "a: $fc" "return a(x)"
    local flag
    for flag in "" --as-run --eager; do
        [ "$(output net $flag)" = "$(output train $flag)" ]
        [ "$(output net --predict $flag)" = "$(output predict --predict $flag)" ]
        [ "$(output net $flag)" != "$(output net --predict $flag)" ]
    done
}

@test "training: False in a cell that stays in predict mode" {
    cat >net.yaml <<END
network:
  inputs: {x: {shape: [4, 6]}}
  a: {cells: {fc: $fc}, construct: "return fc(x) * (2 if training else 4)", mode: predict}
  b: {cells: {fc: Identity}, construct: "return fc(x) * (4 if training else 8)"}
END
    net flat "a: {cells: {fc: $fc}, construct: return fc(x)}" "return a(x) * 16"
    echo "loss: {inputs: [y], construct: return mean(y)}" >>net.yaml
    [ "$(output net)" = "$(output flat)" ]
}

@test "training: a cell called in prediction only has no parameters" {
    net net "a: $fc, b: $fc" "if training: return a(x)" "return b(x)"
    wrong "parameter 'b.weight' does not exist in training"
    net net "a: $fc, b: Softmax" "if training: return a(x)" "return b(a(x))"
    "$CELLRUN" check net.yaml
}

@test "a condition over a tensor: the error shows where" {
    net net "a: $fc" "y = a(x) if x > 0 else x * 2" "return y"
    wrong "net.yaml:5:17: error: condition: found a tensor (1, 4, 6), expected a value that is known while the graph is built; write where(x > 0, a(x), x * 2) [E"
    net net "a: $fc" "if sum(x) > 0:" "    x = a(x)" "return a(x)"
    wrong "net.yaml:5:8: error: condition: found a tensor ()" \
        "for each element write where(sum(x) > 0, A, B)"
}

@test "lines that do not belong together" {
    net net "a: $fc" "y = a(x)" "  z = y" "return y"
    wrong "net.yaml:6:7: error: the line is indented more than the line above"
    net net "a: $fc" "if True:" "return a(x)"
    wrong "expected an indented line"
    net net "a: $fc" "else: y = x" "return a(x)"
    wrong "net.yaml:5:5: error: no 'if' of this indentation before it"
    net net "a: $fc" "while True:" "    x = a(x)" "return x"
    wrong "'while' is not supported: use for NAME in range(N):"
    net net "a: $fc" "if True:" "    return a(x)"
    wrong "the last line must be 'return EXPRESSION'"
    net net "a: $fc" "for i in 3:" "    x = a(x)" "return x"
    wrong "found 3, expected a list of cells, a tuple or range(N)"
}

@test "loops without end are refused" {
    net net "a: $fc" "for i in range(99999):" "    for k in range(99999):" \
        "        y = k" "return a(x)"
    wrong "more than 1000000 lines are run"
    net net "a: $fc" "for i in range(1000000000000):" "    y = i" "return a(x)"
    wrong "range: more than 100000 numbers"
}

@test "range of another value: reported once, at the argument" {
    net net "a: $fc" "for i in range('a'):" "    y = i" "return a(x)"
    wrong "index: found 'a', expected an integer"
    [[ "$stderr" != *"error: "*"error: "* ]]
}

@test "tuples that double with every line have a limit" {
    local line
    for line in "y = (y, y)" "y = (y, y)[0:2]" "y = zip(y, y)" \
        "y = f(y)" "y = [y, *y]"; do
        net net "a: $fc, f: {inputs: [v], construct: 'return v, v'}" \
            "y = (x, x)" "for i in range(40):" "    $line" \
            "if y == y:" "    print(y)" "return a(x)"
        wrong "a tuple of more than 100000 members in all"
    done
}

@test "names of another language: self, ops, and what has no members" {
    net net "a: $fc" "return self.a(x)"
    wrong "'self.a': names have no prefix here" "write 'return a(x)'"
    net net "a: $fc" "return ops.relu(a(x))"
    wrong "write 'return relu(a(x))'"
    net net "a: $fc" "return ops.nonexist(a(x))"
    wrong "cell or function 'nonexist' not found"
    net net "a: $fc" "if self.training: x = x" "return a(x)"
    wrong "write 'if training'"
    net net "a: $fc" "h = torch.nn.functional.relu(self.a(x))" \
        "F = h" "return F.sum() + F.nonexist(ops.relu(h))"
    wrong "'torch.nn.functional.relu'" "write 'h = relu(a(x))'"
    wrong "'ops.relu': names" "write 'return F.sum() + F.nonexist(relu(h))'"
    net net "a: $fc" "return a(x).item()"
    wrong "cell or function 'item' not found" "Values are not read in construct"
    net net "a: $fc" "return a(x).size(0)"
    wrong "cell or function 'size' not found" "x.shape all of"
    [[ "$stderr" != *sign* ]]
    net net "a: $fc" "return a(x).contiguous()"
    wrong "cell or function 'contiguous' not found" "omit the call"
    net net "a: $fc" "return a(x).transpose(1, 2)"
    wrong "expected each of the 3 axes" "write swapaxes"
    net net "a: $fc" "x[:, 0] = 0" "return a(x)"
    wrong "found '[', expected '='" "by where, concat or stack"
    net net "a: $fc" "return a(x)[argmax(x, -1)]"
    wrong "index: found a tensor" "write gather(x, indices, axis)"
    net net "a: $fc" "return a(x)[x > 0]"
    wrong "index: found a tensor" "write where(mask, x, y), or masked_select"
    net net "a: $fc" "return a(x)[:, [0, 2]]"
    wrong "index: found a tuple of 2" "write stack((x[:, 0], x[:, 2]), 1)"
    net net "a: $fc" "return a(x).xqzw()"
    wrong "cell or function 'xqzw' not found" "cellrun help ops lists the functions"
    net net "a: $fc" "return a(x).rellu()"
    wrong "cell or function 'rellu' not found" "did you mean 'relu'?"
    net net "a: $fc" "return a(concatenate((x, x)))"
    wrong "cell or function 'concatenate' not found" "did you mean 'concat'?"
    net net "a: $fc" "return a(x).width"
    wrong "a tensor has no 'width'; it has shape, ndim, size, dtype, T"
    net net "a: $fc" "return a[0](x)"
    wrong "'a' is not a list of cells"
    net net "a: [$fc, ReLU]" "return a[2](x)"
    wrong "a tuple of 2: member 2 not found"
    net net "a: [$fc, ReLU]" "return a[1](x)"
    wrong "construct never calls the cell 'a'"
}

@test "slices: ... is every axis that has no item of its own" {
    net net "a: $fc" "b = a(x)" \
        "return (b[..., 0:4].sum() + b[..., -1].sum() * 2 + b[0, ...].sum() +" \
        "  (b[..., None] * b[...][:, ..., None]).sum() + b[1:, ..., ::2].sum() +" \
        "  b[:, 1, :, ...].sum() + b.shape[-1] * b[0, 1, 2, ...])"
    net flat "a: $fc" "b = a(x)" \
        "return (b[:, :, 0:4].sum() + b[:, :, -1].sum() * 2 + b[0].sum() +" \
        "  (b[:, :, :, None] * b[:, :, :, None]).sum() + b[1:, :, ::2].sum() +" \
        "  b[:, 1, :].sum() + b.shape[-1] * b[0, 1, 2])"
    same net flat
    net net "a: $fc" "return a(x)[..., 0, ...]"
    wrong "'...' may stand once"
    net net "a: $fc" "return a(x)[0, ..., 0, 0, 0]"
    wrong "more indices than dimensions"
    net net "a: [$fc, ReLU]" "return a[...](x)"
    wrong "a tuple has no '...'"
    net net "a: $fc" "return a(x) * ..."
    wrong "found '.', expected a value"
}
