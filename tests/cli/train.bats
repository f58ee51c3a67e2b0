# train: what a run prints, records and leaves in its directory.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

@test "the summary, and the files of a run" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r
    [ "$(value status)" = completed ]
    [ "$(value epochs)" = 3 ]
    [ "$(value steps)" = 57 ]
    [[ $(value eval.accuracy) =~ ^0\.[0-9]{4}$ ]]
    [[ $(value eval.loss) =~ ^[01]\.[0-9]{4}$ ]]
    [[ $(value best.accuracy) =~ ^0\.[0-9]{4}\ at\ epoch\ [123]$ ]]
    [ "$(value run)" = r ]
    [ "$(value ckpt)" = r/ckpt/best.safetensors ]
    [ "$(ls r | xargs)" = "ckpt command config.yaml eval.npz log.txt\
 metrics.jsonl provenance.json record.json resolved.yaml samples.json" ]
    cmp c.yaml r/config.yaml
    [ "$(ls r/ckpt | xargs)" = "best.safetensors c-1_19.safetensors\
 c-2_19.safetensors c-3_19.safetensors last.safetensors" ]
    [ r/ckpt/last.safetensors -ef r/ckpt/c-3_19.safetensors ]
    grep -q '"status":"completed","exit":0' r/record.json
    run -0 "$CELLRUN" config r/resolved.yaml
}

@test "--json prints one object, with all digits" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r -q --json
    [ "${#lines[@]}" = 1 ]
    [ -z "$stderr" ]
    [[ $output =~ ^\{\"status\":\"completed\",\"epochs\":3, ]]
    [[ $output =~ \"eval\":\{\"accuracy\":0\.[0-9]+,\"loss\":[0-9.]{8,}\} ]]
    [[ $output =~ \"best\":\{\"accuracy\":0\.[0-9]+,\"epoch\":[123]\} ]]
    [[ $output =~ \"run\":\"r\",\"ckpt\":\"r/ckpt/best.safetensors\"\}$ ]]
}

@test "the tutorial's lines on stderr and in log.txt" {
    "$CELLRUN" train c.yaml -o r --epochs 1 --log-every 10 2>err
    grep -Eq '^loss: [0-9]\.[0-9]{6}  \[  0/ 19\]$' err
    grep -Eq '^loss: [0-9]\.[0-9]{6}  \[ 10/ 19\]$' err
    [ "$(grep -A2 '^Test: $' r/log.txt | sed 's/[0-9][0-9.]*/N/g; s/$/|/')" = \
        "Test: |
 Accuracy: N%, Avg loss: N |
|" ]
    cmp err r/log.txt
    [ "$(grep -c $'\r' r/log.txt)" = 0 ]
}

@test "-q and --progress none print nothing, a bar is one line" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o a -q
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o b --progress none
    [ -z "$stderr" ]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o c --progress bar
    grep -q 'epoch 1/3  \[' <<<"$stderr"
    grep -q 'samples/s' <<<"$stderr"
    run ! grep -q '^loss:' <<<"$stderr"
    grep -q '^loss:' c/log.txt
}

@test "records at steps 1, 101, 201 ..., and of every evaluation" {
    run -0 "$CELLRUN" train c.yaml -o r --epochs 12 -q
    [ "$(steps r train)" = "1 101 201" ]
    [ "$(steps r eval)" = "$(seq 19 19 228 | xargs)" ]
    head -1 r/metrics.jsonl | grep -E '^\{"t":[0-9]+\.[0-9]{3},"step":1,"epoch":0,"samples":16,"split":"train","loss":[0-9.]+,"lr":0.05,"samples_per_s":[0-9]+\}$' >/dev/null
    grep -Eq '"step":19,"epoch":0,"samples":300,"split":"eval","accuracy":[0-9.]+,"loss":[0-9.]+' \
        r/metrics.jsonl
}

@test "log.every: 1 steps writes every step, by flag or by key" {
    run -0 "$CELLRUN" train c.yaml -o a --epochs 1 --log-every '1 steps' -q
    [ "$(steps a train)" = "$(seq 19 | xargs)" ]
    run -0 "$CELLRUN" train c.yaml -o b --epochs 1 log.every=1 -q
    [ "$(steps b train)" = "$(seq 19 | xargs)" ]
}

@test "the gradient's norm is recorded where it is requested" {
    run -0 "$CELLRUN" train c.yaml -o r -q log.grad_norm=true
    head -1 r/metrics.jsonl | grep -E '"grad_norm":[0-9]+\.[0-9]+' >/dev/null
    run -0 "$CELLRUN" train c.yaml -o s -q
    run -0 "$CELLRUN" ckpt diff r s
}

@test "a list and a file of learning rates, the last one stays" {
    run -0 "$CELLRUN" train c.yaml -o r -q --steps 5 log.every=1 \
        'optimizer.learning_rate=[0.1, 0.05, 0.025]'
    [ "$(sed -n 's/.*"lr":\([0-9.]*\),.*/\1/p' r/metrics.jsonl | xargs)" = \
      "0.1 0.05 0.025 0.025 0.025" ]
    printf '0.1 0.05\n0.025\n' >rates.txt
    run -0 "$CELLRUN" train c.yaml -o s -q --steps 5 log.every=1 \
        optimizer.learning_rate=rates.txt
    run -0 "$CELLRUN" ckpt diff r s
    run -2 "$CELLRUN" train c.yaml -o t -q \
        'optimizer.learning_rate={CosineDecayLR: {max_lr: 0.1}}'
    [[ $output == *"argument 'min_lr' of CosineDecayLR is missing"* ]]
}

@test "steps replaces epochs, and the other way round; both is an error" {
    run -0 "$CELLRUN" train c.yaml -o a -q --steps 30
    [ "$(value steps)" = 30 ]
    [ "$(value epochs)" = 1 ]
    [ "$(steps a eval)" = "19 30" ]
    run -0 "$CELLRUN" train c.yaml train.steps=7 train.epochs=2 -o b -q
    [ "$(value steps)" = 38 ]
    sed 's/epochs: 3/epochs: 3, steps: 7/' c.yaml >both.yaml
    run -2 "$CELLRUN" train both.yaml -o d
    [[ $output == *"set only one of 'train.steps' and 'train.epochs'"* ]]
    sed '/^train/d' c.yaml >none.yaml
    run -2 "$CELLRUN" train none.yaml -o d
    [[ $output == *"set 'train.epochs' or 'train.steps'"* ]]
}

@test "a limit of nothing is none" {
    for x in 0 0% 0.0; do
        run -2 --separate-stderr "$CELLRUN" check c.yaml "train.limit=$x"
        [[ $stderr == *"[E0006]"* ]]
    done
    run -2 "$CELLRUN" train c.yaml --limit 0
}

@test "limit and overfit_batches" {
    run -0 "$CELLRUN" train c.yaml -o a -q --limit 100 --epochs 1
    [ "$(value steps)" = 7 ]
    run -0 "$CELLRUN" train c.yaml -o b -q --limit 10% --epochs 1
    [ "$(value steps)" = 2 ]
    run -0 "$CELLRUN" train c.yaml -o d -q --overfit-batches 2 --epochs 300 \
        log.every=1 'network={fc: {Dense: [8, 32]}, act: ReLU, out: {Dense: [32, 3]}}'
    [ "$(value steps)" = 600 ]
    grep '"step":600,.*"train"' d/metrics.jsonl | grep -E '"loss":0\.0' >/dev/null
}

@test "evaluation: every, first, max_batches, batch_size" {
    run -0 "$CELLRUN" train c.yaml -o a -q eval.every='20 steps' \
        eval.first=true
    [ "$(steps a eval)" = "0 20 40 57" ]
    run -0 "$CELLRUN" train c.yaml -o b -q eval.max_batches=2 --json
    [[ $output =~ \"accuracy\":0\.[0-9]+ ]]
    run -0 "$CELLRUN" train c.yaml -o d -q eval.every='50%'
    [ "$(steps d eval)" = "29 57" ]
    sed '/^  eval:/d' c.yaml >none.yaml
    run -0 "$CELLRUN" train none.yaml -o e -q
    [ -z "$(value eval.accuracy)" ]
    [ "$(value ckpt)" = e/ckpt/last.safetensors ]
}

@test "early stopping, and its wait" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 500 \
        'train.early_stop={monitor: accuracy, patience: 2}'
    [ "$(value status)" = early_stopped ]
    best=$(value best.accuracy)
    epochs=$(value epochs)
    [ "$epochs" = $((${best##* } + 2)) ]
    run -0 "$CELLRUN" train c.yaml -o s -q --epochs 4 \
        'train.early_stop={monitor: loss, patience: 1, min_delta: 100}'
    [ "$(value epochs)" = 2 ]
    run -0 "$CELLRUN" train c.yaml -o t -q --epochs 4 \
        'train.early_stop={monitor: loss, patience: 0, min_delta: 100}'
    [ "$(value epochs)" = 4 ]
    run -2 "$CELLRUN" train c.yaml -o u -q \
        'train.early_stop={monitor: acuracy}'
    run -2 "$CELLRUN" train c.yaml -o u -q \
        'train.early_stop={monitor: acuracy, patience: 2}'
    [[ $output == *"metric 'acuracy' not found"*"did you mean 'accuracy'"* ]]
}

@test "--require: 0 when it holds, 6 when not, 2 for what there is not" {
    run -0 "$CELLRUN" train c.yaml -o a -q --require 'eval.accuracy>=0.1'
    run -6 "$CELLRUN" train c.yaml -o b -q --require 'accuracy>=1.01'
    [[ $output == *"not met: accuracy is 0."*"required accuracy>=1.01"* ]]
    [ "$(value status)" = completed ]
    run -2 "$CELLRUN" train c.yaml -o d -q --require 'eval.acc>=0.1'
    [[ $output == *"metric 'eval.acc' not found"* ]]
    [ ! -e d ]
    run -6 "$CELLRUN" train c.yaml -o e -q --require 'best.accuracy>1'
}

@test "--dry-run builds all, does a step, writes nothing" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml --dry-run
    [ "$(value status)" = dry_run ]
    [ ! -e runs ]
    run -2 "$CELLRUN" train c.yaml --dry-run 'network.out={Dense: [15, 3]}'
}

@test "diverging: exit 5, the step, the cell, and the last good checkpoint" {
    huge=1e30
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] || huge=1e200
    run -5 "$CELLRUN" train c.yaml -o r -q optimizer.learning_rate=$huge
    [[ $output == *"the loss is not finite at step 2; the first output that is not finite: "*"[E0401]"* ]]
    [ "$(value status)" = diverged ]
    [ ! -e r/ckpt/last.safetensors ]
    grep -q '"step":2,.*"loss":null' r/metrics.jsonl
    grep -q '"status":"diverged","exit":5' r/record.json
    run -5 "$CELLRUN" train c.yaml -o s -q --epochs 2 \
        "optimizer.learning_rate=[$(yes 0.01, | head -19 | xargs) $huge]"
    run -0 "$CELLRUN" ckpt verify s
    [ "$(ls s/ckpt)" = "best.safetensors
c-1_19.safetensors
last.safetensors" ]
}

@test "a parameter that is not finite is never saved" {
    [ "$("$CELLRUN" version --json | jq -r .real)" = float32 ] ||
        skip 'no rate is beyond a double'
    run -5 "$CELLRUN" train c.yaml -o r -q --steps 1 \
        optimizer.learning_rate=1e39
    [[ $output == *"not finite"* ]]
    [ -z "$(ls r/ckpt)" ]
}

@test "run directories: names, ids, and RUNS" {
    run -0 "$CELLRUN" train c.yaml -q
    first=$(value run)
    [[ $first =~ ^runs/c/[0-9a-f]{8}$ ]]
    run -2 "$CELLRUN" train c.yaml -q
    [[ $output == *"is not empty"*"--force"*"--resume auto"* ]]
    run -0 "$CELLRUN" train c.yaml -q seed=2
    [ "$(value run)" != "$first" ]
    run -0 env CELLRUN_RUNS=elsewhere "$CELLRUN" train c.yaml -q -n name
    [ "$(value run)" = "elsewhere/name/${first##*/}" ]
    [ -e elsewhere/name/${first##*/}/ckpt/name-3_19.safetensors ]
    run -0 "$CELLRUN" train c.yaml -q run.dir=third
    [ "$(value run)" = "third/c/${first##*/}" ]
    run -2 "$CELLRUN" train c.yaml -q -n a/b
    cp -r elsewhere/name/${first##*/} old
    run -0 sh -c "$(cat "$first/command" | sed 's/$/ --force/')"
}

@test "a used directory is refused; use --force to start over in it" {
    mkdir r
    echo mine >r/notes
    run -2 "$CELLRUN" train c.yaml -o r
    [[ $output == *"r: error: the run directory is not empty [E0502]"* ]]
    run -0 "$CELLRUN" train c.yaml -o r --force -q --epochs 2
    run -0 "$CELLRUN" train c.yaml -o r --force -q --epochs 1
    [ "$(cat r/notes)" = mine ]
    [ ! -e r/ckpt/c-2_19.safetensors ]
    [ "$(steps r eval)" = 19 ]
    run -2 "$CELLRUN" train c.yaml -o r --force --resume auto
}

@test "two runs at once in one directory: the second is refused" {
    "$CELLRUN" train c.yaml -o r -q --epochs 1000000 \
        eval.every='1000 epochs' >/dev/null &
    p=$!
    within 10 test -e r/lock
    run -2 "$CELLRUN" train c.yaml -o r
    [[ $output == *"process $p on "*"is using this run directory [E0502]"* ]]
    run -2 "$CELLRUN" train c.yaml -o r --force
    run -2 "$CELLRUN" train c.yaml -o r --resume auto --epochs 1000000 \
        eval.every='1000 epochs'
    within 10 test -e r/log.txt
    kill -TERM $p
    rc=0
    wait $p || rc=$?
    [ $rc = 143 ]
    [ ! -e r/lock ]
}

@test "a lock of a dead process does not count" {
    mkdir r
    echo "$(hostname) 4194305 1" >r/lock
    run -0 "$CELLRUN" train c.yaml -o r -q
    echo "$(hostname) $$ 1" >r/lock
    run -0 "$CELLRUN" train c.yaml -o r -q --force
    echo "another-host 1 1" >r/lock
    run -2 "$CELLRUN" train c.yaml -o r -q --force
    [[ $output == *"process 1 on another-host"* ]]
    touch -d '1 hour ago' r/lock
    run -0 "$CELLRUN" train c.yaml -o r -q --force
    # dead, but not reaped by its parent
    perl -e '$| = 1; my $p = fork // die; exit unless $p; print "$p\n";
        sleep 60' >zombie &
    parent=$!
    within 10 test -s zombie
    z=$(cat zombie)
    within 10 grep -q ' Z ' "/proc/$z/stat"
    echo "$(hostname) $z $(cut -d ' ' -f 22 "/proc/$z/stat")" >r/lock
    run -0 "$CELLRUN" train c.yaml -o r -q --force
    kill $parent
}

@test "a lock that the kernel holds is one, whatever process it names" {
    "$CELLRUN" train c.yaml -o r -q --epochs 1000000 \
        eval.every='1000 epochs' >/dev/null &
    p=$!
    within 10 test -e r/log.txt
    # as another pid namespace of the same host sees it
    echo "$(hostname) 4194305 1" >r/lock
    run -2 "$CELLRUN" train c.yaml -o r --force
    [[ $output == *"is using this run directory [E0502]"* ]]
    kill -TERM $p
    rc=0
    wait $p || rc=$?
    [ $rc = 143 ]
    [ ! -e r/lock ]
}

@test "--force removes nothing where no run has been" {
    mkdir -p r/ckpt
    echo mine >r/config.yaml
    echo mine >r/log.txt
    echo mine >r/ckpt/net-1_2.safetensors
    run -2 "$CELLRUN" train c.yaml -o r --force
    [[ $output == *"r/config.yaml: error: found a file that was not written by a run"*"[E0502]"* ]]
    mv r/ckpt other
    run -2 "$CELLRUN" train c.yaml -o r --resume auto
    mv other/* r/ckpt
    rm r/config.yaml
    run -2 "$CELLRUN" train c.yaml -o r --force
    [[ $output == *"r/log.txt: error: found a file that was not written by a run"* ]]
    [ "$(cat r/log.txt)" = mine ]
    rm r/log.txt
    run -2 "$CELLRUN" train c.yaml -o r --force
    [[ $output == *"r/ckpt/net-1_2.safetensors: error: found a file that was not written by a run"* ]]
    [ "$(cat r/ckpt/net-1_2.safetensors)" = mine ]
    # nor does a run resumed from elsewhere replace a file
    run -0 "$CELLRUN" train c.yaml -o a -q
    mkdir -p other
    echo mine >other/metrics.jsonl
    run -2 "$CELLRUN" resume a/ckpt/last -o other --epochs 4
    [ "$(cat other/metrics.jsonl)" = mine ]
    # files of other names are left alone
    mv r/ckpt/net-1_2.safetensors r/ckpt/mine.safetensors
    run -0 "$CELLRUN" train c.yaml -o r --force -q
    run -0 "$CELLRUN" train c.yaml -o r --force -q
    [ "$(cat r/ckpt/mine.safetensors)" = mine ]
}

@test "--force and --resume auto leave the files that the config is read from" {
    sed -i "s|train-|$PWD/train-|g; s|eval-|$PWD/eval-|g" c.yaml
    mkdir r
    cp c.yaml r/config.yaml
    for how in --force '--resume auto'; do
        run -2 "$CELLRUN" train r/config.yaml -o r $how
        cmp c.yaml r/config.yaml
    done
    rm -r r
    # the config of the run itself may be trained again, a base may not
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -0 "$CELLRUN" train r/config.yaml -o r -q --force
    cmp c.yaml r/config.yaml
    printf 'base: r/config.yaml\ntrain: {epochs: 1}\n' >more.yaml
    run -2 "$CELLRUN" train more.yaml -o r --force
    [[ $output == *"r/config.yaml: error: the run would replace this file"*"[E0502]"* ]]
    cmp c.yaml r/config.yaml
    run -0 "$CELLRUN" ckpt verify r
}

@test "checkpoints: how often, how many, which is best" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 8 \
        'checkpoint={every: 5 steps, keep_checkpoint_max: 3}'
    best=$(value best.accuracy)
    name=c-${best##* }_19.safetensors
    [ r/ckpt/best.safetensors -ef "r/ckpt/$name" ]
    n=$(ls r/ckpt/c-*.safetensors | wc -l)
    [ "$n" = 3 ] || { [ "$n" = 4 ] && [ -e "r/ckpt/$name" ]; }
    [ -e r/ckpt/c-8_19.safetensors ]
    run -0 "$CELLRUN" train c.yaml -o s -q --epochs 8 \
        'checkpoint={best: {metric: loss}}' --json
    [[ $output =~ \"best\":\{\"loss\": ]]
    run -2 "$CELLRUN" train c.yaml -o t -q checkpoint.best.metric=F2
    [[ $output == *"metric 'F2' not found"* ]]
    run -0 "$CELLRUN" train c.yaml -o u -q --no-ckpt
    [ -z "$(ls u/ckpt)" ]
    [ -z "$(value ckpt)" ]
}

@test "weights_only keeps nothing to resume from" {
    run -0 "$CELLRUN" train c.yaml -o r -q checkpoint.weights_only=true
    run -0 "$CELLRUN" ckpt ls r
    [[ $output != *moments* ]]
    run -4 "$CELLRUN" resume r
    [[ $output == *"contains only weights"* ]]
    run -0 "$CELLRUN" eval --ckpt r
}

@test "--load starts from weights" {
    run -0 "$CELLRUN" train c.yaml -o a -q
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o b --load a --epochs 1
    [[ $stderr == *"load  "*"loaded"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o d -q --epochs 1
    run ! "$CELLRUN" ckpt diff b d
    run -4 "$CELLRUN" train c.yaml -o e --load nothing
    [[ $output == *"Nothing was run."* ]]
    [ ! -e e/ckpt/last.safetensors ]
}

@test "frozen parameters are listed, and keep their bytes" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o r \
        'freeze={patterns: ["fc.*"]}'
    [[ $stderr == *"freeze  2 of 4 parameters (144 of 195 values)"* ]]
    run -0 "$CELLRUN" train c.yaml -o s -q --steps 1 \
        'freeze={patterns: ["fc.*"]}'
    run ! "$CELLRUN" ckpt diff r/ckpt/last s/ckpt/last
    [[ $output == *out.weight* ]]
    [[ $output != *fc.weight* ]]
    [[ $output != *fc.bias* ]]
    run -2 "$CELLRUN" train c.yaml -o t 'freeze={patterns: ["fd.*"]}'
}

@test "the same bytes with any number of workers and threads, twice" {
    run -0 "$CELLRUN" train c.yaml -o a -q --threads 1
    run -0 "$CELLRUN" train c.yaml -o b -q --threads 1
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    run -0 "$CELLRUN" train c.yaml -o d -q --threads 2
    cmp a/ckpt/last.safetensors d/ckpt/last.safetensors
    for w in 1 2 4; do
        run -0 "$CELLRUN" train c.yaml -o w$w -q datapipe.workers=$w
        run -0 "$CELLRUN" ckpt diff a w$w
    done
}

@test "--eager gives the same numbers to rounding" {
    run -0 "$CELLRUN" train c.yaml -o a -q --steps 20
    run -0 "$CELLRUN" train c.yaml -o b -q --steps 20 --eager
    run -0 "$CELLRUN" ckpt diff --rtol 1e-4 --atol 1e-5 a b
}

@test "all errors are reported, and config errors precede missing data" {
    run -2 "$CELLRUN" train c.yaml -o r optimizer.learing_rate=1 \
        'loss=CrossEntropyLos' 'metrics=[acuracy]' train.early_stop.patience=-1
    [[ $output == *"'learing_rate'"*"did you mean 'learning_rate'"* ]]
    [[ $output == *"CrossEntropyLos"* ]]
    [[ $output == *"'acuracy'"* ]]
    [[ $output == *"patience"* ]]
    [[ $output == *" errors. Nothing was run."* ]]
    [ ! -e r ]
    run -3 "$CELLRUN" train c.yaml -o r \
        'dataset.train.NumpySlicesDataset.data=[no.npy, train-y.npy]'
    [[ $output == *"no.npy"* ]]
    run -2 "$CELLRUN" train c.yaml -o r train.epochs=0 \
        'dataset.train.NumpySlicesDataset.data=[no.npy, train-y.npy]'
    for s in dataset network loss optimizer; do
        run -2 "$CELLRUN" train c.yaml -o r "~$s"
        [[ $output == *"the section '$s' is missing"* ]]
    done
    run -2 "$CELLRUN" train c.yaml -o r \
        'optimizer={SGD: {loss_scale: 1024.0}}'
    [[ $output == *"loss_scale of SGD: found 1024"* ]]
    run -2 "$CELLRUN" train c.yaml -o r train.clap=1
    [[ $output == *"'train.clap' is not a key of train"* ]]
    run -2 "$CELLRUN" train c.yaml -o r train.clip=1
    [[ $output == *"'train.clip'"*"expected a map of keys"* ]]
}

@test "a label outside of the classes: exit 3 with column, value and sample" {
    perl -e 'print pack "l<*", map { $_ == 150 ? 3 : 0 } 0 .. 299' |
        npy train-y.npy '<i4' '(300,)'
    run -3 "$CELLRUN" train c.yaml -o r -q \
        dataset.train.NumpySlicesDataset.shuffle=false
    [[ $output == *"column 'label' of sample 150 is 3"*"[E0204]"*"in the data of train: NumpySlicesDataset      (c.yaml:3:10)"* ]]
    [ "$(value status)" = failed ]
    [ -e r/ckpt/c-1_9.safetensors ]
}

@test "a label outside of the classes in the evaluation" {
    perl -e 'print pack "l<*", map { $_ == 50 ? -1 : 0 } 0 .. 99' |
        npy eval-y.npy '<i4' '(100,)'
    run -3 "$CELLRUN" train c.yaml -o r -q
    [[ $output == *"column 'label' of sample 50 is -1"*"[E0204]"*"in the data of eval: NumpySlicesDataset      (c.yaml:4:9)"* ]]
    # evaluated apart, and by name
    samples eval 100 2
    "$CELLRUN" train c.yaml -o s -q --steps 2
    perl -e 'print pack "l<*", map { $_ == 50 ? -1 : 0 } 0 .. 99' |
        npy eval-y.npy '<i4' '(100,)'
    run -3 "$CELLRUN" eval --ckpt s
    [[ $output == *"sample 50 is -1"*"in the data of eval: "* ]]
    run -3 "$CELLRUN" check c.yaml --data
    [[ $output == *"sample 50 is -1"*"in the data of eval: "* ]]
}

@test "a time limit: exit 75, and the same command resumes" {
    run -75 "$CELLRUN" train c.yaml -o r -q --epochs 400 --resume auto \
        --time-limit 0.05s
    [ "$(value status)" = time_limit ]
    [ -e r/ckpt/last.safetensors ]
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 400 --resume auto
    run -0 "$CELLRUN" train c.yaml -o s -q --epochs 400
    cmp r/ckpt/last.safetensors s/ckpt/last.safetensors || {
        # the config differs in time_limit alone
        run -0 "$CELLRUN" ckpt diff r/ckpt/last s/ckpt/last
    }
    run -2 "$CELLRUN" train c.yaml -o t --time-limit 5epochs
}

@test "early_stop without effect has a warning" {
    for early in '{monitor: loss}' '{patience: 3}' '{min_delta: 0.1}'; do
        run -0 --separate-stderr "$CELLRUN" check c.yaml \
            "train.early_stop=$early"
        [[ $stderr == *"warning: 'train.early_stop' has no effect: '"*"early_stop: {monitor: loss, patience: 5}"* ]]
    done
    for early in '{monitor: loss, patience: 0}' '{monitor: loss, patience: 2}'; do
        run -0 --separate-stderr "$CELLRUN" check c.yaml \
            "train.early_stop=$early"
        [[ $stderr != *"never stops"* ]]
    done
}

@test "--dry-run and --require exclude each other" {
    run -2 --separate-stderr "$CELLRUN" train c.yaml --dry-run \
        --require 'accuracy>=0.1'
    [[ $stderr == *"error: --dry-run trains for one step only and cannot be combined with --require [E0501]"*"Nothing was run."* ]]
}

@test "--profile prints where time was spent, and changes nothing" {
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o a -q
    [[ $output != *"time of the run"* ]]
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o b -q --profile
    cmp a/ckpt/best.safetensors b/ckpt/best.safetensors
    [ "$(value steps)" = 57 ]
    [[ $output == *"time of the run, "*" s:"* ]]
    for row in data 'forward and backward' evaluation checkpoints; do
        grep -Eq "^$row +[0-9.]+ +[0-9.]+ %$" <<<"$output"
    done
    [[ $output == *"cells in 57 steps of training on "* ]]
    grep -Eq '^fc +[0-9.]+ +[0-9.]+ +[0-9.]+ % ' <<<"$output"
    # the two columns of all cells are the time that the line above them tells
    awk '/^cells in/ { match($0, /[0-9.]+ ms/); all = substr($0, RSTART) + 0 }
        all && / % / { sum += $2 + $3; n++ }
        END { d = sum - all; exit !(n == 3 && d * d < (1e-4 * (n + 1)) ^ 2) }' \
        <<<"$output"
    # plans that freeze.schedule throws away are counted too, and separate
    # updates
    run -0 --separate-stderr "$CELLRUN" train c.yaml -o c -q --profile --json \
        train.clip.norm=1 'freeze={patterns: [fc.*], schedule: [{unfreeze: [fc.*], at: 1 epoch}]}'
    jq -e '.profile | .steps == 57 and
        (.seconds | .data > 0 and .steps > 0 and .updates > 0 and
                    .evaluation > 0 and .checkpoints > 0) and
        ([.cells[] | .forward_s + .backward_s] | add) * 57 <=
            .seconds.steps + .seconds.updates' <<<"$output"
    # 19 full and short batches of 300 samples; forward, and dW of two cells,
    # dx of one, of which fc has none in the first epoch
    jq -e '[.profile.cells[] | select(.cell == "fc") | .flops * 57 + 0.5 |
            floor] == [300 * 2 * 128 * 3 + 300 * 2 * 128 * 2]' <<<"$output"
    run -0 "$CELLRUN" resume c --epochs 4 -q --profile
    [[ $output == *"cells in 19 steps of training"* ]]
    run -2 "$CELLRUN" train c.yaml --dry-run --profile
    [[ $output == *"cannot be combined"* ]]
}
