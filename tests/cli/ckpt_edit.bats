#!/usr/bin/env bats
# ckpt rename, strip and average.

bats_require_minimum_version 1.5.0
set -o pipefail
load two_layers

# numbers FILE NUMBER...: a safetensors file with w (2, N/2) of float32 and
# count, an int32
numbers() {
    local file=$1 n=$((($# - 1) * 4)) head
    shift
    head="{\"w\":{\"dtype\":\"F32\",\"shape\":[2,$(($# / 2))],"
    head+="\"data_offsets\":[0,$n]},\"count\":{\"dtype\":\"I32\","
    head+="\"shape\":[1],\"data_offsets\":[$n,$((n + 4))]}}"
    { pack 'Q<' ${#head}; printf %s "$head"; pack 'f<*' "$@"; pack 'l<' $#; } \
        >"$file"
}

# names FILE: of its tensors, in one line
names() {
    "$CELLRUN" ckpt ls "$1" | awk 'NR > 1 { print $1 }' | sort | xargs
}

# A run of three epochs, whose network has a block with the name of a slot.
setup_file() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cd "$BATS_FILE_TMPDIR"
    four_samples
    cat >net.yaml <<'END2'
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
  eval: {NumpySlicesDataset: {data: [x.npy, y.npy], column_names: [x, label]}}
datapipe: {batch: {batch_size: 2}}
network:
  fc: {Dense: [3, 3]}
  norm: {BatchNorm1d: 3}
  moments:
    fc: {Dense: [3, 2]}
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.1}}
metrics: [accuracy, loss]
train: {epochs: 3}
END2
    "$CELLRUN" train net.yaml -q -o run
    "$CELLRUN" train net.yaml -q -o small checkpoint.weights_only=true
}

setup() {
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    cp -a "$BATS_FILE_TMPDIR"/. "$BATS_TEST_TMPDIR"
    cd "$BATS_TEST_TMPDIR"
}

# torch.optim.swa_utils.AveragedModel (2.x) keeps a running mean in float32;
# numpy.mean(dtype=float64) of the same numbers.
@test "average: the numbers of NumPy, and those of PyTorch up to rounding" {
    numbers a.safetensors 0.0179 0.0044 0.001 -0.0186 -0.0028 -0.0035
    numbers b.safetensors -80.6439 44.3035 -146.4564 -24.1127 -11.1623 -221.4469
    numbers c.safetensors 11.6668 -21.5861 7.562 -16.905 -3.4879 -17.2951
    run -0 "$CELLRUN" ckpt average a.safetensors b.safetensors c.safetensors \
        -o m.safetensors
    [ "$output" = "m.safetensors: 2 tensors, mean of 3 checkpoints" ]
    [ "$(tensor m.safetensors w | xargs)" = "-22.9863987 7.5739336 -46.297802 \
-13.6787672 -4.88433361 -79.5818329" ]
    paste <(tensor m.safetensors w) <(printf '%s\n' -22.9864006 7.57393456 \
        -46.2978058 -13.6787672 -4.88433361 -79.5818329) |
        awk '{ d = $1 / $2 - 1; if (d > 3e-7 || d < -3e-7) exit 1; n++ }
            END { exit n != 6 }'
    # 100 times the same tensor: no bits are lost
    for i in {1..100}; do cp b.safetensors "b$i.safetensors"; done
    "$CELLRUN" ckpt average b?*.safetensors -q -o m.safetensors
    equal "tensor_w" b.safetensors m.safetensors
}

tensor_w() {
    tensor "$1" w
}

@test "average: integers are those of the first file" {
    numbers a.safetensors 1 2 3 4
    numbers b.safetensors 3 4 5 6
    perl -0777 -pi -e 's/....\z/pack "l<", 90/e' b.safetensors
    run -0 --separate-stderr "$CELLRUN" ckpt average a.safetensors \
        b.safetensors -o m.npz --json
    [ "$output" = '{"tensors": 2, "checkpoints": 2}' ]
    [ "$("$CELLRUN" ckpt show m.npz --values '*' --json | jq -cS .)" = \
        '{"count":[4],"w":[[2,3],[4,5]]}' ]
}

@test "average: a checkpoint that eval and predict read, statistics averaged" {
    "$CELLRUN" train net.yaml -q -o own # what this user wrote is trusted
    run -0 --separate-stderr "$CELLRUN" ckpt average own/ckpt/net-*.safetensors \
        -o own/ckpt/mean.safetensors
    [ "$(names own/ckpt/mean.safetensors)" = "fc.bias fc.weight moments.fc.bias \
moments.fc.weight norm.beta norm.gamma norm.moving_mean norm.moving_variance" ]
    for t in norm.moving_mean norm.moving_variance moments.fc.weight; do
        for i in 1 2 3; do tensor own/ckpt/net-${i}_2.safetensors $t >t$i; done
        paste t1 t2 t3 <(tensor own/ckpt/mean.safetensors $t) |
            awk '{ d = ($1 + $2 + $3) / 3 - $4; n++
                if (d > 1e-6 || d < -1e-6) exit 1 } END { exit n < 2 }'
    done
    run -0 "$CELLRUN" eval --ckpt own/ckpt/mean.safetensors
    [[ "$output" == "accuracy: "* ]]
    run -0 "$CELLRUN" predict --ckpt own/ckpt/mean.safetensors x.npy
    [ "${#lines[@]}" = 4 ]
    # results of the first checkpoint are not those of the mean
    run -0 "$CELLRUN" ckpt show own/ckpt/mean.safetensors --meta cellrun.state
    [[ "$output" != *'"eval"'* && "$output" != *'"best"'* ]]
    run -4 "$CELLRUN" resume own/ckpt/mean.safetensors
}

@test "average: a file under two names counts once" {
    run -0 --separate-stderr "$CELLRUN" ckpt average \
        run/ckpt/net-1_2.safetensors run/ckpt/net-3_2.safetensors \
        run/ckpt/last.safetensors -o m.safetensors
    [ "$stderr" = "note: run/ckpt/last.safetensors is \
run/ckpt/net-3_2.safetensors: counted once" ]
    [[ "$output" == *"mean of 2 checkpoints" ]]
}

@test "average: other names, shapes and types: exit 4, and nothing is written" {
    st a.safetensors w:2,2 v:3
    st b.safetensors w:4 u:3
    run -4 --separate-stderr "$CELLRUN" ckpt average a b -o m.safetensors
    [[ "$stderr" == *"b.safetensors: error: 'w' is (4,), but (2, 2) in \
a.safetensors"* ]]
    [[ "$stderr" == *"no tensor 'v', which a.safetensors has"* ]]
    [[ "$stderr" == *"tensor 'u' is not in a.safetensors"* ]]
    [ ! -e m.safetensors ]
    run -4 --separate-stderr "$CELLRUN" ckpt average run a -o m.safetensors
    [[ "$stderr" == *"no tensor 'fc.weight', which "* ]]
    [ ! -e m.safetensors ]
}

evaluate() {
    "$CELLRUN" eval --trust --ckpt "$1"
}

@test "strip: what checkpoint.weights_only writes" {
    run -0 "$CELLRUN" ckpt strip run/ckpt/net-3_2.safetensors -o s.safetensors
    [ "$output" = "s.safetensors: 8 tensors" ]
    "$CELLRUN" ckpt diff s.safetensors small/ckpt/net-3_2.safetensors
    for f in s.safetensors small/ckpt/net-3_2.safetensors; do
        "$CELLRUN" ckpt show $f --json | jq -S '.metadata |
            del(."cellrun.config", ."cellrun.header_crc32")' >$(basename $f).txt
    done
    diff s.safetensors.txt net-3_2.safetensors.txt
    equal evaluate s run/ckpt/net-3_2
    run -4 "$CELLRUN" resume s.safetensors -o other
}

@test "strip: without a config, slots are recognised by their names" {
    run -0 "$CELLRUN" ckpt convert run -o all.npz
    run -0 "$CELLRUN" ckpt strip all.npz -o few.safetensors
    # in the file without its network, moments.fc is a slot of fc
    [ "$(names few.safetensors)" = \
"fc.bias fc.weight norm.beta norm.gamma norm.moving_mean norm.moving_variance" ]
    "$CELLRUN" ckpt convert run -o all.ckpt
    run -0 "$CELLRUN" ckpt strip all.ckpt -o few.ckpt
    "$CELLRUN" ckpt diff few.ckpt few.safetensors
}

# types FILE: of its tensors, in one line
types() {
    "$CELLRUN" ckpt ls "$1" | awk 'NR > 1 { print $2 }' | sort -u | xargs
}

# The bytes that Perl's own float16 and bfloat16 would be: rounding to nearest,
# ties to even.
@test "--dtype: two bytes per number, rounded, and read back by eval" {
    numbers a.safetensors 1 -2.5 65504 1.00048828125 1.00146484375 6e-8
    run -0 "$CELLRUN" ckpt convert a --dtype float16 -o h.safetensors
    [ "$(types h.safetensors)" = "F16 I32" ]
    # ties go to even: 1 + 1/2048 down, 1 + 3/2048 up; 6e-8 is subnormal
    [ "$(od -An -tx2 -j $((8 + $(od -An -td8 -N8 h.safetensors))) -N12 \
        h.safetensors | xargs)" = "3c00 c100 7bff 3c00 3c02 0001" ]
    run -0 "$CELLRUN" ckpt convert a --dtype bfloat16 -o b.safetensors
    [ "$(types b.safetensors)" = "BF16 I32" ]
    [ "$(od -An -tx2 -j $((8 + $(od -An -td8 -N8 b.safetensors))) -N12 \
        b.safetensors | xargs)" = "3f80 c020 4780 3f80 3f80 3381" ]
    # a value beyond the range
    numbers big.safetensors 1 2 65520 4
    run -0 "$CELLRUN" ckpt convert big --dtype float16 -o c.safetensors
    [[ $output == *"warning: 'w' stays float32: a value is beyond the range of float16 [E"* ]]
    [ "$(types c.safetensors)" = "F32 I32" ]
    # infinity itself is one
    numbers inf.safetensors inf nan
    run -0 "$CELLRUN" ckpt convert inf --dtype float16 -o c.safetensors
    [ "$(types c.safetensors)" = "F16 I32" ]
    run -2 "$CELLRUN" ckpt ls a --dtype float16
    [[ $output == *"ckpt ls does not take --dtype"* ]]
}

@test "checkpoint.dtype: what strip --dtype writes; only with weights_only" {
    # float32 in the float64 build too
    "$CELLRUN" ckpt strip run --dtype float32 -o s.safetensors
    for dtype in float16 bfloat16; do
        run -0 "$CELLRUN" ckpt strip run --dtype $dtype -o $dtype.safetensors
        run -0 "$CELLRUN" train net.yaml -q -o r-$dtype \
            checkpoint.weights_only=true checkpoint.dtype=$dtype
        run -0 "$CELLRUN" ckpt verify $dtype.safetensors
        "$CELLRUN" ckpt diff $dtype.safetensors r-$dtype
        # and evaluation has the rounded numbers, not others
        "$CELLRUN" ckpt strip $dtype.safetensors --dtype float32 \
            -o wide.safetensors
        run -0 "$CELLRUN" ckpt diff wide s --rtol 4e-3 --atol 1e-7
        run -6 "$CELLRUN" ckpt diff wide s
        equal evaluate $dtype wide
    done
    [ "$(types float16.safetensors)" = F16 ]
    [ "$(types bfloat16.safetensors)" = BF16 ]
    run -0 "$CELLRUN" ckpt average float16.safetensors --dtype bfloat16 \
        -o mean.safetensors
    [ "$(types mean.safetensors)" = BF16 ]
    run -2 "$CELLRUN" train net.yaml checkpoint.dtype=float16 -o not
    [[ $output == *"'checkpoint.dtype' needs 'checkpoint.weights_only: true'"* ]]
    [ ! -e not ]
}

@test "rename: rules in order, groups, an escaped equals sign" {
    st a.safetensors module.fc.weight:2,2 module.fc.bias:2 x=y:1
    run -0 "$CELLRUN" ckpt rename a --rename '^module\.=' \
        --rename '^(.*)\.weight=\1.w_\0' --rename 'x\=y=a=b' -o b.safetensors
    [ "$output" = "b.safetensors: 3 tensors" ]
    [ "$(names b.safetensors)" = "a=b fc.bias fc.w_fc.weight" ]
    # the same rules in a config
    st torch.safetensors module.fc.weight:3,3 module.fc.bias:3 \
        module.bn.gamma:3 module.bn.beta:3 module.bn.moving_mean:3 \
        module.bn.moving_variance:3 module.out.weight:2,3 module.out.bias:2
    "$CELLRUN" ckpt rename torch --rename '^module\.(bn)?=\1' \
        --rename '^bn=norm' --rename '^out=moments.fc' -o mine.npz
    run -0 "$CELLRUN" ckpt load-report net.yaml load=mine.npz --json
    [ "$output" = '{"loaded": 8, "skipped": 0, "missing": 0, "unused": 0}' ]
}

@test "rename: wrong rules" {
    st a.safetensors w:2 v:2
    run -2 --separate-stderr "$CELLRUN" ckpt rename a --rename 'q=z' -o b.npz
    [[ "$stderr" == *"--rename 'q=z': no tensor matches"* ]]
    run -4 --separate-stderr "$CELLRUN" ckpt rename a --rename '.=z' -o b.npz
    [[ "$stderr" == *"two tensors are renamed to 'z'"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt rename a --rename '(=z' -o b.npz
    [[ "$stderr" == *"'(' is not a valid regular expression"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt rename a --rename 'w=\1' -o b.npz
    [[ "$stderr" == *"uses group 1, but the pattern has only 0"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt rename a --rename 'w=\x' -o b.npz
    [[ "$stderr" == *"invalid escape in a replacement"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt rename a --rename 'w\=v' -o b.npz
    [[ "$stderr" == *"expected PATTERN=REPLACEMENT"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt rename a -o b.npz
    [[ "$stderr" == *"ckpt rename: --rename is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt strip a --rename w=v -o b.npz
    [[ "$stderr" == *"ckpt strip does not take --rename"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt average a --match w -o b.npz
    [[ "$stderr" == *"ckpt average does not take --match"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt strip a -o a.safetensors
    [[ "$stderr" == *"found the input checkpoint"* ]]
    [ ! -e b.npz ]
}
