#!/usr/bin/env bats
# Images that a table lists by their paths.

bats_require_minimum_version 1.5.0
set -o pipefail
load images

setup() {
    cd "$BATS_TEST_TMPDIR"
    mkdir list
    cd list
    folder train 4 14 12
    folder eval 2 18 10
    for set in train eval; do
        { echo path,label
          for f in $set/*/*.png; do
              echo "$f,$(basename "$(dirname "$f")")"
          done; } >$set.csv
    done
    cd ..
    cat >c.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: list/train.csv, columns: {image: {fields: path, type: image}, label: label}}}
  eval: {CSVDataset: {dataset_files: list/eval.csv, columns: {image: {fields: path, type: image}, label: label}}}
datapipe:
  image: [{RandomHorizontalFlip: {prob: 0.5}, only: train}, {Resize: {size: [10, 12]}}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]
  batch: {batch_size: 4}
network: [{Conv2d: {out_channels: 4, kernel_size: 3}}, ReLU, {AdaptiveAvgPool2d: {output_size: 2}}, Flatten, {Dense: {out_channels: $data.classes}}]
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.05, momentum: 0.9}}
metrics: [accuracy, loss]
train: {epochs: 3}
END
}

@test "a table of paths trains to the bytes of the folders" {
    run -0 "$CELLRUN" check c.yaml --data
    "$CELLRUN" train c.yaml -q -o a
    sed 's/{CSVDataset: {dataset_files: list\/\([a-z]*\).csv, .*$/{ImageFolderDataset: {dataset_dir: list\/\1}}/' \
        c.yaml >d.yaml
    "$CELLRUN" train d.yaml -q -o b
    run -0 "$CELLRUN" ckpt diff a b
    # also from elsewhere, with absolute paths, and with each cache
    mkdir there
    sed "s,^\(train\|eval\)/,$PWD/list/&," list/train.csv >there/t.csv
    for more in datapipe.cache=memory datapipe.cache=disk datapipe.workers=3; do
        "$CELLRUN" train c.yaml -q -o c --force $more \
            dataset.train.dataset_files=there/t.csv
        run -0 "$CELLRUN" ckpt diff a c
    done
    # stopped and resumed
    "$CELLRUN" train c.yaml -q -o e --steps 4
    "$CELLRUN" resume e --steps 9 -q
    run -0 "$CELLRUN" ckpt diff a/ckpt/last.safetensors e/ckpt/last.safetensors
}

@test "predict and eval of tables of paths, and of images" {
    "$CELLRUN" train c.yaml -q -o a
    mkdir sub
    cd sub
    "$CELLRUN" predict --ckpt ../a --data eval | cut -f3 >want
    [ "$(wc -l <want)" = 6 ]
    "$CELLRUN" predict --ckpt ../a ../list/eval/*/*.png | cut -f2 | diff want -
    "$CELLRUN" predict --ckpt ../a ../list/eval | cut -f2 | diff want -
    find ../list/eval -name '*.png' | sort | "$CELLRUN" predict --ckpt ../a - |
        cut -f2 | diff want -
    "$CELLRUN" predict --ckpt ../a ../list/eval.csv | cut -f2 | diff want -
    # without a header; JSON lines; standard input, relative to where we are
    sed '1d; s/,.*//' ../list/eval.csv >../list/bare.csv
    "$CELLRUN" predict --ckpt ../a ../list/bare.csv --names no | cut -f2 |
        diff want -
    cd ../list
    sed '1d; s/\(.*\),.*/{"path": "\1"}/' eval.csv |
        "$CELLRUN" predict --ckpt ../a - --rows jsonl | cut -f2 |
        diff ../sub/want -
    run -0 "$CELLRUN" eval --ckpt ../a --json
    all=$output
    run -0 "$CELLRUN" eval --ckpt ../a --data eval.csv --json
    [ "$output" = "$all" ]
    # samples have the names of their files
    run -0 "$CELLRUN" predict --ckpt ../a --data eval
    [[ ${lines[0]} == *list/eval/ant/0.png$'\t'ant$'\t'* ]]
}

@test "targets of an image may be numbers" {
    { echo file,x,y
      for i in 0 1 2 3; do echo "train/ant/$i.png,0.$i,1.$i"; done; } \
        >list/boxes.csv
    cat >r.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: list/boxes.csv, columns: {image: {fields: file, type: image}, label: {fields: [x, y], type: float32}}}}
datapipe:
  image: [{Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]
  batch: {batch_size: 2}
network: [Flatten, {Dense: {out_channels: 2}}]
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.0001}}
train: {steps: 3}
END
    run -0 --separate-stderr "$CELLRUN" train r.yaml -q -o r
    [ -z "$stderr" ]
}

@test "messages about images that cannot be read name their rows" {
    "$CELLRUN" train c.yaml -q -o a train.epochs=1
    cp list/eval.csv list/bad.csv
    printf '%s\n' eval/none.png,ant ,bee eval,cat >>list/bad.csv
    run -3 --separate-stderr "$CELLRUN" eval --ckpt a --data list/bad.csv
    [[ $stderr == *"list/bad.csv:8:1: error: image '"*"list/eval/none.png' cannot be read: No such file or directory [E0202]"* ]]
    [[ $stderr == *"list/bad.csv:9:1: error: column 'image': found nothing, expected the path of an image [E0203]"* ]]
    [[ $stderr == *"list/bad.csv:10:1: error: image '"*"list/eval' is not a regular file [E0202]"* ]]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt a list/bad.csv
    [ "$(wc -l <<<"$output")" = 6 ]
    [[ $stderr == *"at list/bad.csv:8:1"* ]]
    # damaged files are skipped on demand
    cp list/eval.csv list/bad.csv
    echo bad.csv,bee >>list/bad.csv
    run -3 "$CELLRUN" train c.yaml -q -o b dataset.eval.dataset_files=list/bad.csv
    run -0 --separate-stderr "$CELLRUN" train c.yaml -q -o c train.epochs=1 \
        dataset.eval.dataset_files=list/bad.csv dataset.on_error=skip
    [[ $stderr == *"1 of 7 samples of dataset.eval cannot be read and are skipped"* ]]
    # arrays are not images
    perl -e 'my $h = "{\x27descr\x27: \x27|u1\x27, \x27fortran_order\x27: False, \x27shape\x27: (40, 30, 64), }\n";
        print "\x93NUMPY\x01\0", pack("v", length $h), $h, "\1" x 76800' \
        >list/a.npy
    printf '%s\n' path,label a.npy,ant a.npy,bee a.npy,cat >list/bad.csv
    sed "1a$(sed -n 2p list/train.csv)" list/bad.csv >list/later.csv
    for table in bad later; do
        run -3 --separate-stderr "$CELLRUN" train c.yaml -q -o d --force \
            dataset.train.dataset_files=list/$table.csv
        [[ $stderr == *"list/a.npy: error: the file is not an image"* ]]
    done
    run -3 --separate-stderr "$CELLRUN" predict --ckpt a list/bad.csv
    [[ $stderr == *"list/a.npy: error: the file is not an image"* ]]
    # what a column of texts lacks
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'dataset.train.columns={image: path, label: label}'
    [[ $stderr == *"type: image} images by their paths"* ]]
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'dataset.train.columns={image: {fields: [path, label], type: image}, label: label}'
    [[ $stderr == *"column 'image' has 2 fields of text, expected one"* ]]
}

@test "a network of several images: tables, objects, a file for each" {
    cat >two.yaml <<'END'
cellrun: 1
dataset:
  train: {CSVDataset: {dataset_files: list/two.csv, columns: {a: {fields: a, type: image}, b: {fields: b, type: image}, label: label}}}
datapipe:
  a: [{Resize: {size: [4, 4]}}, HWC2CHW, {TypeCast: {data_type: float32}}]
  b: [{Resize: {size: [4, 4]}}, HWC2CHW, {TypeCast: {data_type: float32}}]
network:
  inputs: [a, b]
  cells: {flatten: Flatten, head: {Dense: {out_channels: 3}}}
  construct: return head(flatten(a - b))
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 1e-6}}
train: {steps: 3}
END
    (cd list; for f in train/*/*.png; do
        echo "$f,train/bee/1.png,$(basename "$(dirname "$f")")"
     done) | (echo a,b,label; cat) >list/two.csv
    "$CELLRUN" train two.yaml -q -o a
    run -0 --separate-stderr "$CELLRUN" predict --ckpt a list/two.csv
    first=${lines[0]#*$'\t'}
    file=$(sed -n '2s/,.*//p' list/two.csv)
    run -0 --separate-stderr "$CELLRUN" predict --ckpt a "a=list/$file" \
        b=list/train/bee/1.png
    [ "${output#*$'\t'}" = "$first" ]
    run -3 --separate-stderr "$CELLRUN" predict --ckpt a - \
        <<<"{\"a\": \"list/$file\"}"
    [[ $stderr == *"column 'b': found nothing, expected the path of an image"* ]]
}

@test "prob next to a transform is its probability, where it can be omitted" {
    for p in 0.0 1.0; do
        "$CELLRUN" train c.yaml -q -o p$p "datapipe.image=[{GaussianBlur: {kernel_size: 3}, prob: $p}, {Resize: {size: [10, 12]}}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]"
    done
    "$CELLRUN" train c.yaml -q -o none 'datapipe.image=[{Resize: {size: [10, 12]}}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
    "$CELLRUN" train c.yaml -q -o all 'datapipe.image=[{GaussianBlur: {kernel_size: 3}}, {Resize: {size: [10, 12]}}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
    run -0 "$CELLRUN" ckpt diff p0.0 none
    run -0 "$CELLRUN" ckpt diff p1.0 all
    run ! "$CELLRUN" ckpt diff none all
    run -2 "$CELLRUN" check c.yaml 'datapipe.image=[{Resize: {size: [10, 12]}, prob: 0.5}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
    [[ $output == *"prob: Resize changes uint8 (12, 14, 3) to uint8 (10, 12, 3), and a sample without it would not fit"* ]]
    run -2 "$CELLRUN" check c.yaml 'datapipe.image=[{RandomInvert: {}, prob: 0.5}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
    [[ $output == *"prob: RandomInvert has an argument prob; write {RandomInvert: {prob: P}}"* ]]
    run -2 "$CELLRUN" check c.yaml 'datapipe.image=[{GaussianBlur: {kernel_size: 3}, prob: 1.5}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
    [[ $output == *"prob: found 1.5, expected a number from 0 to 1"* ]]
    # an image of another size is resized always
    pixels 18 10 5 0 | png list/train/ant/3.png 18 10
    "$CELLRUN" train c.yaml -q -o mixed 'datapipe.image=[{Resize: {size: [12, 14]}, prob: 0.0, only: train}, {Resize: {size: [12, 14]}, only: eval}, {Rescale: {rescale: 0.01, shift: 0}}, HWC2CHW]'
}
