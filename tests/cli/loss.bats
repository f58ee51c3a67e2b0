# Losses: shapes of output and label that are not intended.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA
    perl -e 'print "a,b,y\n"; printf "%d,%d,%d\n", $_ % 3, $_ % 5, $_ % 7
             for 1 .. 24' >data.csv
    cat >net.yaml <<'END'
cellrun: 1
vars: {y: y}
dataset:
  train:
    CSVDataset:
      dataset_files: data.csv
      columns:
        x: {fields: "0:2", type: float32}
        label: {fields: $y, type: float32}
network:
  inputs: [x]
  cells: {fc: {Dense: [2, 1]}}
  construct: return fc(x)
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.01}}
datapipe: {batch: {batch_size: 8}}
train: {epochs: 1}
END
}

@test "an output (n, 1) is not compared with labels (n)" {
    for loss in MSELoss L1Loss MAELoss RMSELoss HuberLoss PoissonNLLLoss \
        HingeEmbeddingLoss; do
        run -2 --separate-stderr "$CELLRUN" train net.yaml -o run "loss=$loss"
        [[ "$stderr" == *"error: label: found (8,), expected (8, 1), the shape of the output: "*"[E0101]"* ]]
        [[ "$stderr" == *'squeeze(x, -1) in a construct, or `fields: [NAME]`'* ]]
    done
    # those that take no other shape than the output's suggest the same fix
    for loss in BCEWithLogitsLoss SmoothL1Loss SoftMarginLoss; do
        run -2 --separate-stderr "$CELLRUN" train net.yaml -o run "loss=$loss"
        [[ "$stderr" == *"error: label: found (8,), expected the shape of the output, (8, 1) [E0101]"* ]]
        [[ "$stderr" == *'squeeze(x, -1) in a construct, or `fields: [NAME]`'* ]]
    done
    [ ! -e run ]
    # both fixes, and the other way round
    "$CELLRUN" check net.yaml --strict 'vars.y=[y]'
    "$CELLRUN" check net.yaml --strict \
        'network.construct=return squeeze(fc(x), -1)'
    run -2 --separate-stderr "$CELLRUN" check net.yaml 'vars.y=[y]' \
        'network.construct=return squeeze(fc(x), -1)'
    [[ "$stderr" == *"error: label: found (8, 1), expected (8,), "* ]]
    # a network of two results, the label of the third place
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'network.construct=return fc(x), fc(x)' loss=MarginRankingLoss
    [[ "$stderr" == *"error: label: found (8,), expected (8, 1)"* ]]
    run -2 --separate-stderr "$CELLRUN" check net.yaml \
        'network.construct=return fc(x), square(fc(x))' loss=GaussianNLLLoss
    [[ "$stderr" == *"error: label: found (8,), expected (8, 1)"* ]]
}

@test "another broadcast of output and label is a warning" {
    run -0 --separate-stderr "$CELLRUN" check net.yaml 'vars.y=[y]' \
        'network.cells.fc={Dense: [2, 3]}'
    [[ "$stderr" == *"net.yaml:14:7: warning: label (8, 1) and output (8, 3) have different shapes: they broadcast [E0101]"* ]]
    [ "$(grep -c warning <<<"$stderr")" -eq 1 ]
    run -2 "$CELLRUN" check net.yaml --strict 'vars.y=[y]' \
        'network.cells.fc={Dense: [2, 3]}'
}

@test "a loss block that compares (n, 1) with (n) is a warning" {
    local text='{inputs: [p, label], construct: "return mean(square(p - label))"}'
    run -0 --separate-stderr "$CELLRUN" check net.yaml "loss=$text"
    [[ "$stderr" == *"warning: (8, 1) and (8,) broadcast to (8, 8): each sample is compared with all others [E0101]"* ]]
    run -0 --separate-stderr "$CELLRUN" check net.yaml "loss=$text" 'vars.y=[y]'
    [ -z "$stderr" ]
}
