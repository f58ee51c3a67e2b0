#!/usr/bin/env bats
# Segmentation: pairs of an image and a mask, listed in a table.

bats_require_minimum_version 1.5.0
set -o pipefail
load masks

setup() {
    cd "$BATS_TEST_TMPDIR"
}

recipe() {
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: pairs.csv, columns: {image: {fields: image, type: image}, label: {fields: mask, type: mask}}}}
  eval: {CSVDataset: {dataset_files: pairs.csv, columns: {image: {fields: image, type: image}, label: {fields: mask, type: mask}}}}
datapipe:
  image:
    - {RandomHorizontalFlip: {prob: 0.5}, only: train}
    - {Rescale: {rescale: 0.01, shift: -1.0}}
    - HWC2CHW
  label:
    - {RandomHorizontalFlip: {prob: 0.5}, only: train, with: image}
  batch: {batch_size: 4}
network: [{Conv2d: {out_channels: 2, kernel_size: 1, has_bias: true}}]
loss: {CrossEntropyLoss: {ignore_index: 255}}
optimizer: {Momentum: {learning_rate: 0.5, momentum: 0.9}}
metrics: [loss]
train: {epochs: 60}
eval: {every: 60 epochs}
END
}

@test "a segmentation net learns from pairs of images and masks" {
    pairs 8
    recipe
    run -0 "$CELLRUN" check c.yaml --data
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o a --json
    # the brightness shows the class, as long as masks move with their images
    jq -e '.eval.loss < 1e-3' <<<"$output"
    "$CELLRUN" train c.yaml -q -o b datapipe.workers=3 datapipe.cache=disk
    "$CELLRUN" train c.yaml -q -o c datapipe.cache=memory
    run -0 "$CELLRUN" ckpt diff a b
    run -0 "$CELLRUN" ckpt diff a c
    "$CELLRUN" predict --ckpt a images/3.png -o p.npy
    run -0 "$CELLRUN" predict --ckpt a --data eval -o q.npz
    # independent flips do not learn
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o d --json \
        '~datapipe.label.0.with'
    jq -e '.eval.loss > 0.01' <<<"$output"
}

@test "masks hold what is stored: indices, grey values, any number of bits" {
    pairs 1
    recipe
    sed -i 's/prob: 0.5/prob: 0.0/' c.yaml
    # labels FILE: all pixels
    labels() {
        printf 'image,mask\nimages/0.png,%s\n' "$1" >pairs.csv
        "$CELLRUN" data convert c.yaml --split train -o "out-$2" >/dev/null
        perl -e 'local $/; $_ = <>; my $n = unpack "v", substr $_, 8, 2;
            print join " ", unpack "l<*", substr $_, 10 + $n' \
            "out-$2"/*label.npy
    }
    rows() { for ((k = 0; k < 10; k++)); do echo "$@"; done; }
    stored m.png 12 10 0 8 $(rows 0 1 2 3 4 5 6 7 8 9 200 255)
    [ "$(labels m.png 1)" = "$(echo $(rows 0 1 2 3 4 5 6 7 8 9 200 255))" ]
    stored m.png 12 10 3 8 $(rows 0 1 2 3 4 5 6 7 8 9 20 255)
    [ "$(labels m.png 2)" = "$(echo $(rows 0 1 2 3 4 5 6 7 8 9 20 255))" ]
    stored m.png 12 10 3 4 $(rows 16 50 84 118 152 186)
    [ "$(labels m.png 3)" = "$(echo $(rows 1 0 3 2 5 4 7 6 9 8 11 10))" ]
    stored m.png 12 10 0 1 $(rows 170 160)
    [ "$(labels m.png 4)" = "$(echo $(rows 1 0 1 0 1 0 1 0 1 0 1 0))" ]
}

@test "transforms of masks: nearest pixels only, and a class for the border" {
    pairs 4
    recipe
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'datapipe.label=[{Resize: {size: [5, 6]}}]'
    [[ $stderr == *"Resize: found int32 (10, 12), expected images"* ]]
    [[ $stderr == *"set interpolation: NEAREST"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o a --json \
        'datapipe.image=[{RandomResizedCrop: {size: [8, 8]}, only: train}, {RandomCrop: {size: [8, 8], padding: 2}, only: train}, {Resize: {size: [8, 8]}}, {RandomRotation: {degrees: 9}, only: train}, {Rescale: {rescale: 0.01, shift: -1.0}}, HWC2CHW]' \
        'datapipe.label=[{RandomResizedCrop: {size: [8, 8], interpolation: NEAREST}, only: train, with: image}, {RandomCrop: {size: [8, 8], padding: 2, fill_value: 255}, only: train, with: image}, {Resize: {size: [8, 8], interpolation: NEAREST}}, {RandomRotation: {degrees: 9, fill_value: 255}, only: train, with: image}]'
    jq -e '.eval.loss < 0.4' <<<"$output"
}

@test "files that are not masks" {
    pairs 2
    recipe
    sed -i 's,masks/1.png,images/1.png,' pairs.csv
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o a
    [[ $stderr == *"images/1.png: error: mask: found colours, expected grey values or indices of a palette"* ]]
    sed -i 's,masks/0.png,images/0.png,' pairs.csv
    run -3 --separate-stderr "$CELLRUN" check c.yaml
    [[ $stderr == *"images/0.png: "*"found colours"* ]]
    stored deep.png 12 10 0 16 $(for ((k = 0; k < 240; k++)); do echo 1; done)
    printf 'image,mask\nimages/0.png,deep.png\n' >pairs.csv
    run -3 --separate-stderr "$CELLRUN" check c.yaml
    [[ $stderr == *"deep.png: error: mask: found 16 bits, expected at most 8"* ]]
}

@test "damaged masks are skipped on demand, as images are" {
    pairs 6
    recipe
    grep -v masks/2 pairs.csv >some.csv
    head -c 60 masks/2.png >masks/cut.png
    mv masks/cut.png masks/2.png
    "$CELLRUN" train c.yaml -q -o want --steps 4 \
        dataset.{train,eval}.dataset_files=some.csv
    for more in cache=none cache=disk cache=disk cache=memory workers=3; do
        run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o got --force \
            --steps 4 dataset.on_error=warn datapipe.$more
        [[ $stderr == *"masks/2.png: byte "*": warning: the image is damaged"* ]]
        [[ $stderr == *"1 of 6 samples of dataset.train cannot be read"* ]]
        [[ $stderr == *"first unreadable file: masks/2.png"* ]]
        # samples of a batch are added up in another order
        run -0 "$CELLRUN" ckpt diff want got --rtol 1e-5 --atol 1e-6
    done
    run -3 --separate-stderr "$CELLRUN" data verify c.yaml --split train
    [[ $output == "dataset.train: sample 2: pairs.csv:4:1: masks/2.png: the image is damaged"* ]]
}

@test "a mask of another size than the others is named" {
    pairs 3
    recipe
    stored masks/2.png 6 5 0 8 $(for ((k = 0; k < 30; k++)); do echo 1; done)
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o a
    [[ $stderr == *"masks/2.png: error: sample 2 of column 'label' has shape (5, 6)"* ]]
    [[ $stderr == *"at pairs.csv:4:14"* ]]
}

@test "a class of no pixel, without ignore_index" {
    pairs 2
    recipe
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o a '~loss.ignore_index'
    [[ $stderr == *"pixels of no class are ignored by ignore_index: 255"* ]]
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o b \
        '~loss.ignore_index' network.0.Conv2d.out_channels=3
    [[ $stderr == *"class 255 needs at least 256: set out_channels of its last layer, or ignore it: ignore_index: 255"* ]]
}

@test "with names a column that has the transform, with the same prob" {
    pairs 8
    recipe
    turn='{RandomRotation: {degrees: 40}'
    # try STATUS IMAGE LABEL: the transforms of the two columns
    try() { run -"$1" "$CELLRUN" check c.yaml "datapipe.image=[$2]" "datapipe.label=[$3]"; }
    try 2 "$turn, prob: 0.5}" "$turn, with: image}"
    [[ $output == *"with: RandomRotation has prob 1, in column 'image' 0.5"* ]]
    try 2 "$turn, only: train}" "$turn, with: image}"
    [[ $output == *"with: found 0 RandomRotation in column 'image' for evaluation data, expected 1"* ]]
    try 2 "$turn}" "$turn, with: image}, $turn, with: image}"
    [[ $output == *"with: found 1 RandomRotation in column 'image' for training data, expected 2"* ]]
    try 2 '{RandomAffine: {degrees: 40}}' "$turn, with: image}"
    [[ $output == *"with: found 0 RandomRotation"* ]]
    try 2 "$turn}" '{RandomRotation: {degrees: 40, with: image}}'
    [[ $output == *"write it next to RandomRotation: {RandomRotation: {...}, with: image}"* ]]
    try 0 "$turn, prob: 0.5}, HWC2CHW" "$turn, with: image, prob: 0.5}"
}

@test "a column that follows another may be followed" {
    pairs 8
    recipe
    sed -i 's/label: {fields: mask, type: mask}/&, again: {fields: mask, type: mask}/' c.yaml
    turn='{RandomRotation: {degrees: 90, fill_value: 9}, prob: 0.5'
    "$CELLRUN" data show c.yaml --json -n 8 "datapipe.image=[$turn}]" \
        "datapipe.label=[$turn, with: image}]" \
        "datapipe.again=[$turn, with: label}]" >a
    jq -es 'length == 8 and all(.label == .again) and
        (map(.label | index(9)) | any)' a
}
