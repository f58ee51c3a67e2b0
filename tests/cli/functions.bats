# Functions of construct: every op that help lists, wrong calls of them, and
# networks made of them in the commands that users run. Their numbers are
# compared with MindSpore's and PyTorch's in tests/golden/*/fn_*.
bats_require_minimum_version 1.5.0
set -o pipefail
load small.bash
load tensors.bash

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
}

# The network that gives a sum for each line of functions.txt.
every_function() {
    cat <<'END'
network:
  inputs: {x: {shape: [60]}}
  construct: |
    a = reshape(x[0, :12], (3, 4))
    b = a * 0.5 + 1
    c = a[:, 0]
    v = a[0]
    p = sigmoid(a)
    i = cast(p[:, 0] * 2, int32)
    im = reshape(x[:2], (2, 3, 4, 5))
    vol = reshape(x[:2], (2, 1, 3, 4, 5))
    seq = reshape(x[:2, :12], (2, 3, 4))
    y = x[:, :2]
END
    sed 's/.*/    y = y + sum(cast(&, float32))/' "$BATS_TEST_DIRNAME/functions.txt"
    echo '    return y'
}

@test "every op that help lists can be called, and is helped by its signature" {
    "$CELLRUN" help ops | sed -nE 's/^  ([A-Za-z][A-Za-z0-9_]*)( .*)?$/\1/p' | sort >listed
    sed 's/(.*//' "$BATS_TEST_DIRNAME/functions.txt" | sort >called
    diff listed called
    [ "$(wc -l <listed)" -ge 350 ]
    "$CELLRUN" help ops --json | jq -r '.[] | .name + " " + .signature' >signatures
    while read -r name; do
        grep -q "^$name $name(.*)$" signatures
    done <listed
    every_function >net.yaml
    perl -e 'print pack "f<*", map { sin $_ } 1 .. 120' | npy x.npy '<f4' '(2, 60)'
    for mode in "" --eager --eval; do
        # shellcheck disable=SC2086
        "$CELLRUN" trace net.yaml --feed x=x.npy $mode -o out.npz >said
    done
    "$CELLRUN" help elu | grep -F 'elu(input_x, alpha=1.0)'
    "$CELLRUN" help sum | grep -F 'sum(input, axis=None, keepdims=False)'
    run -2 "$CELLRUN" help bn_fold
}

@test "pooling functions return one tensor for a single sample, too" {
    local call
    perl -e 'print pack "f<*", map { sin $_ } 1 .. 48' |
        npy x.npy '<f4' '(3, 4, 4)'
    for call in 'max_pool2d(Z, 2)' 'max_pool2d(Z, 2, return_indices=True)[0]' \
        'avg_pool2d(Z, 2, 2)' 'adaptive_max_pool2d(Z, 2)' \
        'adaptive_max_pool2d(Z, 2, True)[0]' 'adaptive_avg_pool2d(Z, 2)'; do
        cat >net.yaml <<END
network:
  inputs: {x: {shape: [4, 4]}}
  construct: |
    one = ${call/Z/x}
    return one * 2 - ${call/Z/x[None]}[0]
END
        run -0 "$CELLRUN" trace net.yaml --feed x=x.npy -o one.safetensors
        run -0 "$CELLRUN" trace net.yaml --feed x=x.npy \
            network.construct="return ${call/Z/x[None]}[0]" \
            --against one.safetensors
    done
}

@test "Dropout2D, Dropout3D and Dropout return a tuple: the output and the mask" {
    cat >drop.yaml <<'END'
network:
  inputs: {x: {shape: [8, 2, 3]}}
  construct: |
    y, mask = Dropout2D(x, keep_prob=0.8)
    z, kept = Dropout(x, 0.5)
    w, whole = Dropout3D(expand_dims(x, 2), 0.5)
    return y, cast(mask, float32), z, kept, w, cast(whole, float32)
END
    perl -e 'print pack "f<*", map { 1 + sin $_ } 1 .. 480' | npy x.npy '<f4' '(10, 8, 2, 3)'
    "$CELLRUN" trace drop.yaml --feed x=x.npy -o train.safetensors
    "$CELLRUN" trace drop.yaml --feed x=x.npy --eval -o eval.safetensors
    tail -c +81 x.npy | tail -c 1920 | perl -0777 -ne 'printf "%.9g\n", $_ for unpack "f<*"' >x
    # pairs OUTPUT KEEP SIZE: outputs are x mask / keep, and masks are one for
    # each SIZE elements; prints how many values the mask has
    pairs() {
        paste x <(tensor train.safetensors "output#.$1") \
            <(tensor train.safetensors "output#.$(($1 + 1))") |
            perl -ane 'BEGIN { ($keep, $size) = splice @ARGV, 0, 2 }
                abs($F[1] - $F[0] * $F[2] / $keep) < 1e-5 or die "value $.: @F";
                $F[2] == 0 || $F[2] == 1 or die "mask $.: @F";
                ($. - 1) % $size == 0 || $F[2] == $was or die "plane $.: @F";
                $was = $F[2]; $seen{$was}++; END { print scalar keys %seen }' \
                "$2" "$3"
    }
    [ "$(pairs 0 0.8 6)" = 2 ]
    [ "$(pairs 2 0.5 1)" = 2 ]
    [ "$(pairs 4 0.5 6)" = 2 ]
    diff x <(tensor eval.safetensors 'output#.0')
    [ "$(tensor eval.safetensors 'output#.1' | sort -u)" = 1 ]
}

@test "rand() and randn() have the shape (1,), rand(()) is a scalar" {
    cat >rand.yaml <<'END'
network:
  inputs: {x: {shape: [4]}}
  construct: |
    a, b, c = rand(), randn(), rand(())
    return x + a.ndim + 10 * b.shape[0] + 100 * c.ndim
END
    perl -e 'print pack "f<*", (0) x 4' | npy x.npy '<f4' '(1, 4)'
    run -0 "$CELLRUN" trace rand.yaml --feed x=x.npy --print network
    [[ "$output" == *"[[11. 11. 11. 11.]]"* ]]
}

# said EXPRESSION: what check says, in $stderr, of a network that returns it;
# h has the shape (1, 3)
said() {
    cat >wrong.yaml <<END
network:
  inputs: {x: {shape: [4]}}
  cells: {fc: {Dense: {out_channels: 3}}}
  construct: |
    h = fc(x)
    return $1
END
    run -2 --separate-stderr "$CELLRUN" check wrong.yaml
}

# wrong EXPRESSION MESSAGE: at the place of the expression
wrong() {
    said "$1"
    [ "${stderr_lines[0]#wrong.yaml:6:12: error: }" = "$2" ]
}

@test "too many arguments: the signature is shown" {
    wrong "max_pool2d()" \
        "max_pool2d: 'x' is missing, expected max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) [E0103]"
    wrong "masked_select(h, h > 0)" \
        "masked_select: 'size' is missing, expected masked_select(input, mask, size, fill_value=0) [E0103]"
    said "silu(h, 1)"
    [[ "$stderr" == *"wrong.yaml:6:20: error: too many arguments for silu: expected silu(input) "* ]]
}

@test "an unknown keyword: the nearest argument, or the signature" {
    said "elu(h, alfa=2)"
    [[ "$stderr" == *"elu has no argument 'alfa' "*"did you mean 'alpha'?"* ]]
    said "tril(h, rows=2)"
    [[ "$stderr" == *"tril has no argument 'rows' "*"write tril(input, diagonal=0)"* ]]
}

@test "an error inside a function is reported at its call, with its signature" {
    wrong "layer_norm(h, (4,))" \
        "input: found (1, 3), which ends in (3,) from axis -1 on, expected the shape of the parameters, (4,) [E0101]"
    [[ "$stderr" == *"   in layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5)"*"h (1, 3)"* ]]
    wrong "var(h, axis=4)" "axis: found 4, expected -2 to 1 for input (1, 3) [E0101]"
    wrong "softplus(h, 0)" "division by zero [E0103]"
    wrong "silu('relu')" "found 'relu', expected a tensor [E0103]"
}

@test "einsum: names of axes that do not fit" {
    wrong "einsum('ij,jk->ik', h)" \
        "equation 'ij,jk->ik': found more operands than the 1 given [E0103]"
    wrong "einsum('ij->i', h, h)" \
        "equation 'ij->i': found fewer operands than the 2 given [E0103]"
    wrong "einsum('ij,jk->ik', h, h)" \
        "equation 'ij,jk->ik': axis 0 of operand 1, (1, 3), has length 1, expected 3 [E0101]"
    wrong "einsum('i->i', h)" \
        "equation 'i->i': operand 0 is (1, 3), expected 1 dimensions [E0101]"
    wrong "einsum('ij->ijj', h)" \
        "equation 'ij->ijj': the result names an axis twice [E0103]"
    wrong "einsum('ij->k', h)" \
        "equation 'ij->k': the result names an axis that no operand has [E0103]"
    wrong "einsum('i.j->i', h)" \
        "equation 'i.j->i': found another sign than letters, ',', '->' and '...' [E0103]"
}

@test "axes and lengths that do not fit" {
    wrong "roll(h, (1, 2), 0)" "shifts: found 2, expected 1, one per axis [E0101]"
    wrong "flip(h, (0, 0))" "dims: found axis 0 twice [E0101]"
    wrong "unstack(h, 3)" "axis: found 3, expected -2 to 1 for input (1, 3) [E0101]"
    wrong "meshgrid(h, h)" "inputs: found (1, 3), expected one dimension [E0101]"
    said "gather_elements(h, 1, h)" # float64 in its own build
    [[ ${stderr_lines[0]} == *"index: found float"*", expected int32 [E0102]" ]]
    wrong "prelu(h, h)" \
        "weight: found (1, 3) for input (1, 3), expected (1,) or one value per channel [E0101]"
}

@test "more arguments than a function of any number takes" {
    said "rand(*range(10000), *range(10000))"
    [[ "$stderr" == *": error: more than 16 arguments for '*size' "* ]]
    said "einsum('i,i', $(printf 'h[0],%.0s' {1..17}))"
    [[ "$stderr" == *": error: more than 16 arguments for '*operands' "* ]]
}

@test "a size as one tuple is the size in single numbers" {
    "$CELLRUN" help rand | grep -F 'rand((2, 3))'
    perl -e 'print pack "f<*", 1 .. 4' | npy x.npy '<f4' '(1, 4)'
    for size in '2, 3' '(2, 3)' '[2, 3]' '*(2, 3)'; do
        cat >size.yaml <<END
network:
  inputs: {x: {shape: [4]}}
  construct: |
    return rand($size), randn($size), x
END
        run -0 "$CELLRUN" trace size.yaml --feed x=x.npy -o "size${size//[^a-z(*[]/}.npz"
    done
    for other in 'size(' 'size[' 'size*('; do
        "$CELLRUN" ckpt diff size.npz "$other.npz"
    done
}

@test "a value that a function does not take is an error with those that it takes" {
    wrong "divide(h, h, rounding_mode='up')" \
        "rounding_mode: found 'up', expected None, 'floor' or 'trunc' [E0103]"
    [[ "$stderr" == *"   in divide(input, other, *, rounding_mode=None)"* ]]
    wrong "diff(h, 2)" "n: found 2, expected 1 [E0103]"
    wrong "cross(h[:, :2], h[:, :2])" \
        "input: found a tensor (1, 2), expected an axis of length 3 [E0103]"
    wrong "cross(h, h[:, :1])" \
        "other: found a tensor (1, 1), expected that axis, of length 3 [E0103]"
    wrong "tensor_dot(ones((4, 6)), ones((6, 4)), ((0, 1), (0, 1)))" \
        "axes: found a tuple of 2, expected axes of the same lengths [E0103]"
    wrong "max_unpool2d(h, cast(h, int32), 2)" "x: found a tensor (1, 3), expected (N, C, H, W) [E0103]"
    wrong "tensor_scatter_sub(h, cast(zeros((1, 3)), int32), h)" \
        "indices: found a tensor (1, 3), expected an index per axis at most [E0103]"
    wrong "scatter(h, 5, cast(h, int32), h)" "axis: found 5, expected an axis of input [E0103]"
    wrong "rot90(h, 1, (0, -2))" "dims: found a tuple of 2, expected two axes [E0103]"
    wrong "rot90(h, 1.5, (0, 1))" "k: found 1.5, expected an integer [E0103]"
    for axis in "diff(h, axis=None)" "median(h, None)[0]" "h * h.shape[None]" "h * len(range(None))"; do
        said "$axis"
        [[ ${stderr_lines[0]} == *" error: index: found None, expected an integer [E0103]" ]]
    done
    for grid in "(1, 2)" "(1, 1, 2)" "(2, 1, 1, 2)" "(1, 1, 1, 3)"; do
        wrong "grid_sample(reshape(h, (1, 1, 1, 3)), ones($grid))" \
            "grid: found a tensor $grid, expected (N, H, W, 2), N that of input [E0103]"
    done
    wrong "affine_grid(ones((1, 2, 3)), (2, 1, 3, 3))" \
        "theta: found a tensor (1, 2, 3), expected (N, 2, 3) [E0103]"
    wrong "affine_grid(reshape(h, (1, 1, 3)), (1, 3))" \
        "size: found a tuple of 2, expected (N, C, H, W) [E0103]"
    wrong "searchsorted(h[0], h, side='middle')" \
        "side: found 'middle', expected 'left' or 'right' [E0103]"
    wrong "rotary_position_embedding(h, h, h, 2)" "mode: found 2, expected 0 or 1 [E0103]"
    wrong "swiglu(h)" "input: found a tensor (1, 3), expected an even length [E0103]"
    wrong "rotary_position_embedding(h, h, h)" \
        "x: found a tensor (1, 3), expected an even length [E0103]"
    wrong "gumbel_softmax(h, 0)" "tau: found 0, expected a positive number [E0103]"
    wrong "unsorted_segment_min(cast(h, int32), cast(h, int32), 2)" \
        "x: found a tensor (1, 3), expected real numbers [E0103]"
    for option in "mode='bicubic'" "padding_mode='reflection'"; do
        said "grid_sample(reshape(h, (1, 1, 1, 3)), reshape(h[:, :2], (1, 1, 1, 2)), $option)"
        [[ ${stderr_lines[0]} == *"${option%=*}: found ${option#*=}, expected '"* ]]
    done
    said "grid_sample(h, h)"
    [[ ${stderr_lines[0]} == *"input: found a tensor (1, 3), expected (N, C, H, W) "* ]]
    wrong "pair(2)" "cell or function 'pair' not found [E0103]"
    wrong "expect(True)" "cell or function 'expect' not found [E0103]"
}

@test "gumbel_softmax samples the softmax: one-hot rows if hard, whose gradient is soft" {
    cat >gumbel.yaml <<'END'
network:
  cells: {a: {Parameter: {shape: [3]}}}
  construct: |
    logits = x[:, :3] * 0 + a
    y = gumbel_softmax(logits, 0.5, hard=True)
    z = gumbel_softmax(logits)
    return y, sum(y, 0) / len(y), sum(z, 1), max(z, 1)
END
    perl -e 'print pack "f<*", (0) x 8000' | npy x.npy '<f4' '(2000, 4)'
    "$CELLRUN" trace gumbel.yaml --feed x=x.npy --set network.cells.a.Parameter.init=0.0 -o g.safetensors
    [ "$(tensor g.safetensors 'output#.0' | sort -u | paste -sd ' ')" = "0 1" ]
    tensor g.safetensors 'output#.1' |
        perl -ne 'abs($_ - 1 / 3) < 0.05 or die; $n++; END { $n == 3 or die }'
    tensor g.safetensors 'output#.2' | perl -ne 'abs($_ - 1) < 1e-5 or die'
    tensor g.safetensors 'output#.3' | perl -ne '$_ < 1 or die'
}

@test "errors of dropout use the names of its call" {
    said "dropout(h, p=2.0)"
    [[ $stderr == *"'p' of Dropout: found the number 2.0, expected a number from 0 "*"in dropout(input, p=0.5, training=True)"* ]]
    sed -i 's/p=2.0/p=1.0/' wrong.yaml
    run -0 "$CELLRUN" check wrong.yaml
}

@test "narrow: a start and a length that leave the axis" {
    wrong "narrow(h, 1, 1, 3)" "input: found (2,), expected as many elements as the shape (3,) [E0101]"
    wrong "narrow(h, 1, -2, 3)" \
        "the slice of axis 0 of input (3,) is empty [E0101]"
    said "narrow(h, 1, 1, 0)"
}

@test "an op that is not listed cannot be called" {
    wrong "bn_fold(h)" "cell or function 'bn_fold' not found [E0103]"
    wrong "cell('ReLU', h)" "cell or function 'cell' not found [E0103]"
}

# net FILE EXPRESSION: the config of small.bash with a function between layers
net() {
    config base.yaml
    cat >"$1" <<END
base: base.yaml
network: !replace
  body:
    cells: {a: {Dense: {out_channels: 16}}, b: {Dense: {out_channels: 3}}}
    construct: |
      h = a(x)
      return b($2)
END
}

@test "a function of the table trains as its cell does" {
    local pair
    for pair in "ELU elu(h)" "SiLU silu(h)" "LeakyReLU leaky_relu(h)" "HSwish hardswish(h)"; do
        net f.yaml "${pair#* }"
        net c.yaml "act(h)"
        sed -i "s/cells: {/cells: {act: ${pair%% *}, /" c.yaml
        "$CELLRUN" train f.yaml -q --force -o f train.epochs=1
        "$CELLRUN" train c.yaml -q --force -o c train.epochs=1
        run -0 "$CELLRUN" ckpt diff f c
        [[ "$output" == *"no differences"* ]]
    done
}

@test "functions in train, resume, eval and predict, eager and not" {
    net f.yaml "dropout(layer_norm(mish(h), (16,)), 0.2) + einsum('bi,bi->b', h, h)[:, None] * 0.01 + std(h, 1, keepdims=True)"
    "$CELLRUN" train f.yaml -q -o whole train.epochs=2
    "$CELLRUN" train f.yaml -q -o half train.epochs=1
    "$CELLRUN" resume half -q train.epochs=2
    run -0 "$CELLRUN" ckpt diff whole half
    [[ "$output" == *"no differences"* ]]
    "$CELLRUN" train f.yaml -q -o eager --eager train.epochs=2
    run -0 "$CELLRUN" ckpt diff --rtol 1e-4 --atol 1e-5 whole eager
    "$CELLRUN" eval --ckpt whole >eval.txt
    "$CELLRUN" eval --ckpt whole --eager >eager.txt
    diff eval.txt eager.txt
    "$CELLRUN" predict --ckpt whole eval-x.npy >predicted.txt
    [ "$(grep -c . predicted.txt)" -ge 100 ]
    "$CELLRUN" gradcheck f.yaml >check.txt
}

@test "a function keeps its numbers in low precision" {
    net f.yaml "silu(h)"
    net c.yaml "act(h)"
    sed -i "s/cells: {/cells: {act: SiLU, /" c.yaml
    for level in O2 auto; do
        "$CELLRUN" train f.yaml -q --force -o f train.epochs=1 amp.level=$level amp.dtype=bfloat16
        "$CELLRUN" train c.yaml -q --force -o c train.epochs=1 amp.level=$level amp.dtype=bfloat16
        run -0 "$CELLRUN" ckpt diff f c
        [[ "$output" == *"no differences"* ]]
    done
    net g.yaml "cast(cast(h, float16) * 3.1, float32)"
    "$CELLRUN" train g.yaml -q -o g train.epochs=1
    "$CELLRUN" gradcheck g.yaml | grep -i 'float32'
}

@test "an index out of range along its axis selects no other slice" {
    perl -e 'print pack "l<*", 0, 6, 1, -1, 2, 1' | npy at.npy '<i4' '(1, 3, 2)'
    cat >nd.yaml <<'END'
network:
  inputs: {at: {shape: [3, 2], type: int32}}
  construct: |
    x = reshape(arange(12) + 1.0, (3, 4))
    a = gather_nd(x, at)
    b = scatter_nd(at[0], ones(3), (3, 4))
    return a, b, tensor_scatter_add(zeros((3, 4)), at[0], ones(3)) - b
END
    run -0 "$CELLRUN" trace nd.yaml --feed at=at.npy -o nd.npz
    cat >want.yaml <<'END'
network:
  inputs: {at: {shape: [3, 2], type: int32}}
  construct: |
    only = cast(arange(12) == 9, float32)
    b = reshape(only, (3, 4))
    return reshape((arange(3) == 2) * 10.0, (1, 3)), b, zeros((3, 4))
END
    run -0 "$CELLRUN" trace want.yaml --feed at=at.npy -o want.npz
    run -0 "$CELLRUN" ckpt diff nd.npz want.npz
}
