# Mixed precision of recurrences and attention in a run. The numbers are
# tested in tests/golden (cases amp_*).
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    config small.yaml
    # eight numbers, one after the other
    cat >c.yaml <<'END'
base: small.yaml
network: !replace
  cells:
    up: {Dense: [1, 6]}
    rec: {LSTM: {input_size: 6, hidden_size: 8, batch_first: true, num_layers: 2, dropout: 0.1, bidirectional: true}}
    some: {GRU: {input_size: 16, hidden_size: 6, batch_first: true}}
    layer: {TransformerEncoderLayer: {d_model: 6, nhead: 2, dim_feedforward: 8, dropout: 0.1, batch_first: true}}
    step: {RNNCell: {input_size: 6, hidden_size: 6}}
    out: {Dense: [6, 3]}
  construct: |
    y, _ = rec(up(x[:, :, None]))
    y, _ = some(y, None, ones_like(arange(0, shape(x, 0))) * 7)
    y = layer(y, causal_mask(y))
    return out(step(y[:, 7], y[:, 2]))
optimizer: !replace {Adam: {learning_rate: 0.01}}
END
}

# first DIR: the loss of its first step
first() {
    jq -s 'map(select(.split == "train")) | first.loss' "$1/metrics.jsonl"
}

@test "a run ends with finite losses in every level and type" {
    "$CELLRUN" train c.yaml -o full -q --steps 1 log.every='1 steps'
    for level in O1 O2 O3 auto; do
        for dtype in float16 bfloat16; do
            "$CELLRUN" train c.yaml -o a --force -q --epochs 4 \
                amp.level=$level amp.dtype=$dtype log.every='1 steps'
            [ "$(grep -c '"split":"train"' a/metrics.jsonl)" -eq 76 ]
            jq -e -s '[.[] | .loss // 0 | numbers] | all(. < 3)' \
                a/metrics.jsonl
            awk -v a="$(first a)" -v b="$(first full)" \
                'BEGIN { d = a - b; exit d * d > 4e-4 }'
        done
    done
}

@test "resumed in low precision: the same tensors" {
    for level in O1 O2 auto; do
        more=(amp.level=$level log.every='1 steps')
        "$CELLRUN" train c.yaml -o a --force -q --steps 30 "${more[@]}"
        "$CELLRUN" train c.yaml -o b --force -q --steps 11 "${more[@]}"
        "$CELLRUN" resume b -q --steps 30
        "$CELLRUN" ckpt diff a/ckpt/last.safetensors b/ckpt/last.safetensors
    done
}

@test "any number of threads gives the same bytes; eager plans agree" {
    for level in O1 O2 auto; do
        more=(amp.level=$level)
        "$CELLRUN" trace c.yaml --step=3 "${more[@]}" --threads 1 -o a.npz
        "$CELLRUN" trace c.yaml --step=3 "${more[@]}" --threads 3 -o b.npz
        cmp a.npz b.npz
        "$CELLRUN" trace c.yaml --grad "${more[@]}" --eager -o e.npz
        "$CELLRUN" trace c.yaml --grad "${more[@]}" --against e.npz \
            --rtol 1e-3
    done
}

@test "cast and to_float reach recurrences and attention" {
    "$CELLRUN" trace c.yaml -o full.npz
    "$CELLRUN" trace c.yaml amp.level=O3 'amp.cast={float32: ["*"]}' -o a.npz
    cmp a.npz full.npz
    # one cell alone
    for cell in rec some layer step; do
        "$CELLRUN" trace c.yaml "amp.cast={bfloat16: [$cell]}" -o a.npz
        "$CELLRUN" trace c.yaml "network.cells.$cell.to_float=bfloat16" \
            -o b.npz
        cmp a.npz b.npz
        run ! cmp -s a.npz full.npz
    done
}
