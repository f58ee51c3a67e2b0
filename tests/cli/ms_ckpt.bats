# MindSpore's .ckpt: read, loaded and written.
bats_require_minimum_version 1.5.0
set -o pipefail
load images

setup() {
    GOLDEN="$(realpath "$BATS_TEST_DIRNAME/../golden/ckpt")"
    CONFIGS="$(realpath "$BATS_TEST_DIRNAME/../../configs")"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS
    unset CELLRUN_PATH
    cd "$BATS_TEST_TMPDIR"
}

# The configs of 3.3 and 3.6 as printed, with fewer channels, and the data
# that they name: five classes of small images.
setup_flowers() {
    local set class i k
    sed -E 's/channels: 64\b/channels: 2/; s/channels: 128\b/channels: 3/g
        s/channels: 256\b/channels: 4/g; s/channels: 512\b/channels: 5/g' \
        "$CONFIGS/resnet18.yaml" >resnet18.yaml
    cp "$CONFIGS/flowers.yaml" .
    for set in train val; do
        k=0
        for class in a b c d e; do
            mkdir -p data/flowers/$set/$class
            for i in 1 2 3; do
                pixels 32 32 $((k * 100 + i)) $k |
                    png data/flowers/$set/$class/$i.png 32 32
            done
            k=$((k + 1))
        done
    done
    mkdir pretrained
    cp "$GOLDEN/backbone.ckpt" pretrained
}

REPORT='load  pretrained/backbone.ckpt (MindSpore checkpoint, 102 tensors)
  loaded     100   2208 values   62 - 2 parameters and 40 BatchNorm statistics; rename rule 1 used 102 times, rule 2 twice
  skipped      2   classifier.weight classifier.bias          by skip: "classifier.*"
  not in file  0
  unused       0
freeze  30 of 62 parameters (551 of 2098 values), 10 BatchNorm cells with frozen statistics
  at epoch 3: unfreezes layer2.* (15 parameters, 333 values)'

@test "every type is read as MindSpore wrote it" {
    local file
    for file in types types-crc; do
        run -6 "$CELLRUN" ckpt diff "$GOLDEN/$file.ckpt" "$GOLDEN/types.npz"
        [ "$(xargs <<<"$output")" = \
            "bfloat16 dtypes BFloat16 and <f4 1 of 18 tensors differ" ]
        run -0 "$CELLRUN" ckpt show "$GOLDEN/$file.ckpt"
        [[ "$output" == *$'\nformat: MindSpore checkpoint\n'* ]]
        [[ "$output" == *$'\nnote: hé 漢\n'* ]]
        [[ "$output" == *'many       Float32   (1, 2, 1, 3, 1, 1)     24'* ]]
    done
    run -0 "$CELLRUN" ckpt diff "$GOLDEN/types.ckpt" "$GOLDEN/types-crc.ckpt"
    run -0 "$CELLRUN" ckpt show "$GOLDEN/types.ckpt" --meta note
    [ "$output" = "hé 漢" ]
    run -0 "$CELLRUN" ckpt ls "$GOLDEN/types.ckpt" --match bool --json
    [[ "$output" == *'"dtype": "Bool", "shape": [2, 3]'* ]]
}

@test "bfloat16 is read" {
    "$CELLRUN" ckpt convert "$GOLDEN/types.ckpt" --match bfloat16 \
        -o b.safetensors
    perl -0777 -ne 'print join " ", map { unpack "f<", "\0\0" . $_ }
        unpack "(a2)*", substr $_, -12' b.safetensors >b.txt
    [ "$(cat b.txt)" = "0 1 2.5 -3 100 7.25" ]
}

@test "slices are put together, of either writer" {
    local file
    for file in sliced sliced-async; do
        run -0 "$CELLRUN" ckpt diff "$GOLDEN/$file.ckpt" "$GOLDEN/sliced.npz"
        [ "$output" = "3 tensors, no differences" ]
    done
}

@test "verify sums where there is a sum" {
    run -0 "$CELLRUN" ckpt verify "$GOLDEN/sliced.ckpt"
    [[ "$output" == *"sliced.ckpt: ok, 3 tensors, 6159 bytes" ]]
    run -0 "$CELLRUN" ckpt verify "$GOLDEN/types.ckpt"
    [[ "$output" == *"(without checksums)" ]]
    cp "$GOLDEN/sliced.ckpt" a.ckpt
    printf x | dd of=a.ckpt bs=1 seek=2000 conv=notrunc status=none
    run -4 --separate-stderr "$CELLRUN" ckpt verify a.ckpt
    [[ "$stderr" == *"a.ckpt: byte 6142: error: damaged file: its \
checksum is "*" is stored [E0303]"* ]]
    truncate -s 1000 a.ckpt
    run -4 --separate-stderr "$CELLRUN" ckpt ls a.ckpt
    [[ "$stderr" == *"expected "*" more bytes, found "*" [E0303]"* ]]
}

@test "encrypted files are refused with a reason" {
    printf '\xd9\x5e\x3a\x7f0123456789' >a.ckpt
    run -4 --separate-stderr "$CELLRUN" ckpt ls a.ckpt
    [[ "$stderr" == *"encrypted MindSpore checkpoint (AES-CBC)"* ]]
    [[ "$stderr" == *"save it without enc_key"* ]]
}

@test "a checkpoint without a config is not a run" {
    run -4 --separate-stderr "$CELLRUN" eval --ckpt "$GOLDEN/types.ckpt"
    [[ "$stderr" == *"the checkpoint contains no config; name a config file [E0302]"* ]]
    [[ "$stderr" == *"usage: cellrun eval FILE.yaml --ckpt "* ]]
    run -4 --separate-stderr "$CELLRUN" predict --ckpt "$GOLDEN/types.ckpt" a.png
    [[ "$stderr" == *"usage: cellrun predict --config FILE.yaml --ckpt "* ]]
    run -4 --separate-stderr "$CELLRUN" sample --ckpt "$GOLDEN/types.ckpt"
    [[ "$stderr" == *"usage: cellrun sample --config FILE.yaml --ckpt "* ]]
    run -4 --separate-stderr "$CELLRUN" summary "$GOLDEN/types.ckpt"
    [[ "$stderr" == *"the checkpoint contains no config; name a config file [E0302]"* ]]
}

@test "convert: there and back, and MindSpore's own bytes" {
    # what MindSpore wrote, but for the text, which is no tensor
    "$CELLRUN" ckpt convert "$GOLDEN/sliced.ckpt" -o a.safetensors
    "$CELLRUN" ckpt convert a.safetensors -o b.ckpt
    run -0 "$CELLRUN" ckpt diff b.ckpt "$GOLDEN/sliced.npz"
    run -0 "$CELLRUN" ckpt verify b.ckpt
    [ "$output" = "b.ckpt: ok, 3 tensors, $(stat -c %s b.ckpt) bytes" ]
    "$CELLRUN" ckpt convert "$GOLDEN/training.ckpt" -o c.ckpt
    cmp "$GOLDEN/training.ckpt" <(head -c -17 c.ckpt)
    "$CELLRUN" ckpt convert "$GOLDEN/backbone.ckpt" -o d.ckpt
    cmp "$GOLDEN/backbone.ckpt" <(head -c -17 d.ckpt)
    "$CELLRUN" ckpt convert d.ckpt -o d.npz
    run -0 "$CELLRUN" ckpt diff d.npz "$GOLDEN/backbone.npz"
    run -2 --separate-stderr "$CELLRUN" ckpt convert d.ckpt
    [[ "$stderr" == *"-o FILE is missing"* ]]
    run -2 --separate-stderr "$CELLRUN" ckpt ls d.ckpt -o e.npz
    [[ "$stderr" == *"ckpt ls writes no file: -o is for convert"* ]]
    run -2 "$CELLRUN" ckpt convert d.ckpt d.npz -o e.npz
    run -4 --separate-stderr "$CELLRUN" ckpt convert d.ckpt -o e.npz --match x
    [[ "$stderr" == *"no tensor in it matches"* ]]
    [ ! -e e.npz ]
}

@test "a training checkpoint's slots are tensors like others" {
    run -6 "$CELLRUN" ckpt diff "$GOLDEN/training.ckpt" "$GOLDEN/training.npz"
    [ "$(xargs <<<"$output")" = "epoch_num only in the first step_num only in \
the first 2 of 18 tensors differ" ]
    cat >net.yaml <<'END'
network: [{Dense: [3, 4]}, ReLU, {Dense: [4, 2]}]
END
    run -0 "$CELLRUN" ckpt load-report net.yaml \
        load.ckpt="$GOLDEN/training.ckpt"
    [[ "${lines[1]}" == "  loaded       4   26 values   4 parameters" ]]
    [[ "${lines[4]}" == "  unused       0" ]]
    [[ "${lines[5]}" == "  state       14   optimizer slots and counters, ignored" ]]
    # so it will do as weights too, where nothing may be left over
    pack() { perl -e 'print pack "f<*", @ARGV' "$@"; }
    { printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' \
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"
      pack 1 2 3; } >x.npy
    "$CELLRUN" trace net.yaml --feed x=x.npy --ckpt "$GOLDEN/training.ckpt" \
        -o one.npz
    run -0 "$CELLRUN" trace net.yaml --feed x=x.npy --against one.npz \
        load="$GOLDEN/training.ckpt" --rtol 0 --atol 0
}

@test "3.6: load-report" {
    setup_flowers
    run -0 "$CELLRUN" ckpt load-report flowers.yaml \
        datapipe.batch.batch_size=5
    [ "$output" = "$REPORT" ]
    run -0 "$CELLRUN" ckpt load-report flowers.yaml \
        datapipe.batch.batch_size=5 --json
    [ "$output" = '{"loaded": 100, "skipped": 2, "missing": 0, "unused": 0}' ]
    run -2 --separate-stderr "$CELLRUN" ckpt load-report resnet18.yaml \
        '~dataset'
    [[ "$stderr" == *"the config has no section 'load'"* ]]
    run -2 "$CELLRUN" ckpt load-report
}

@test "3.6: strict names the line to add" {
    setup_flowers
    run -4 --separate-stderr "$CELLRUN" ckpt load-report flowers.yaml \
        datapipe.batch.batch_size=5 'load.skip=[]'
    [[ "$stderr" == *"2 of 102 parameters of the network cannot be loaded \
[E0305]"* ]]
    [[ "$stderr" == *'   skip: ["classifier.*"]   # (10, 5) in the file, (5, 5)'\
' in the network'* ]]
    # and it is the right one
    run -0 "$CELLRUN" ckpt load-report flowers.yaml \
        datapipe.batch.batch_size=5 'load.skip=["classifier.*"]'
    [ "$output" = "$REPORT" ]
    run -0 "$CELLRUN" ckpt load-report flowers.yaml \
        datapipe.batch.batch_size=5 'load.skip=[]' load.strict=false
    [[ "$output" == *$'\n  mismatched   2   classifier.weight classifier.bias'* ]]
}

# Names of tensors that differ between two checkpoints of the run, but slots.
differ() {
    run -6 "$CELLRUN" ckpt diff "$(ls run/ckpt/*-"$1"_3.safetensors)" \
        "$(ls run/ckpt/*-"$2"_3.safetensors)" --json
    sed 's/}, /&\n/g' <<<"$output" |
        sed -n 's/.*"name": "\([^"]*\)".*"same": false.*/\1/p' |
        sed '/^moments\|^ema\|^cellrun\|^global_step/d'
}

@test "3.6: frozen parameters do not change until the schedule unfreezes them" {
    setup_flowers
    run -0 --separate-stderr "$CELLRUN" train flowers.yaml -o run \
        datapipe.batch.batch_size=5 train.epochs=4 \
        checkpoint.keep_checkpoint_max=9
    [[ "$stderr" == *"$REPORT"* ]]
    [ "$(differ 1 2 | grep -c '^classifier\|^layer[34]')" -gt 20 ]
    [ -z "$(differ 1 3 | grep '^conv1\|^bn1\|^layer[12]')" ]
    [ "$(differ 3 4 | grep -c '^layer2')" -ge 15 ]
    [ -z "$(differ 3 4 | grep '^conv1\|^bn1\|^layer1')" ]
    # the first half is still the file's
    "$CELLRUN" trace flowers.yaml datapipe.batch.batch_size=5 --step \
        -o first.safetensors
    "$CELLRUN" trace run --step -o last.safetensors
    run -0 "$CELLRUN" ckpt diff first.safetensors last.safetensors --json \
        --match 'param.layer1.*'
    [[ "$output" == '{"same": true, '*'"name": "param.layer1.0.conv1.weight"'* ]]
    run -6 "$CELLRUN" ckpt diff first.safetensors last.safetensors \
        --match 'param.layer3.*'
}

# bias FILE RATE: the classifier's bias after a step, its group at that rate
bias() {
    "$CELLRUN" trace flowers.yaml datapipe.batch.batch_size=5 --step \
        -o step.safetensors 'optimizer.Momentum.group_params=[{params: '\
'"classifier.*", learning_rate: '"$2"', weight_decay: 0.0}]'
    "$CELLRUN" ckpt convert step.safetensors --match param.classifier.bias \
        -o bias.safetensors
    perl -0777 -ne '/"dtype":"F(32|64)"/ or die; print join " ",
        $1 == 32 ? unpack "f<5", substr $_, -20
                 : unpack "d<5", substr $_, -40' bias.safetensors >"$1"
}

@test "3.6: the classifier has a rate of its own" {
    setup_flowers
    run -0 "$CELLRUN" summary flowers.yaml datapipe.batch.batch_size=5
    [[ "$output" == *$'\ngroup 1: 2 parameters: classifier.*'* ]]
    bias none 0.0
    bias tenth 0.01
    bias whole 0.1
    perl -e 'local $/; my @f = map { open my $h, "<", $_ or die;
            [split " ", <$h>] } qw(none tenth whole);
        for my $i (0 .. 4) { my ($n, $t, $w) = map { $_->[$i] } @f;
            die "$n $t $w" if $t == $n ||
                abs(($w - $n) / ($t - $n) - 10) > 0.01; }'
}

# A few small images of noise as CIFAR-10's binary version.
cifar() {
    mkdir -p cifar10
    perl -e 'srand 3; for my $f ((map { "data_batch_$_" } 1 .. 5),
            "test_batch") {
        open my $h, ">", "cifar10/$f.bin" or die; binmode $h;
        print $h pack "C*", $_ % 10, map { int rand 256 } 1 .. 3072
            for 1 .. 12; }'
}

@test "3.3 and 3.7: they train unchanged, and need their data" {
    local file
    setup_flowers
    cp "$CONFIGS/resnet18_amp.yaml" .
    for file in resnet18 resnet18_amp flowers; do
        run -3 --separate-stderr "$CELLRUN" check "$CONFIGS/$file.yaml"
        [[ "$stderr" == *"data set '"*"' not found, "*"[E0201]"* ]]
    done
    cifar
    for file in resnet18 resnet18_amp; do
        run -0 "$CELLRUN" check $file.yaml datapipe.batch.batch_size=20
        run -0 "$CELLRUN" train $file.yaml -q -o $file vars.epochs=2 \
            datapipe.batch.batch_size=20
        [[ "$output" == *$'\neval.top_5_accuracy: '* ]]
        [ "$(jq -s 'map(select(.split == "eval")) | length' \
            $file/metrics.jsonl)" -ge 2 ]
    done
    run -0 jq -s 'map(select(.loss_scale == 65536)) | length > 0' \
        resnet18_amp/metrics.jsonl
    [ "$output" = true ]
}

@test "3.6: the network loaded computes what MindSpore's does" {
    setup_flowers
    cat >all.yaml <<'END'
base: resnet18.yaml
load:
  ckpt: pretrained/backbone.ckpt
  rename:
    - ["^module\\.(.*)$", "\\1"]
    - ["^fc\\.(.*)$", "classifier.\\1"]
END
    run -0 "$CELLRUN" trace all.yaml '~dataset' --eval --feed \
        image="$GOLDEN/backbone-x.npy" --against "$GOLDEN/backbone-out.npz"
}

# trained NAME OPTIMIZER: three steps as make_training.py does them, converted
trained() {
    cat >t.yaml <<END
cellrun: 1
dataset: {train: {NumpySlicesDataset: {data: [$GOLDEN/train-x.npy, $GOLDEN/train-y.npy], column_names: [x, label], shuffle: false}}}
datapipe: {batch: {batch_size: 4}}
network: {fc: {Dense: [3, 2]}}
loss: MSELoss
load: {ckpt: $GOLDEN/train-start.npz}
optimizer: {$2}
train: {epochs: 3}
END
    run -0 "$CELLRUN" train t.yaml -q -o "$1"
    run -0 "$CELLRUN" ckpt convert "$1" -o "$1.ckpt"
}

@test "convert: a run's checkpoint has all that MindSpore's optimizer resumes from" {
    [[ $("$CELLRUN" version) == *"real: float32"* ]] || skip 'the vectors are float32'
    while IFS=: read -r name optimizer; do
        trained "$name" "$optimizer"
        # of the same names, types and shapes as MindSpore's, and its numbers
        run -0 "$CELLRUN" ckpt diff "$name.ckpt" "$GOLDEN/train-$name.ckpt" \
            --rtol 1e-5 --atol 1e-7
        for number in global_step learning_rate; do
            run -0 "$CELLRUN" ckpt diff "$name.ckpt" \
                "$GOLDEN/train-$name.ckpt" --match "$number"
            [[ $output == *"1 tensors, no differences" ]]
        done
    done <<'END'
adam:Adam: {learning_rate: 0.01}
amsgrad:Adam: {learning_rate: 0.01, use_amsgrad: true}
lazy:LazyAdam: {learning_rate: 0.01}
adamax:AdaMax: {learning_rate: 0.01}
adamwd:AdamWeightDecay: {learning_rate: 0.01}
momentum:Momentum: {learning_rate: 0.01, momentum: 0.9}
sgd:SGD: {learning_rate: 0.01, momentum: 0.9}
rmsprop:RMSProp: {learning_rate: 0.01}
adagrad:Adagrad: {learning_rate: 0.01}
END
    run -0 "$CELLRUN" ckpt diff adam.ckpt "$GOLDEN/train-adam.ckpt" \
        --match 'beta*' --json
    [ "$(jq '[.same, (.tensors | length)] | @csv' <<<"$output")" = '"true,2"' ]
}

@test "convert: what MindSpore's optimizer keeps goes into its format alone" {
    trained adam 'Adam: {learning_rate: {CosineDecayLR: {min_lr: 0.0, max_lr: 0.1, decay_steps: 10}}}'
    # a schedule is a part of the optimizer, no parameter
    run -0 "$CELLRUN" ckpt ls adam.ckpt
    [[ $output == *global_step* && $output != *learning_rate* ]]
    "$CELLRUN" ckpt convert adam -o adam.npz
    run -0 "$CELLRUN" ckpt ls adam.npz
    [[ $output != *global_step* && $output == *moment1.fc.weight* ]]
    run -0 "$CELLRUN" ckpt convert adam -o w.ckpt --match 'fc.*'
    run -0 "$CELLRUN" ckpt ls w.ckpt
    [[ $output != *global_step* && $output != *moment* ]]
    # and they are skipped where weights are taken
    run -0 "$CELLRUN" train t.yaml -q -o again load.ckpt=adam.ckpt
}
