# export: checkpoints for other programs.
bats_require_minimum_version 1.5.0
set -o pipefail
load two_layers

# A run of two epochs, for all tests.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    two_layers net.yaml
    "$CELLRUN" train net.yaml -q -o run
    "$CELLRUN" train net.yaml -q -o ema train.ema.decay=0.5 eval.use_ema=true
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_TEST_TMPDIR"
    cp -r "$BATS_FILE_TMPDIR"/* .
}

fails() {
    local status=$1
    shift
    run -"$status" --separate-stderr "$CELLRUN" "$@"
}

@test 'weights for other programs: no slots, equal values, every format' {
    local to
    for to in safetensors npz ckpt; do
        "$CELLRUN" export run -q -o "w.$to"
        "$CELLRUN" ckpt ls "w.$to" >list
        [ "$(grep -c '^\(fc\|out\)\.' list)" = 4 ]
        [ "$(wc -l <list)" = 5 ]
        "$CELLRUN" ckpt strip run -q -o strip.safetensors
        "$CELLRUN" ckpt diff strip.safetensors "w.$to"
    done
}

@test 'export needs no file of learning rates' {
    local to
    echo 0.1 >rates.txt
    "$CELLRUN" train net.yaml -q -o rates optimizer.learning_rate=rates.txt
    rm rates.txt
    for to in onnx c npz ckpt safetensors; do
        "$CELLRUN" export rates -q -o "w.$to"
    done
    "$CELLRUN" ckpt strip rates -q -o strip.safetensors
    "$CELLRUN" report rates -q -o rates.html
    grep -q 'multiply-adds per sample' rates.html
    # nor does it read the file that a copied run names
    echo 0.1 >rates.txt
    cp -r rates copy
    "$CELLRUN" export copy -q -o copy.onnx
    cmp w.onnx copy.onnx
}

@test 'export --dtype: the weights are rounded to it' {
    local type to
    for type in float16 bfloat16; do
        for to in safetensors ckpt; do
            "$CELLRUN" export run -q --dtype "$type" -o "h.$to"
            "$CELLRUN" ckpt ls "h.$to" >list
            [ "$(grep -ciE "(F16|BF16|$type) " list)" = 4 ]
        done
    done
    fails 2 export run --dtype bfloat16 -o h.npz
    [[ $stderr = *'NPZ files cannot hold it'* ]]
}

@test 'export with eval.use_ema: the moving averages, by the names of weights' {
    "$CELLRUN" export ema -q -o w.safetensors
    "$CELLRUN" ckpt ls w.safetensors >list
    [ "$(wc -l <list)" = 5 ]
    [ "$("$CELLRUN" ckpt show w.safetensors --values fc.bias)" = \
        "$("$CELLRUN" ckpt show ema --values cellrun.ema.fc.bias |
            sed 's/cellrun.ema.//')" ]
    fails 6 ckpt diff ema w.safetensors --match fc.bias
}

@test 'export: missing, foreign and corrupt checkpoints, and wrong names' {
    fails 4 export missing.safetensors -o w.npz
    [[ $stderr = *'checkpoint not found'* ]]
    echo text >bad.safetensors
    fails 4 export bad.safetensors -o w.npz
    fails 2 export run -o w.txt
    [[ $stderr = *"-o: found 'w.txt', expected a name that ends in .c"* ]]
    fails 2 export run --to npz -o w.ckpt
    fails 2 export run
    [[ $stderr = *'export needs -o FILE'* ]]
    fails 2 export run --normalize -o w.npz
    cp run/ckpt/last.safetensors a.safetensors
    fails 2 export a.safetensors -o a.safetensors
    [[ $stderr = *'expected another file'* ]]
    [ ! -e w.npz ]
}

@test 'export: a full disk leaves the old file' {
    [ -w /dev/full ] || skip 'no /dev/full'
    fails 1 export run --to npz -o /dev/full
    [[ $stderr = */dev/full* ]]
    echo old >w.npz
    run -1 --separate-stderr bash -c \
        'ulimit -f 0; trap "" XFSZ; exec "$CELLRUN" export run -o w.npz'
    [ "$(cat w.npz)" = old ]
}

# golden: the network of tests/golden/onnx, trained here
golden() {
    local dir=$BATS_TEST_DIRNAME/../golden/onnx
    cp "$dir"/* .
    "$CELLRUN" train net.yaml -q -o golden >/dev/null
}

@test 'onnx: the bytes of a model that onnxruntime has computed' {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    golden
    [ "$("$CELLRUN" export golden --json -o a.onnx)" = \
        '{"nodes": 7, "tensors": 8}' ]
    cmp a.onnx net.onnx
    "$CELLRUN" export golden -q --normalize -o a.onnx
    cmp a.onnx raw.onnx
    "$CELLRUN" trace golden --predict --feed image=image.npy --against out.npz
}

@test 'onnx: functions of construct, as onnxruntime has computed them' {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
    st w.safetensors
    golden
    "$CELLRUN" export functions.yaml --ckpt w.safetensors -q -o functions.onnx
    sha256sum -c functions.sha256
    "$CELLRUN" train features.yaml -q -o features
    "$CELLRUN" export features --normalize -q -o features.onnx
    sha256sum -c features.sha256
}

@test 'onnx --dtype: weights of 2 bytes, in the same places' {
    "$CELLRUN" export run -q -o a.onnx
    "$CELLRUN" export run -q --dtype float16 -o b.onnx
    "$CELLRUN" export run -q --dtype bfloat16 -o c.onnx
    for name in fc.weight fc.bias out.weight out.bias; do
        for file in a b c; do grep -q "$name" "$file.onnx"; done
    done
    [ "$(grep -c Cast a.onnx)" = 0 ]
    [ "$(grep -c Cast b.onnx)" -gt 0 ]
    [ "$(wc -c <b.onnx)" = "$(wc -c <c.onnx)" ]
}

@test 'onnx: a config with weights of another file, and the moving averages' {
    "$CELLRUN" export run -q -o w.npz
    "$CELLRUN" export run -q -o a.onnx
    "$CELLRUN" export net.yaml -q --ckpt w.npz -o b.onnx
    cmp <(tail -c 400 a.onnx) <(tail -c 400 b.onnx)
    grep -q sha256 a.onnx && run -1 grep -q sha256 b.onnx
    "$CELLRUN" export ema -q -o c.onnx
    run -1 cmp -s a.onnx c.onnx
    fails 2 export net.yaml -o d.onnx
    [[ $stderr = *'export needs weights'* ]]
    fails 4 export w.npz -o d.onnx
    [[ $stderr = *'contains no config'* ]]
}

@test 'onnx: an op without ONNX form is an error with the place of its cell' {
    sed -e 's/act: Tanh/act: RReLU/' net.yaml >random.yaml
    "$CELLRUN" export run -q -o w.npz
    fails 2 export random.yaml --ckpt w.npz -o d.onnx
    [[ $stderr = *"op 'rrelu' of cell 'act' (RReLU): no ONNX operator"* ]]
    [ ! -e d.onnx ]
}

# net_of SHAPE EXPRESSION [TYPE]: net.yaml, which returns it for inputs x of that
# shape
net_of() {
    printf '%s\n' 'network:' \
        "  inputs: {x: {shape: [$1], type: ${3:-float32}}}" \
        "  construct: return $2" >net.yaml
}

# equal_within EPS A B: equal counts of numbers, which differ by less than EPS
equal_within() {
    paste "$2" "$3" | awk -v eps="$1" 'NF != 2 { exit 1 }
        { d = $1 - $2; if (d > eps || -d > eps || d != d) bad = 1; n++ }
        END { exit bad || n == 0 }'
}

@test 'onnx: ops on integers have the types that ONNX knows' {
    st w.safetensors
    local f
    for f in floor ceil round; do
        net_of 4 "$f(x)" int32
        "$CELLRUN" export net.yaml --ckpt w.safetensors -q -o a.onnx
        run -1 grep -qi "$f" a.onnx
    done
    for f in rsqrt log1p expm1 erfc; do
        net_of 4 "$f(x)" int32
        "$CELLRUN" export net.yaml --ckpt w.safetensors -q -o a.onnx
        grep -q Cast a.onnx
    done
    net_of 4 'square(x > 0)' int32
    "$CELLRUN" export net.yaml --ckpt w.safetensors -q -o a.onnx
    grep -q Cast a.onnx
    # bounds of integers: those of 1 and 2
    net_of 4 'clamp(x, 0.5, 2.5)' int32
    "$CELLRUN" export net.yaml --ckpt w.safetensors -q -o a.onnx
    net_of 4 'clamp(x, 1, 2)' int32
    "$CELLRUN" export net.yaml --ckpt w.safetensors -q -o b.onnx
    cmp a.onnx b.onnx
}

@test 'onnx: pooling and padding over the batch is an error' {
    st w.safetensors
    local to
    for to in 'adaptive_avg_pool2d(x, 1)' 'max_pool2d(x, (1, 2), 1)' \
        "conv2d(x, ones((1, 2, 3, 3)), pad_mode='same')"; do
        net_of 8 "${to/(x/(transpose(reshape(x, (-1, 2, 2, 2)), (1, 2, 3, 0))}"
        fails 2 export net.yaml --ckpt w.safetensors -o a.onnx
        [[ $stderr = *'of the network (Cell): it p'*'s the batch'* ]]
    done
    [ ! -e a.onnx ]
}

@test 'onnx: what depends on the batch size other than by shape is an error' {
    cat >own.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [3]}}
  cells: {fc: {Dense: [3, 4]}}
  construct: return fc(x) / x.shape[0]
END
    "$CELLRUN" export run -q -o w.safetensors
    "$CELLRUN" ckpt convert w.safetensors --match 'fc.*' -q -o fc.npz
    fails 2 export own.yaml --ckpt fc.npz -o d.onnx
    [[ $stderr = *"op 'constant' of the network"*'depend on the batch size'* ]]
    sed -i 's/ \/ x.*/.reshape((4, 2))/' own.yaml
    fails 2 export own.yaml --ckpt fc.npz -o d.onnx
    [[ $stderr = *'export builds the network for 2, 3 and 5 samples'* ]]
}

@test 'onnx --normalize: fitted values, and a transform without ONNX form' {
    "$CELLRUN" train net.yaml -q -o fit datapipe.x='[Standardize]' >/dev/null
    "$CELLRUN" export fit -q --normalize -o a.onnx
    [ "$(grep -c Sub a.onnx)" -gt 0 ]
    "$CELLRUN" export fit -q -o b.onnx
    [ "$(grep -c Sub b.onnx)" = 0 ]
    "$CELLRUN" train net.yaml -q -o logs datapipe.x='[{Clip: {min: 0}}, Log]' \
        >/dev/null
    fails 0 export logs -q --normalize -o c.onnx
    [[ $stderr = *"'--normalize' has no effect on column 'x': Log has no ONNX"* ]]
    "$CELLRUN" export logs -q -o b.onnx
    [ "$(grep -c Clip c.onnx)" = 0 ]
    "$CELLRUN" export net.yaml -q --ckpt run -o c.onnx
    fails 4 export net.yaml --ckpt run --normalize -o c.onnx
    [[ $stderr = *"does not contain the type of column 'x'"* ]]
}

@test 'onnx and c name the transforms that they do not contain' {
    "$CELLRUN" train net.yaml -q -o fit \
        datapipe.x='[{TypeCast: float32}, Standardize]' >/dev/null
    fails 0 export fit -o a.onnx
    [ "$stderr" = 'the file has no datapipe; inputs are samples after it: x after TypeCast, Standardize (see --normalize)' ]
    fails 0 export fit -o a.c
    [[ $stderr == *'x after TypeCast, Standardize' ]]
    for args in '--normalize -o a.onnx' '-q -o a.onnx' '--json -o a.onnx' \
        '-o a.safetensors'; do
        fails 0 export fit $args
        [ -z "$stderr" ]
    done
}

# c_build FILE.c: the program of a C file, FILE
c_build() {
    local name=${1##*/}
    ${CC:-cc} -std=c99 -O1 -Wall -Wextra -Wpedantic -Werror \
        "-D${name%.c}_MAIN" "$1" -o "${1%.c}" -lm
}

# c_trained NAME: a run of the network on standard input, on eight samples a.npy
# of three classes
c_trained() {
    pack 'l<*' 0 1 1 0 2 1 0 2 | npy b.npy '<i4' '(8,)'
    {
        cat <<'END'
dataset:
  train:
    NumpySlicesDataset: {data: [a.npy, b.npy], column_names: [x, label]}
datapipe: {batch: {batch_size: 4}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
        cat
    } >"$1.yaml"
    "$CELLRUN" train "$1.yaml" -q -o "$1"
}

# c_equal NET COLUMN FEED.npy COUNT ARG...: the C file of a run, or of a config
# with the flag --ckpt, computes what trace does
c_equal() {
    local mine="$PWD/c-$1"
    rm -rf "$mine" && mkdir "$mine"
    "$CELLRUN" export "$1" -q -o "$mine/net.c" "${@:5}"
    c_build "$mine/net.c"
    "$CELLRUN" trace "$1" --predict --feed "$2=$3" -q \
        -o "$mine/t.safetensors" "${@:5}"
    tensor "$mine/t.safetensors" output >"$mine/want"
    tail -c "$4" "$3" | perl -0777 -ne 'print join ",", unpack "f<*"' |
        "$mine/net" | tr '\t' '\n' >"$mine/got"
    equal_within 1e-5 "$mine/got" "$mine/want"
}

@test 'c: dense layers, convolution, pooling, normalisation and arithmetic' {
    c_equal run x x.npy 48
    perl -e 'print pack "f<*", map { sin $_ * $_ } 1 .. 8 * 4 * 7 * 8' |
        npy a.npy '<f4' '(8, 4, 7, 8)'
    c_trained conv <<'END'
network:
  cells:
    a: {Conv2d: {out_channels: 8, kernel_size: 3, stride: 2, group: 2, has_bias: true, weight_init: Normal}}
    b: {Conv2d: {out_channels: 8, kernel_size: [3, 2], pad_mode: pad, padding: [1, 2, 0, 3], dilation: [2, 1]}}
    sh: {ChannelShuffle: 4}
    bn: BatchNorm2d
    g: GELU
    h: HSwish
    p: {AvgPool2d: {kernel_size: 3, stride: 2, pad_mode: same}}
    q: {MaxPool2d: {kernel_size: 3, stride: 2, pad_mode: same}}
    e: ELU
    k: LeakyReLU
    f: Flatten
    d: {Dense: {out_channels: 6}}
    l: {LayerNorm: {normalized_shape: [6]}}
    s: {Softmax: {axis: -1}}
    o: {Dense: {out_channels: 3}}
  construct: |
    x = h(bn(sh(b(g(a(x))))))
    y = p(x)
    z = q(x)
    x = f(e(y) + k(z) * 2.0 - y / 3.0)
    y = f(s(z))
    return o(l(d(concat([x, y], 1))))
END
    c_equal conv x a.npy 7168
}

@test 'c: cells of activations and normalisation' {
    perl -e 'print pack "f<*", map { sin($_ * $_) * 2 } 1 .. 8 * 4 * 3 * 2' |
        npy a.npy '<f4' '(8, 4, 3, 2)'
    c_trained cells <<'END'
network:
  cells:
    a: {GroupNorm: [2, 4]}
    b: InstanceNorm2d
    c: PReLU
    d: {PReLU: {channel: 4, w: {Array: {values: [-0.5, 0.25, 2, 1]}}}}
    e: HShrink
    f: {SoftShrink: 0.25}
    g: Tanhshrink
    h: {Threshold: [0.5, -2.0]}
    i: Flatten
    j: {Dense: {out_channels: 3}}
  construct: |
    x = a(x)
    return j(i(concat((b(x), c(x), d(x), e(x), f(x), g(x), h(x)), 1)))
END
    c_equal cells x a.npy 768
}

@test 'c: an op without C form is named; no --normalize, no other type' {
    fails 2 export run --normalize -o net.c
    fails 2 export run --dtype float16 -o net.c
    "$CELLRUN" train net.yaml -q -o odd network.act=GLU \
        "network.out={Dense: [2, 2]}"
    fails 2 export odd -o net.c
    [[ $stderr = *"export to C: op 'glu' of cell 'act'"* ]]
    [ ! -e net.c ]
}

@test 'c: channels last' {
    perl -e 'print pack "f<*", map { sin $_ * $_ } 1 .. 4 * 5 * 6 * 3' |
        npy a.npy '<f4' '(4, 5, 6, 3)'
    cat >nhwc.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [a.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 2}}
network:
  a: {Conv2d: {out_channels: 4, kernel_size: 3, data_format: NHWC}}
  p: {MaxPool2d: {kernel_size: 2, stride: 2, data_format: NHWC}}
  f: Flatten
  d: {Dense: {out_channels: 2}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    "$CELLRUN" train nhwc.yaml -q -o nhwc
    c_equal nhwc x a.npy 1440
}

@test 'c: several images, sequences and rows of one sample' {
    st w.safetensors
    perl -e 'print pack "f<*", map { sin $_ * $_ } 1 .. 4 * 3 * 5 * 4' |
        npy a.npy '<f4' '(4, 3, 5, 4)'
    local to
    for to in 'conv2d(reshape(x, (-1, 1, 5, 4)), ones((2, 1, 3, 3)))' \
        'conv2d(x, ones((6, 1, 2, 3)), stride=2, groups=3)' \
        'batch_norm(reshape(x, (-1, 5, 4)), linspace(1, 2, 5), ones((5,)),
            zeros((5,)), linspace(2, 3, 5))' \
        'max_pool2d(reshape(x, (-1, 1, 5, 4)), 2)' \
        'softmax(reshape(x, (-1, 4)))' 'sum(x, (1, 2, 3))' \
        'mean(x, (2, 3), keepdims=True)' 'flatten(x) * linspace(1, 2, 60)'; do
        net_of '3, 5, 4' "$to"
        c_equal net.yaml x a.npy 960 --ckpt w.safetensors
    done
}

@test 'c: functions of single elements, sums and changes of shape' {
    st w.safetensors
    local f
    {
        cat <<'END'
network:
  inputs: {x: {shape: [12]}}
  construct: |
    a = reshape(x, (-1, 3, 4))
    b = sigmoid(a) + 0.1
    im = reshape(concat((x, x * 2, x - 1, x * x, sin(x)), 1), (-1, 3, 4, 5))
    y = x
END
        for f in abs celu cos elu erf fast_gelu gelu hardsigmoid hardswish \
            hardtanh leaky_relu logsigmoid mish neg relu relu6 selu sigmoid \
            silu sin softsign square tanh log_softmax softmax; do
            echo "    y = concat((y, flatten($f(a * 3))), 1)"
        done
        while read -r f; do
            echo "    y = concat((y, flatten($f)), 1)"
        done <<'END'
log(b)
exp(a)
cosh(a)
rsqrt(b)
sqrt(b)
celu(a, 2.0)
leaky_relu(a, 0.5)
hardtanh(a, -0.5, 0.25)
gelu(a, approximate='tanh')
a / b - b * a + 2 - a
pow(b, a)
maximum(a, b) - minimum(a, 0.5)
softmax(a, 1) + log_softmax(a, 1)
sum(a, 1)
mean(a, (1, 2), keepdims=True) * a
flatten(mean(a, (1, 2), keepdims=True)) + linear(ones((1, 16)) * 0.25, ones((40, 16)))
mean(im, (2, 3))
sum(im, (1, 2))
transpose(a, (0, 2, 1))
transpose(im, (0, 3, 1, 2))
expand_dims(a, 2) * expand_dims(a, 3)
concat((a, b, a), 2)
concat((a, b), 1)
avg_pool2d(im, 3, 2, padding=1, ceil_mode=True)
avg_pool2d(im, 3, 2, padding=1, ceil_mode=True, count_include_pad=False)
avg_pool2d(im, 3, 2, padding=1, divisor_override=5)
avg_pool1d(a, 2)
adaptive_avg_pool2d(im, (2, 1))
max_pool2d(im, 2, 1, dilation=2)
max_pool2d(im, 3, 2, padding=1, ceil_mode=True)
layer_norm(im, (4, 5))
group_norm(im, 1, linspace(1, 2, 3), linspace(2, 3, 3))
group_norm(a, 3, linspace(1, 2, 3), linspace(2, 3, 3), eps=0.5)
group_norm(reshape(im, (-1, 6, 10)), 3, linspace(1, 2, 6), linspace(2, 3, 6))
group_norm(x, 4, linspace(1, 2, 12), linspace(2, 3, 12))
prelu(im, linspace(-1, 1, 3))
prelu(x, linspace(-1, 1, 12))
prelu(im, linspace(0.25, 0.5, 1))
conv1d(a, reshape(linspace(1, 2, 12), (2, 3, 2)), stride=2)
conv1d(a, reshape(linspace(1, 2, 18), (2, 3, 3)), pad_mode='same')
conv1d(a, reshape(linspace(1, 2, 18), (2, 3, 3)), pad_mode='pad', padding=2)
conv1d(a, reshape(linspace(1, 2, 6), (3, 1, 2)), dilation=2, groups=3)
gather(a, arange(3) - 1, 1)
END
        echo '    return y'
    } >functions.yaml
    perl -e 'print pack "f<*", map { sin($_ * $_) * 2 } 1 .. 36' |
        npy a.npy '<f4' '(3, 12)'
    c_equal functions.yaml x a.npy 144 --ckpt w.safetensors
    [ "$(wc -l <c-functions.yaml/got)" -gt 2500 ]
}

@test 'c: embeddings of indices, which may be out of range' {
    pack 'l<*' 0 4 2 1 1 3 | npy i.npy '<i4' '(2, 3)'
    pack 'l<*' 0 1 | npy l.npy '<i4' '(2,)'
    cat >embed.yaml <<'END'
dataset:
  train: {NumpySlicesDataset: {data: [i.npy, l.npy], column_names: [words, label]}}
datapipe: {batch: {batch_size: 2}}
network:
  inputs: [words]
  cells: {e: {Embedding: [5, 4]}, f: {Dense: [5, 2]}}
  construct: |
    y = e(reshape(words, (-1, 3, 1)))
    y = reshape(y, (-1, 3, 4))
    return f(concat((mean(y, 1), sum(cast(words, float32), 1, keepdims=True)), 1))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    "$CELLRUN" train embed.yaml -q -o embed
    "$CELLRUN" export embed -q -o e.c
    grep -qx ' \*   x\[0 .. 2\]: words (1, 3) of integers' e.c
    c_build e.c
    ./e <<<$'0 4 2\n1 1 3' | tr '\t' '\n' >got
    "$CELLRUN" trace embed --predict --feed words=i.npy -q -o t.safetensors
    tensor t.safetensors output >want
    equal_within 1e-5 got want
    net_of 2 'gather(linspace(1, 3, 3), x, 0)' int32
    st w.safetensors
    "$CELLRUN" export net.yaml -q --ckpt w.safetensors -o g.c
    c_build g.c
    [ "$(./g <<<$'-3 2\n-4 3\nnan 1e30' | xargs)" = '1 3 0 0 0 0' ]
    net_of 2 'x + x' int32
    fails 2 export net.yaml -q --ckpt w.safetensors -o g.c
    [[ $stderr = *"op 'add' of the network (Cell): it reads integers"* ]]
}

@test 'c: what one sample cannot tell is an error' {
    st w.safetensors
    local to
    for to in 'expand_dims(x, 1) + expand_dims(x, 0)' 'sum(x)' 'mean(x, 0)' \
        'softmax(x, 0)' 'sum(reshape(x, (2, -1)), 0)' \
        'adaptive_avg_pool2d(transpose(reshape(x, (-1, 2, 2, 1)), (1, 2, 0, 3)), 1)' \
        'max_pool2d(transpose(reshape(x, (-1, 2, 2, 1)), (1, 2, 3, 0)), (1, 2), 1)' \
        'group_norm(transpose(reshape(x, (-1, 2, 2)), (1, 2, 0)), 1)' \
        'conv2d(transpose(reshape(x, (-1, 2, 2, 1)), (1, 2, 0, 3)),
            ones((1, 2, 1, 1)))'; do
        net_of 4 "$to"
        fails 2 export net.yaml --ckpt w.safetensors -o net.c
        [[ $stderr = *"export to C: op "*' of the network (Cell): it mixes samples; use --to onnx'* ]]
    done
    net_of 4 'relu(x)'
    fails 2 export net.yaml --ckpt w.safetensors -o net.c amp.level=O2
    [[ $stderr = *"it rounds to low precision"*"amp.level=O0"* ]]
    net_of 4 'ones((2, 3))'
    fails 2 export net.yaml --ckpt w.safetensors -o net.c
    [[ $stderr = *'the output depends on no input'* ]]
    [ ! -e net.c ]
}

@test 'c: the program tells what is no row, and what cannot be written' {
    "$CELLRUN" export run -q -o net.c
    c_build net.c
    run -0 --separate-stderr ./net <<<$'1 2 3\n4,5,6'
    [ "${#lines[@]}" = 2 ]
    [ -z "$stderr" ]
    for text in '1 2' '1 2 3 4' '1 2 3 x' x; do
        run -1 --separate-stderr ./net <<<"$text"
        [ "$stderr" = 'expected rows of 3 numbers' ]
    done
    [ -w /dev/full ] || skip 'no /dev/full'
    run -1 bash -c './net <<<"1 2 3" >/dev/full'
}

@test 'c: names of classes and files that C cannot hold' {
    local name
    printf '%s\n' 'x,label' '1,*/ int' '2,/* b' '3,a ??/' '4,"q\"' '5,"e
"' >names.csv
    cat >names.yaml <<'END'
dataset:
  train: {CSVDataset: {dataset_files: names.csv, columns: {x: {numbers: [0]}, label: label}}}
network: {'d': {Dense: [1, 5]}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    "$CELLRUN" train names.yaml -q -o names
    "$CELLRUN" export names -q -o n.c
    grep -q '^ \* class 2: a  ?/$' n.c
    c_build n.c
    for name in int '' '1 b' 'é' $'new\nline' "q'*-" main; do
        "$CELLRUN" export names -q -o "./$name.c"
        ${CC:-cc} -std=c99 -Wall -Wextra -Werror -c "./$name.c" -o a.o
    done
}

@test 'c: the file is C++ too' {
    command -v c++ >/dev/null || skip 'no C++ compiler'
    "$CELLRUN" export run -q -o net.c
    c_build net.c
    c++ -std=c++17 -Wall -Wextra -Werror -Dnet_MAIN -x c++ net.c -o netpp -lm
    cmp <(./net <<<'1 2 3') <(./netpp <<<'1 2 3')
    c++ -x c++ -c net.c -o net.o
    printf '%s\n' '#include <stdio.h>' \
        'int net_predict(const float *x, int n, float *y);' \
        'int main(void) { float x[3] = { 1, 2, 3 }, y[2];' \
        'net_predict(x, 1, y); printf("%.9g\t%.9g\n", y[0], y[1]); }' >use.c
    ${CC:-cc} use.c net.o -o use -lm
    cmp <(./net <<<'1 2 3') <(./use)
}

@test 'export and ckpt write to a pipe with -o -, and nothing else there' {
    local to sub
    for to in safetensors npz ckpt onnx c; do
        "$CELLRUN" export run -q -o "network.$to"
        "$CELLRUN" export run --to "$to" -o - 2>err | cmp - "network.$to"
        run -2 --separate-stderr "$CELLRUN" export run --to "$to" -o - --json
        [[ $stderr == *"--json and -o - both write to standard output"* ]]
    done
    for sub in convert strip; do
        "$CELLRUN" ckpt "$sub" run -q -o "s.safetensors"
        "$CELLRUN" ckpt "$sub" run -o - | cmp - "s.safetensors"
    done
    "$CELLRUN" ckpt average run ema -q -o s.safetensors
    "$CELLRUN" ckpt average run ema -o - | cmp - s.safetensors
    [ ! -e ./- ]
    run -2 script -qec "'$CELLRUN' export run --to npz -o -" /dev/null
    [[ $output == *"-o -: standard output is a terminal"* ]]
    run -2 script -qec "'$CELLRUN' ckpt strip run -o -" /dev/null
    [[ $output == *"-o -: standard output is a terminal"* ]]
}

@test 'weights with names of PyTorch are written with those of the network' {
    local to
    cat >bn.yaml <<'END'
cellrun: 1
network:
  inputs: {x: {shape: [3, 4], type: float32}}
  conv: {Conv1d: {in_channels: 3, out_channels: 2, kernel_size: 3, has_bias: true}}
  bn: BatchNorm1d
END
    pack 'f<*' $(seq 24) | npy x.npy '<f4' '(2, 3, 4)'
    st w.safetensors conv.weight:2,3,3 conv.bias:2 bn.weight:2 bn.bias:2 \
        bn.running_mean:2 bn.running_var:2 bn.num_batches_tracked:1
    # the counter of PyTorch is no unexpected tensor
    "$CELLRUN" trace bn.yaml --feed x=x.npy --predict --ckpt w.safetensors \
        -o want.npz
    for to in safetensors npz ckpt; do
        "$CELLRUN" export bn.yaml --ckpt w.safetensors -q -o "own.$to"
        [ "$("$CELLRUN" ckpt ls "own.$to" | awk 'NR > 1 { print $1 }' | sort |
            xargs)" = "bn.beta bn.gamma bn.moving_mean bn.moving_variance \
conv.bias conv.weight" ]
        "$CELLRUN" trace bn.yaml --feed x=x.npy --predict --ckpt "own.$to" \
            --rtol 0 --atol 0 --against want.npz
        "$CELLRUN" export w.safetensors -q -o "same.$to"
        "$CELLRUN" ckpt ls "same.$to" >list
        grep -q '^bn\.running_var ' list
        run ! grep -q num_batches_tracked "same.$to"
    done
    "$CELLRUN" export bn.yaml --ckpt w.safetensors --dtype float16 -q -o h.npz
    "$CELLRUN" ckpt ls h.npz >list
    grep -q '^bn.gamma .*<f2' list
    fails 4 export net.yaml --ckpt w.safetensors -o no.npz
    [[ $stderr == *"missing    fc.weight"* ]]
    # the config given counts, not that of the checkpoint
    "$CELLRUN" export net.yaml --ckpt run -q -o a.npz
    "$CELLRUN" export run -q -o b.npz
    "$CELLRUN" ckpt diff a.npz b.npz
    rm -f x.npy y.npy train*.npy
    "$CELLRUN" export net.yaml eval.use_ema=true --ckpt ema -q -o a.npz
    "$CELLRUN" export ema -q -o b.npz
    "$CELLRUN" ckpt diff a.npz b.npz
    fails 4 export bn.yaml --ckpt run -o no.npz
}
