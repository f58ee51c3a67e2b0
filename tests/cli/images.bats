#!/usr/bin/env bats
# Training on folders of images: augmentation, several sizes, bad files.

bats_require_minimum_version 1.5.0
set -o pipefail
load images

setup() {
    cd "$BATS_TEST_TMPDIR"
}

# recipe FILE SIZES: a small network for images of any size
recipe() {
    cat >"$1" <<END
cellrun: 1
dataset:
  train: {ImageFolderDataset: {dataset_dir: train}}
  eval: {ImageFolderDataset: {dataset_dir: eval}}
datapipe:
  image:
    - {RandomResizedCrop: {size: [20, 24], scale: [0.5, 1.0]}, only: train}
    - {Resize: {size: [20, 24]}, only: eval}
    - {RandomHorizontalFlip: {prob: 0.5}, only: train}
    - {RandomColorAdjust: {brightness: 0.2, hue: 0.1}, only: train}
    - {RandomRotation: {degrees: 10}, only: train}
    - MultiScale: {sizes: $2}
    - Rescale: {rescale: \$(1/255), shift: 0.0}
    - Normalize: {mean: [0.4, 0.4, 0.4], std: [0.3, 0.3, 0.3]}
    - HWC2CHW
    - {CutMixBatch: {image_batch_format: NCHW}, only: train}
  label: [{OneHot: 3}, {TypeCast: float32}]
  batch: {batch_size: 4}
network:
  conv: {Conv2d: {out_channels: 8, kernel_size: 3}}
  bn: BatchNorm2d
  relu: ReLU
  pool: {AdaptiveAvgPool2d: {output_size: 2}}
  flatten: Flatten
  drop: {Dropout: {p: 0.2}}
  fc: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.05, momentum: 0.9}}
metrics: [accuracy, loss]
train: {epochs: 3}
checkpoint: {every: 1 epoch, keep_checkpoint_max: 9}
log: {every: 1 steps}
END
}

# 18 and 6 images; the training ones of two sizes
sets() {
    local i
    folder train 6 24 20
    folder eval 2 28 22
    for i in 1 4; do
        pixels 40 30 "$i" 1 | png "train/bee/$i.png" 40 30
    done
}

# losses DIR: of its steps, in order
losses() {
    jq -c 'select(.split == "train") | [.step, .loss]' "$1/metrics.jsonl"
}

@test "transforms of images on the wrong side of HWC2CHW" {
    . "$BATS_TEST_DIRNAME/small.bash"
    perl -e 'print pack "C*", map { $_ % 251 } 1 .. 480' | npy x.npy '|u1' '(4, 8, 5, 3)'
    perl -e 'print pack "C*", 0 .. 3' | npy y.npy '|u1' '(4,)'
    local t
    for t in 'RandomHorizontalFlip: {}' 'RandomVerticalFlip: {}' 'RandomCrop: {size: 3}' \
        'Resize: {size: [4, 4]}' 'CenterCrop: {size: 3}' 'Pad: {padding: 1}' \
        'RandomRotation: {degrees: 30}' 'CutOut: {length: 2}' 'RandomResizedCrop: {size: 3}' \
        'RandomColorAdjust: {}' 'Grayscale: {}' 'MultiScale: {sizes: [[4, 4]]}'; do
        echo "dataset: {train: {NumpySlicesDataset: {data: {image: x.npy, label: y.npy}}}}
datapipe: {image: [HWC2CHW, {$t}]}" >d.yaml
        run -2 "$CELLRUN" data show d.yaml
        [[ $output == *"${t%%:*}: found (channels, height, width) after HWC2CHW"*"before HWC2CHW"* ]]
        sed -i "s/\[HWC2CHW, \({.*}\)\]/[\1, HWC2CHW]/" d.yaml
        run -0 "$CELLRUN" data show d.yaml
    done
    sed -i 's/^datapipe: .*/datapipe: {image: [{RandomErasing: {prob: 1.0}}, HWC2CHW]}/' d.yaml
    run -2 "$CELLRUN" data show d.yaml
    [[ $output == *"RandomErasing: found (8, 5, 3), expected images (channels, height, width)"*"after HWC2CHW"* ]]
    sed -i 's/^datapipe: .*/datapipe: {image: [HWC2CHW, {RandomErasing: {prob: 1.0}}]}/' d.yaml
    run -0 "$CELLRUN" data show d.yaml
}

@test "values fitted to images of one size do not apply to another size" {
    folder train 4 12 10
    recipe a.yaml '[[20, 24]]'
    sed -i '/^  image:/,/CutMix/c\  image: [HWC2CHW, Standardize]' a.yaml
    sed -i '/^  label:/d; /^  eval:/d' a.yaml
    run -0 --separate-stderr "$CELLRUN" train a.yaml -q -o r train.epochs=1
    pixels 40 30 1 1 | png train/bee/3.png 40 30
    run -3 --separate-stderr "$CELLRUN" eval --ckpt r --data test \
        dataset.test='{ImageFolderDataset: {dataset_dir: train}}'
    [[ $stderr == *"Standardize was fitted on samples of another shape"* ]]
}

@test "an evaluation that is broken off leaves the scores of the one before" {
    folder train 4 12 10
    folder eval 40 12 10
    recipe a.yaml '[[20, 24]]'
    sed -i '/^  image:/,/CutMix/c\  image: [{Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]' a.yaml
    sed -i '/^  label:/d; s/^metrics.*/metrics: [{ROC: {pos_label: 1}}, loss]/' a.yaml
    run -3 --separate-stderr "$CELLRUN" train a.yaml -q --json -o r \
        'run.exec_on_eval=rm eval/cat/39.png'
    jq -c .eval.roc <<<"$output" >got
    jq -c 'select(.split == "eval") | .roc' r/metrics.jsonl >want
    [ "$(wc -l <want)" = 1 ]
    cmp got want
}

SIZES='[[20, 24], [16, 16], [24, 20]]'

@test "any number of workers and each cache train to the same bytes" {
    local more
    sets
    recipe a.yaml "$SIZES"
    run -0 "$CELLRUN" train a.yaml -q -o r0 datapipe.workers=0
    for more in workers=1 workers=2 workers=4 cache=memory cache=disk; do
        run -0 "$CELLRUN" train a.yaml -q -o "r-$more" "datapipe.$more"
        equal losses r0 "r-$more"
        run -0 "$CELLRUN" ckpt diff r0 "r-$more"
    done
}

@test "stopped in the middle of an epoch and resumed: the same bytes" {
    sets
    recipe a.yaml "$SIZES"
    run -0 "$CELLRUN" train a.yaml -q -o whole
    [ "$(losses whole | wc -l)" -eq 15 ]
    # five steps an epoch: the third of the second
    run -0 "$CELLRUN" train a.yaml -q -o part --steps 8 \
        checkpoint.every='8 steps'
    run -0 "$CELLRUN" resume part -q --epochs 3 --allow-change
    equal losses whole part
    run -0 "$CELLRUN" ckpt diff whole part
}

@test "batches have one of the sizes, and the network a plan for each" {
    sets
    recipe a.yaml "$SIZES"
    run -0 "$CELLRUN" data show a.yaml -n 18
    for s in '3, 20, 24' '3, 16, 16' '3, 24, 20'; do
        [[ "$output" == *"image: float"??" ($s)"* ]]
    done
    run -0 "$CELLRUN" data show a.yaml --split eval -n 6
    [[ "$output" != *"(3, 16, 16)"* ]]
    recipe b.yaml '[[20, 24], [16, 16]]'
    run -2 "$CELLRUN" check b.yaml '~network.pool'
    [[ "$output" == *"fc"* ]]
}

@test "cache: disk leaves no temporary files, nor those of killed builds" {
    local cache
    sets
    recipe a.yaml '[[20, 24]]'
    run -0 "$CELLRUN" train a.yaml -o a -q datapipe.cache=disk
    mv runs/.cache was
    mkdir runs/.cache
    for cache in was/*.shelf; do
        touch "runs/.cache/.${cache##*/}.tmp.99"
    done
    run -0 "$CELLRUN" train a.yaml -o b -q datapipe.cache=disk
    # the same caches and nothing else
    diff -r was runs/.cache
    equal losses a b
}

@test "cache: disk leaves no files for a checkpoint that is not trusted" {
    sets
    recipe a.yaml '[[20, 24]]'
    run -0 "$CELLRUN" train a.yaml -o a -q datapipe.cache=disk run.dir=kept
    [ -e kept/.cache ]
    rm -r kept
    cp a/ckpt/last.safetensors b.safetensors
    run -0 "$CELLRUN" eval --ckpt b --data ./train
    [ ! -e kept ]
    [ ! -e runs ]
    run -0 "$CELLRUN" eval --ckpt b --trust
    [ -e kept/.cache ]
}

@test "a file that cannot be decoded ends the run, or is skipped" {
    sets
    recipe a.yaml "$SIZES"
    head -c 100 train/cat/3.png >cut && mv cut train/cat/3.png
    run -3 "$CELLRUN" train a.yaml -o a
    [[ "$output" == *"train/cat/3.png"* ]]
    run -0 "$CELLRUN" train a.yaml -o b dataset.on_error=skip
    [[ "$output" == *"1 of 18 samples of dataset.train cannot be read"* ]]
    run -0 "$CELLRUN" train a.yaml -o c dataset.on_error=skip \
        datapipe.cache=disk datapipe.workers=2
    equal losses b c
    run -2 "$CELLRUN" check a.yaml dataset.on_error=ignore
}

@test "images of unequal sizes are named" {
    sets
    recipe a.yaml "$SIZES"
    run -3 "$CELLRUN" train a.yaml -o a datapipe.image='[HWC2CHW]' \
        datapipe.label='[{TypeCast: int32}]' dataset.eval.dataset_dir=train
    [[ "$output" == *"train/bee/"*".png: error: "* ]]
    [[ "$output" == *"a batch needs one shape"* ]]
    [[ "$output" == *"Resize: {size: [height, width]}"* ]]
}

# plain FILE: nothing random, whatever the size of the images
plain() {
    recipe "$1" '[[20, 24]]'
    sed -i '/^  image:/,/CutMix/c\  image: [{Resize: {size: [20, 24]}}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]' "$1"
    sed -i '/^  label:/d' "$1"
}

@test "eval --data takes a folder in place of the data set's" {
    folder train 4 12 10
    folder eval 2 12 10
    plain a.yaml
    run -0 "$CELLRUN" train a.yaml -q -o r train.epochs=1
    mkdir -p there/wrong empty
    cp -r eval there/right
    rm -r there/right/ant there/right/bee
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --json
    jq -e '.samples == 6' <<<"$output"
    cd there
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../r --data right --json
    jq -e '.samples == 2' <<<"$output"
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../r --data ../train --json
    jq -e '.samples == 12' <<<"$output"
    run -3 --separate-stderr "$CELLRUN" eval --ckpt ../r --data ../empty
    [[ $stderr == *"no images in '"*"empty'"* ]]
    # a part that was set aside does not make the folder smaller
    sed -e '/^  eval:/d' -e '/^  train:/a\  split: {eval_from_train: 25%}' \
        ../a.yaml >../b.yaml
    run -0 "$CELLRUN" train ../b.yaml -q -o ../s train.epochs=1
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../s --json
    jq -e '.samples == 3' <<<"$output"
    run -0 --separate-stderr "$CELLRUN" eval --ckpt ../s --data right --json
    jq -e '.samples == 2' <<<"$output"
}

@test "folders of other data have the classes of the training data" {
    folder train 4 12 10
    folder eval 2 12 10
    plain a.yaml
    run -0 "$CELLRUN" train a.yaml -q -o r train.epochs=1 metrics='[loss]'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --confusion -
    cat=$(grep ^cat, <<<"$output")
    rm -r eval/ant eval/bee
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --confusion -
    [[ $output == *"truth,ant,bee,cat"* ]]
    [ "$(grep ^cat, <<<"$output")" = "$cat" ]
    [[ $output == *$'\nant,0,0,0\nbee,0,0,0\n'* ]]
    # and while training
    run -0 "$CELLRUN" train a.yaml -q -o s train.epochs=1 metrics='[loss]'
    run -0 --separate-stderr "$CELLRUN" eval --ckpt s
    score=$output
    [ "eval.$score" = "$("$CELLRUN" train a.yaml -q -o t train.epochs=1 \
        metrics='[loss]' | grep ^eval.loss)" ]
    [[ $("$CELLRUN" train a.yaml -q -o u train.epochs=1 metrics='[confusion_matrix]' --json |
        jq -c '.eval.confusion_matrix[0:2]') == '[[0,0,0],[0,0,0]]' ]]
    mv eval/cat eval/dog
    run -3 --separate-stderr "$CELLRUN" eval --ckpt r
    [[ $stderr == *"eval/dog: error: 'dog' is not one of the classes ant, bee, cat of the training data"* ]]
    run -3 --separate-stderr "$CELLRUN" train a.yaml -q -o v
    [[ $stderr == *"'dog' is not one of the classes"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --confusion - \
        'dataset.eval.ImageFolderDataset.class_indexing={dog: 2}'
    [ "$(grep ^cat, <<<"$output")" = "$cat" ]
}

@test "a part of a folder that is of one class is a warning" {
    folder train 4 12 10
    folder eval 2 12 10
    plain a.yaml
    run -0 --separate-stderr "$CELLRUN" check a.yaml train.limit=4
    [[ $stderr == *"train.limit: all 4 samples of dataset.train are of class ant"* ]]
    run -0 --separate-stderr "$CELLRUN" check a.yaml train.limit=20%
    [[ $stderr == *"train.limit: all 3 samples of dataset.train are of class ant"* ]]
    run -0 --separate-stderr "$CELLRUN" check a.yaml train.limit=5 \
        eval.max_batches=1
    [ -z "$stderr" ]
    set -- datapipe.batch.batch_size=2
    run -0 --separate-stderr "$CELLRUN" train a.yaml -q -o r "$@" \
        train.epochs=1 eval.max_batches=1
    [[ $stderr == *"eval.max_batches: all 2 samples of dataset.eval are of class ant"* ]]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r "$@" eval.max_batches=1
    [[ $stderr == *"eval.max_batches: all 2 samples of dataset.eval are of class ant"* ]]
    run -0 "$CELLRUN" help limit
    [[ $output == *"sorted by class"* ]]
    run -0 "$CELLRUN" help max_batches
    [[ $output == *"sorted by class"* ]]
}

@test "folders of classes and of the config that are not UTF-8: eval, resume, predict" {
    folder set 3 6 6
    mv set/bee $'set/b\xe9e'
    mv set/cat $'set/b\xe8e'
    # a character that JSON writes for such bytes otherwise
    mkdir $'d\xe9 \xef\xbf\xbd'
    mv set $'d\xe9 \xef\xbf\xbd'
    cat >$'d\xe9 \xef\xbf\xbd/c.yaml' <<'END'
cellrun: 1
dataset:
  train: {ImageFolderDataset: {dataset_dir: set}}
  eval: {ImageFolderDataset: {dataset_dir: set}}
datapipe: {batch: {batch_size: 3}}
network: {flat: Flatten, fc: {Dense: [108, 3]}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.01, momentum: 0.9}}
train: {epochs: 2}
END
    "$CELLRUN" train $'d\xe9 \xef\xbf\xbd/c.yaml' -o whole -q --epochs 3
    run -0 "$CELLRUN" train $'d\xe9 \xef\xbf\xbd/c.yaml' -o $'r\xe9' -q
    run -0 "$CELLRUN" eval --ckpt $'r\xe9'
    [[ $output == *"accuracy: "* ]]
    run -0 "$CELLRUN" resume $'r\xe9' -q --epochs 3
    cmp whole/ckpt/last.safetensors $'r\xe9/ckpt/last.safetensors'
    "$CELLRUN" predict --ckpt whole $'d\xe9 \xef\xbf\xbd/set'/*/1.png --topk 3 >rows
    grep -qF 'b\xe9e' rows
    grep -qF 'b\xe8e' rows
    # what does not work is refused before anything is done
    run -2 "$CELLRUN" train $'d\xe9 \xef\xbf\xbd/c.yaml' --name $'n\xe9' -q
    [[ $output == *"--name: found 'n\\xe9', expected UTF-8 [E0002]"* ]]
}
