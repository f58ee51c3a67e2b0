# log.tensorboard: the event files of a run. tests/golden/check_tensorboard.py
# reads such files with TensorBoard itself, and has read those compared here.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS SOURCE_DATE_EPOCH
    golden=$BATS_TEST_DIRNAME/../golden/tensorboard
    cd "$BATS_TEST_TMPDIR"
}

# exact FILE: a run whose numbers are exact in float32 on every machine
exact() {
    printf 'a,b,label\n1,0,2\n0,1,4\n1,1,6\n2,1,8\n' >t.csv
    local data='{CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: {fields: [label], type: float32}}}}'
    cat >"$1" <<END
cellrun: 1
dataset: {train: $data, eval: $data}
datapipe: {batch: {batch_size: 4}}
network: {body: {fc: {Dense: {out_channels: 1, has_bias: false, weight_init: One}}, act: ReLU}}
loss: MSELoss
optimizer: {SGD: {learning_rate: 0.25}}
metrics: [loss]
watch: [{at: body.fc, stats: [mean, histogram], every: 1 steps}]
train: {steps: 2}
log: {every: 1 steps, tensorboard: true}
END
}

# tags FILE: the tags of scalars and what else it has, as the bytes of Value
tags() {
    LC_ALL=C grep -aoE '(train|eval|watch|config|_hparams_)/[a-z_/.]+' "$1" |
        sort | uniq -c | awk '{ print $2, $1 }'
}

@test "log.tensorboard writes the event file, byte for byte" {
    exact e.yaml
    SOURCE_DATE_EPOCH=1700000000 "$CELLRUN" train e.yaml -o r -q
    cmp r/events.out.tfevents.1700000000.cellrun "$golden/first.tfevents"
}

@test "a resumed run writes a second event file, which rewinds the first, byte for byte" {
    exact e.yaml
    SOURCE_DATE_EPOCH=1700000000 "$CELLRUN" train e.yaml -o r -q
    SOURCE_DATE_EPOCH=1700000000 "$CELLRUN" resume r --steps 3 -q
    cmp r/events.out.tfevents.1700000000.cellrun "$golden/first.tfevents"
    cmp r/events.out.tfevents.1700000001.cellrun "$golden/resumed.tfevents"
}

@test "each number of metrics.jsonl is a scalar, each histogram and text a tensor" {
    exact e.yaml
    "$CELLRUN" train e.yaml -o r -q
    tags r/events.out.tfevents.* | tee out
    for tag in train/loss train/lr train/samples_per_s; do
        grep -qx "$tag $(steps r train | wc -w)" out
    done
    grep -qx "eval/loss $(steps r eval | wc -w)" out
    grep -qx 'watch/body.fc/output 2' out
    grep -qx 'watch/body.fc/output/mean 2' out
    grep -qx 'config/text_summary 1' out
    grep -qx '_hparams_/session_start_info 1' out
    grep -qx '_hparams_/session_end_info 1' out
}

@test "without log.tensorboard a run writes no event files, and the same checkpoint" {
    exact e.yaml
    "$CELLRUN" train e.yaml -o on -q
    "$CELLRUN" train e.yaml -o off -q log.tensorboard=false
    [ -z "$(find off -name '*tfevents*')" ]
    "$CELLRUN" ckpt diff on off
}

@test "--force removes the event files of the old run" {
    exact e.yaml
    "$CELLRUN" train e.yaml -o r -q
    cp r/events.out.tfevents.* r/events.out.tfevents.0000000001.cellrun
    "$CELLRUN" train e.yaml -o r -q --force
    [ "$(find r -name '*tfevents*' | wc -l)" -eq 1 ]
    [ ! -e r/events.out.tfevents.0000000001.cellrun ]
}

@test "pictures of samples are in the event file as samples.json has them" {
    . "$BATS_TEST_DIRNAME/everything.bash"
    everything e.yaml
    "$CELLRUN" train e.yaml -o r -q --epochs 1 log.tensorboard=true
    LC_ALL=C grep -qa 'train/first/image' r/events.out.tfevents.*
    LC_ALL=C grep -qa 'eval/worst/image' r/events.out.tfevents.*
    local n
    n=$(jq '[.first[], .worst[]] | map(select(.columns.image.png)) | length' r/samples.json)
    [ "$n" -gt 0 ]
    [ "$(LC_ALL=C grep -ao 'IHDR' r/events.out.tfevents.* | wc -l)" -eq "$n" ]
    jq -r '.first[0].columns.image.png' r/samples.json | base64 -d >first.png
    perl -0777 -e 'local $/; open F, "<", shift; my $png = <F>; my $all = <STDIN>;
        exit(index($all, $png) < 0)' first.png < <(cat r/events.out.tfevents.*)
}
