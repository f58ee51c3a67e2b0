#!/usr/bin/env bats
# Segmentation: a folder of images and one of masks, paired by name.

bats_require_minimum_version 1.5.0
set -o pipefail
load masks

setup() {
    cd "$BATS_TEST_TMPDIR"
}

recipe() {
    cat >c.yaml <<'EOF'
cellrun: 1
dataset:
  train: {ImageMaskDataset: {dataset_dir: .}}
  eval: {ImageMaskDataset: {dataset_dir: .}}
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
train: {epochs: 40}
eval: {every: 40 epochs}
EOF
}

@test "two folders train to the bytes of a table of the same files" {
    pairs 8
    recipe
    sed 's/ImageMaskDataset: {dataset_dir: .}/CSVDataset: {dataset_files: pairs.csv, columns: {image: {fields: image, type: image}, label: {fields: mask, type: mask}}}/' \
        c.yaml >t.yaml
    run -0 "$CELLRUN" check c.yaml --data
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o a --json
    jq -e '.eval.loss < 1e-2' <<<"$output"
    [[ $stderr != *ignored* ]]
    "$CELLRUN" train t.yaml -q -o t
    run -0 "$CELLRUN" ckpt diff a t
    for more in cache=disk cache=disk cache=memory workers=3; do
        "$CELLRUN" train c.yaml -q -o b --force datapipe.$more
        run -0 "$CELLRUN" ckpt diff a b
    done
}

@test "eval, predict and data commands; predict needs no masks" {
    pairs 8
    recipe
    "$CELLRUN" train c.yaml -q -o r train.epochs=2
    "$CELLRUN" eval --ckpt r --json >want
    mkdir else
    cp -r images masks else
    rm else/*/[4-7].png
    run -0 --separate-stderr "$CELLRUN" eval --ckpt r --data else --json
    jq -e '.samples == 4' <<<"$output"
    "$CELLRUN" predict --ckpt r --data eval -o all.npy
    "$CELLRUN" predict --ckpt r images -o some.npy
    cmp all.npy some.npy
    mv images/7.png new.png
    rm -r images masks
    "$CELLRUN" predict --ckpt r new.png -o one.npy
    mv else/* .
    run -0 --separate-stderr "$CELLRUN" data verify c.yaml
    [[ $output == "dataset.train: ok, 4 samples"* ]]
    run -0 "$CELLRUN" data stats c.yaml
    run -0 "$CELLRUN" data show c.yaml -o sheet.png
    run -0 "$CELLRUN" data show c.yaml -n 1
    [[ $output == *"label: [0 "*" ...]" ]]
    run -0 "$CELLRUN" data convert c.yaml --split train -o arrays
    head -c 60 masks/2.png >cut && mv cut masks/2.png
    run -3 --separate-stderr "$CELLRUN" data verify c.yaml
    [[ $output == *"masks/2.png: the image is damaged"* ]]
    # skipped on demand, as images are
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o s --steps 2 \
        dataset.on_error=warn
    [[ $stderr == *"1 of 4 samples of dataset.train cannot be read"* ]]
}

@test "folders in folders, suffixes of names, and both in one folder" {
    pairs 4
    recipe
    "$CELLRUN" train c.yaml -q -o want --steps 6
    # as of street scenes: one folder for each town
    mkdir -p left/train/{a,b} fine/train/{a,b}
    for i in 0 1 2 3; do
        to=a
        [ $i -lt 2 ] || to=b
        cp images/$i.png left/train/$to/${i}_left.png
        cp masks/$i.png fine/train/$to/${i}_fine_ids.png
        cp images/$i.png fine/train/$to/${i}_fine_color.png
    done
    : >fine/train/a/0_fine_polygons.json
    set='{dataset_dir: ., images: left/train, masks: fine/train, image_suffix: _left, mask_suffix: _fine_ids}'
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o got --steps 6 \
        "dataset.train.ImageMaskDataset=$set"
    [[ $stderr != *ignored* ]]
    run -0 "$CELLRUN" ckpt diff want got
    mkdir flat
    for i in 0 1 2 3; do
        cp images/$i.png flat/$i.PNG
        cp masks/$i.png flat/${i}_mask.png
    done
    set='{dataset_dir: flat, images: ., masks: ., mask_suffix: _mask}'
    "$CELLRUN" train c.yaml -q -o got --force --steps 6 \
        "dataset.train.ImageMaskDataset=$set"
    run -0 "$CELLRUN" ckpt diff want got
    # masks below the images
    mkdir -p below/masks
    cp images/* below
    cp masks/* below/masks
    set='{dataset_dir: below, images: .}'
    "$CELLRUN" train c.yaml -q -o got --force --steps 6 \
        "dataset.train.ImageMaskDataset=$set"
    run -0 "$CELLRUN" ckpt diff want got
}

@test "a list of names chooses samples, in its order" {
    pairs 4
    recipe
    rm masks/1.png
    printf '\357\273\2773 1 1\r\n\n# no name\n0.png\n2\n' >train.txt
    "$CELLRUN" data convert c.yaml --split train -o arrays \
        dataset.train.names=train.txt
    for i in 3 0 2; do
        echo "images/$i.png,masks/$i.png"
    done | cat <(echo image,mask) - >pairs.csv
    "$CELLRUN" data convert c.yaml --split train -o want \
        'dataset.train={CSVDataset: {dataset_files: pairs.csv, columns: {image: {fields: image, type: image}, label: {fields: mask, type: mask}}}}'
    for f in want/*.npy; do
        cmp "$f" "arrays/${f#want/}"
    done
    echo 1 >>train.txt
    echo 9 >>train.txt
    run -3 --separate-stderr "$CELLRUN" check c.yaml \
        dataset.train.names=train.txt '~dataset.eval'
    [[ $stderr == *"train.txt:6: error: '1' has no mask: found no 1.png in 'masks'"* ]]
    [[ $stderr == *"train.txt:7: error: '9' has no image: found no 9.png or .jpg in 'images'"* ]]
}

@test "masks of 0 and 255 have two classes by ValueIndex" {
    pairs 4
    recipe
    "$CELLRUN" train c.yaml -q -o want --steps 6
    for i in 0 1 2 3; do
        stored masks/$i.png 12 10 0 8 $(perl -e 'my $i = shift;
            for my $y (0 .. 9) { for my $x (0 .. 11) {
                print $y == 9 ? 128 : $x >= $i && $x < $i + 4 && $y >= 2 &&
                    $y < 6 ? 255 : 0, " " } }' "$i")
    done
    set="datapipe.label=[{ValueIndex: {values: [0, 255], other: 255}}, {RandomHorizontalFlip: {prob: 0.5}, only: train, with: image}]"
    "$CELLRUN" train c.yaml -q -o got --steps 6 "$set"
    run -0 "$CELLRUN" ckpt diff want got
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o no --steps 6 \
        'datapipe.label=[{ValueIndex: [0, 255]}]'
    [[ $stderr == *"ValueIndex: found 128 in the data, expected one of values"* ]]
    stored masks/0.png 12 10 0 8 $(for ((k = 0; k < 120; k++)); do echo 255; done)
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o no --force \
        '~loss.ignore_index' dataset.train.num_samples=1 \
        dataset.train.shuffle=false
    [[ $stderr == *"has the classes 0 and 1 by datapipe: {label: [{ValueIndex: [0, 255]}]}"* ]]
}

@test "init does not take images and masks for classes" {
    pairs 4
    run -3 --separate-stderr "$CELLRUN" init --from-folder .
    [[ $stderr == *"found the folders 'images' and 'masks' of images and masks"* ]]
    [[ $stderr == *"for segmentation: cellrun help ImageMaskDataset"* ]]
}

@test "messages: masks that are missing, and names that occur twice" {
    pairs 3
    recipe
    mv masks/1.png masks/1_mask.png
    run -3 --separate-stderr "$CELLRUN" check c.yaml '~dataset.eval'
    [[ $stderr == *"images/1.png: error: the image has no mask: found no 1.png in "*"masks'"* ]]
    [[ $stderr == *"'1_mask.png' begins so: mask_suffix: _mask"* ]]
    [[ $stderr != *"images/0.png"* ]]
    mv masks/1_mask.png masks/1.png
    cp images/2.png images/2.jpg
    run -3 --separate-stderr "$CELLRUN" check c.yaml '~dataset.eval'
    [[ $stderr == *"images/2.png: error: "*"images/2.jpg' has the same name"* ]]
    rm images/2.*
    run -0 --separate-stderr "$CELLRUN" check c.yaml '~dataset.eval'
    [[ $stderr == *"masks: warning: 1 mask has no image and is ignored: 2.png"* ]]
    stored masks/1.png 6 5 0 8 $(for ((k = 0; k < 30; k++)); do echo 1; done)
    run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o r
    [[ $stderr == *"masks/1.png: error: the mask has 6 x 5 pixels, its image 12 x 10"* ]]
    run -3 --separate-stderr "$CELLRUN" check c.yaml \
        dataset.train.images=photos '~dataset.eval'
    [[ $stderr == *"images: no folder 'photos' in '"*"'"*"it has the folders images, masks"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        dataset.train.images=../images '~dataset.eval'
    [[ $stderr == *"images: found '../images', expected a path below dataset_dir"* ]]
    rm images/*
    run -3 --separate-stderr "$CELLRUN" check c.yaml '~dataset.eval'
    [[ $stderr == *"no images in "*"images'"* ]]
}

@test "folders may be written with slashes and dots" {
    pairs 4
    recipe
    mkdir below
    cp images/* below
    cp -r masks below
    "$CELLRUN" train c.yaml -q -o want --steps 2
    for set in 'below/, images: ., masks: masks/' 'below, images: ./, masks: .//masks/.'; do
        "$CELLRUN" train c.yaml -q -o got --force --steps 2 \
            "dataset.train.ImageMaskDataset={dataset_dir: $set}"
        run -0 "$CELLRUN" ckpt diff want got
    done
    rm -r below/masks
    for i in 0 1 2 3; do
        cp masks/$i.png below/${i}_mask.png
    done
    "$CELLRUN" train c.yaml -q -o got --force --steps 2 \
        "dataset.train.ImageMaskDataset={dataset_dir: ., images: below/, masks: ./below, mask_suffix: _mask}"
    run -0 "$CELLRUN" ckpt diff want got
}

@test "a list of names is a text" {
    pairs 4
    recipe
    for i in $(seq 200); do
        printf '0\0001\000'
    done >names
    run -3 --separate-stderr "$CELLRUN" check c.yaml \
        dataset.train.ImageMaskDataset.names=names
    [[ $stderr == *"names: error: found a zero byte, expected a text of names [E0203]"* ]]
}
