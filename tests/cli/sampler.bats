# datapipe.sampler: training samples drawn with weights.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/images.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
}

balanced='datapipe.sampler={WeightedRandomSampler: {weights: balanced}}'

@test "a stopped run resumes with the same draws" {
    "$CELLRUN" train c.yaml -o a -q --epochs 4 "$balanced" >/dev/null
    "$CELLRUN" train c.yaml -o b -q --epochs 2 "$balanced" >/dev/null
    "$CELLRUN" resume b -q --epochs 4 >/dev/null
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    # any number of workers; not the same as without
    "$CELLRUN" train c.yaml -o w -q --epochs 4 "$balanced" \
        datapipe.workers=3 >/dev/null
    run -0 "$CELLRUN" ckpt diff a w --json
    [[ $output != *'"same": false'* ]]
    "$CELLRUN" train c.yaml -o n -q --epochs 4 >/dev/null
    run -6 "$CELLRUN" ckpt diff a n --json
    [[ $output == *'"same": false'* ]]
}

@test "a rare class is found more often" {
    # one in fifteen is of class 0
    perl -e 'print pack "l<*", map { $_ % 15 ? 1 + $_ % 2 : 0 } 0 .. 299' |
        npy train-y.npy '<i4' '(300,)'
    perl -e 'print pack "f<*", map { my ($i, $c) = ($_, $_ % 15 ? 1 + $_ % 2 : 0);
        map { sin($i * 12.9 * $_) + 0.35 * ($c == $_ % 3) } 1 .. 8 } 0 .. 299' |
        npy train-x.npy '<f4' '(300, 8)'
    cp train-x.npy eval-x.npy
    cp train-y.npy eval-y.npy
    recall() {
        "$CELLRUN" train c.yaml -q --json --epochs 10 "$@" \
            'metrics=[accuracy, recall, confusion_matrix]' |
            jq '.eval.confusion_matrix[0] | .[0] / add'
    }
    plain=$(recall -o a)
    even=$(recall -o b "$balanced")
    echo "$plain $even"
    jq -n -e --argjson a "$plain" --argjson b "$even" '$b > $a + 0.2'
}

@test "a sample drawn again is cut at another place" {
    folder img 1 12 12
    cat >i.yaml <<'END'
dataset: {train: {ImageFolderDataset: {dataset_dir: img}}}
datapipe:
  image: [{RandomCrop: {size: 4}, only: train}, {Rescale: {rescale: $(1/255), shift: 0.0}}, HWC2CHW]
  batch: {batch_size: 4}
  sampler: {WeightedRandomSampler: {weights: {ant: 1, bee: 0, cat: 0}, num_samples: 4}}
network: {flatten: Flatten, fc: {Dense: {out_channels: 3}}}
loss: CrossEntropyLoss
optimizer: {SGD: {learning_rate: 0.1}}
train: {epochs: 1}
END
    run -0 "$CELLRUN" trace i.yaml -o t.safetensors
    # four rows of one image, not all alike
    perl -0777 -e '$_ = <STDIN>; my $n = unpack "Q<", $_;
        my $head = substr $_, 8, $n;
        $head =~ /"output\.flatten":\{"dtype":"(\w+)[^}]*"data_offsets":\[(\d+),(\d+)\]/ or die;
        my $all = substr $_, 8 + $n + $2, $3 - $2;
        my %rows; $rows{substr $all, $_ * length($all) / 4, length($all) / 4} = 1 for 0 .. 3;
        exit(keys %rows < 2)' <t.safetensors
}

@test "errors have their place" {
    run -2 "$CELLRUN" check c.yaml 'datapipe.sampler={WeightedRandomSampler: {weights: nowhere}}'
    [[ $output == *"weights: 'nowhere' is not a column with one number per sample"* ]]
    run -2 "$CELLRUN" check c.yaml 'datapipe.sampler={WeightedRandomSampler: {}}'
    [[ $output == *"WeightedRandomSampler: found no 'weights'"* ]]
    run -2 "$CELLRUN" check c.yaml 'datapipe.sampler={WeightedSampler: {weights: balanced}}'
    run -2 "$CELLRUN" check c.yaml 'datapipe.sampler={WeightedRandomSampler: {weights: {ant: 1}}}'
    [[ $output == *"found 'ant', expected a class"* ]]
    perl -e 'print "a,place,label\n"; print $_ % 7, ",", $_ % 2 ? "in" : "out",
        ",", $_ % 2, "\n" for 0 .. 19' >p.csv
    run -2 "$CELLRUN" train c.yaml -q ~dataset ~datapipe \
        'dataset.train={CSVDataset: {dataset_files: p.csv, columns: {x: {numbers: [a]}, place: {fields: place, type: category}, label: label}}}' \
        'datapipe={place: [CategoryIndex], sampler: {WeightedRandomSampler: {weights: place}}}'
    [[ $output == *"weights: 'place' is not a column with one number per sample"* ]]
    run -3 "$CELLRUN" train c.yaml -q 'datapipe.sampler={WeightedRandomSampler: {weights: {0: 1e308, 1: 1e308, 2: 1e308}}}'
    [[ $output == *"found weights whose sum is not finite"* ]]
    run -2 "$CELLRUN" check c.yaml "$balanced" datapipe.shuffle=false
    [[ $output == *"found 'shuffle' and 'sampler', expected one of them"* ]]
}
