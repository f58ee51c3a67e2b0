# MultiheadAttention in low precision is one op, which rounds where MindSpore's
# functions do. With these written out, each of them an op that rounds what it
# gives (attention_low.pl), outputs and gradients are the same numbers.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    # matrix products whose sums have the order of attention's
    export CELLRUN_BLAS=own
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip "double precision"
}

# both SEED LEVEL TYPE [SED]: one.safetensors and apart.safetensors, of configs
# that SED changes
both() {
    perl "$BATS_TEST_DIRNAME/attention_low.pl" "$1"
    for net in one apart; do
        sed -i "${4-}" "$net.yaml"
        "$CELLRUN" trace "$net.yaml" --feed x=x.npy --feed z=z.npy \
            --feed label=label.npy --grad "amp.level=$2" "amp.dtype=$3" \
            'amp.loss_scale={StaticLossScaler: 1}' -o "$net.safetensors"
    done
}

# near RTOL ATOL PATTERN: of so many tensors none differ
near() {
    run -0 "$CELLRUN" ckpt diff apart.safetensors one.safetensors \
        --rtol "$1" --atol "$2" --match "$3"
    [[ $output == *"tensors, no differences"* ]]
}

check() {
    local seed isa
    for isa in generic $("$CELLRUN" version | grep -om1 avx2); do
        export CELLRUN_ISA=$isa
        for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
            both "$seed" "$1" "$2"
            near 0 0 output
            near 0 0 'grad.pre.*'
            near 0 0 'grad.attn.*'
            # sums over heads or samples, of weights and of masks
            near 1e-6 1e-6 output.attn#.1
            near 0.03 0.01 grad.x
            near 0.03 0.01 grad.z
        done
    done
}

@test "O2, float16" {
    check O2 float16
}

@test "O3, bfloat16" {
    check O3 bfloat16
}

@test "auto, both types" {
    check auto float16
    check auto bfloat16
}

@test "grad in a construct" {
    local seed level
    for level in O0 O2; do
        for seed in 1 2 3 4 5 6; do
            both "$seed" "$level" float16 \
                's/^    return \(.*\)/    return grad(sum(\1), x)/'
            [ "$(grep -c 'return grad' one.yaml apart.yaml | grep -c :1)" -eq 2 ]
            near 2e-3 1e-3 output
        done
    done
}
