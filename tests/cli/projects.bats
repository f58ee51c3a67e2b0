# Whole projects on small data, done as the manual tells: train, evaluate, use.
bats_require_minimum_version 1.5.0
set -o pipefail

load images

setup() {
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET
}

# parameters FILE: a line for each tensor, its name first, its values
parameters() {
    "$CELLRUN" ckpt convert "$1" -o "$1.npz" -q
    unzip -p "$1.npz" >/dev/null # a whole archive
    for name in $(unzip -Z1 "$1.npz"); do
        printf '%s %s\n' "$name" "$(unzip -p "$1.npz" "$name" | sha256sum)"
    done | sort
}

@test "images in folders, transfer: the backbone stays, a new classifier learns" {
    folder first 12 16 16
    cat >first.yaml <<'END'
cellrun: 1
dataset:
  train: {ImageFolderDataset: {dataset_dir: first, decode: true}}
  split: {eval_from_train: 25%, stratify: label, seed: 1}
datapipe:
  image: [{Rescale: [$(1/255), 0]}, HWC2CHW]
  batch: {batch_size: 9}
network:
  backbone: [{Conv2d: {out_channels: 8, kernel_size: 3}}, {BatchNorm2d: {}}, ReLU, {MaxPool2d: {kernel_size: 4, stride: 4}}, Flatten]
  classifier: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {Adam: {learning_rate: 0.01}}
metrics: [accuracy]
train: {epochs: 6}
END
    "$CELLRUN" train first.yaml -q -o first.run --require 'accuracy>=0.8'
    # two other classes of fewer images
    mkdir -p second/left second/right
    cp first/ant/?.png second/left
    cp first/cat/?.png second/right
    cat >second.yaml <<'END'
base: first.yaml
dataset: !replace
  train: {ImageFolderDataset: {dataset_dir: second, decode: true}}
  split: {eval_from_train: 30%, stratify: label, seed: 1}
network: {classifier: {Dense: {out_channels: 2}}}
load: {ckpt: first.run/ckpt/best.safetensors, skip: ["classifier.*"]}
freeze: {patterns: ["backbone.*"], bn_stats: frozen}
END
    "$CELLRUN" train second.yaml -q -o second.run --require 'accuracy>=0.8'
    parameters first.run/ckpt/best.safetensors >first.txt
    parameters second.run/ckpt/best.safetensors >second.txt
    [ "$(grep -c ^backbone first.txt)" -ge 5 ]
    diff <(grep ^backbone first.txt) <(grep ^backbone second.txt)
    [ "$(grep ^classifier first.txt)" != "$(grep ^classifier second.txt)" ]
    run -0 "$CELLRUN" predict --ckpt second.run first/ant/11.png \
        first/cat/11.png
    [ "$output" = $'first/ant/11.png\tleft\nfirst/cat/11.png\tright' ]
}
