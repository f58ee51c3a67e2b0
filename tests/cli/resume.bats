# resume, and train --resume auto: the same bytes as without the stop.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    . "$BATS_TEST_DIRNAME/images.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# records DIR: without what is measured
records() {
    sed 's/"t":[^,]*,//; s/,"samples_per_s.*//' "$1/metrics.jsonl"
}

# flip FILE: one bit of its last byte
flip() {
    perl -e 'open my $f, "+<", $ARGV[0]; binmode $f; seek $f, -1, 2;
        read $f, my $c, 1; seek $f, -1, 2; print $f chr(ord($c) ^ 16)' "$1"
}

@test "two epochs and two resumed are four" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 4
    summary=$output
    run -0 "$CELLRUN" train c.yaml -o b -q --epochs 2
    run -0 --separate-stderr "$CELLRUN" resume b --epochs 4 --progress plain
    [ "${output//run: b/run: a}" = "${summary}" ] ||
        [ "$(sed 's/ b/ a/' <<<"$output")" = "$summary" ]
    [[ $stderr == *"resumed from b/ckpt/c-2_19.safetensors at step 38"* ]]
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    equal records a b
    [ "$(ls a/ckpt)" = "$(ls b/ckpt)" ]
}

@test "killed between a checkpoint and its other names: they come later" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 2
    cp -r a b
    cd b/ckpt
    ln -f c-1_19.safetensors last.safetensors # as it was a moment before
    ln -f c-1_19.safetensors best.safetensors
    cd ../..
    sed -i 's/"completed"/"running"/' b/record.json
    run -0 "$CELLRUN" resume b -q --trust # it is a copy
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    cmp a/ckpt/best.safetensors b/ckpt/best.safetensors
    [ "$(ls a/ckpt)" = "$(ls b/ckpt)" ]
}

# begin COMMAND...: in the background as process p
begin() {
    "$@" >out 2>err &
    p=$!
}

# stop: kills it; whether it ran until then. If not, it has ended well.
stop() {
    rc=0
    kill -9 $p 2>/dev/null || :
    wait $p || rc=$?
    [ $rc = 0 ] || [ $rc = 137 ] || { echo "status $rc"; cat err; return 2; }
    [ $rc = 137 ]
}

# saved DIR N: whether the run has N checkpoints
saved() {
    [ "$(find "$1/ckpt" -name '*.safetensors' | wc -l)" -ge "$2" ]
}

@test "everything on, killed and resumed: the same files" {
    . "$BATS_TEST_DIRNAME/everything.bash"
    for recipe in cosine plateau; do
        everything e.yaml $recipe
        set -- train e.yaml -q
        run -0 "$CELLRUN" "$@" -o a$recipe
        [ "$(steps a$recipe overflow | wc -w)" -ge 3 ]
        # when some steps are done, and once more after them; one that had
        # ended before is begun again, and killed earlier
        kills=0 wait=160
        until [ $kills = 2 ]; do
            begin "$CELLRUN" "$@" -o b$recipe --resume auto
            within 20 saved b$recipe 3
            sleep "$(printf 0.%03d $wait)"
            if stop && grep -q '"running"' b$recipe/record.json; then
                kills=$((kills + 1))
            else # it had ended, or was about to
                [ $rc = 0 ] || [ $rc = 137 ]
                rm -r b$recipe
                kills=0 wait=$((wait / 3))
            fi
        done
        run -0 --separate-stderr "$CELLRUN" train e.yaml -o b$recipe \
            --resume auto --progress plain
        [[ $stderr == *"resumed from b$recipe/ckpt/"* ]]
        cmp a$recipe/ckpt/last.safetensors b$recipe/ckpt/last.safetensors
        cmp a$recipe/ckpt/best.safetensors b$recipe/ckpt/best.safetensors
        equal records a$recipe b$recipe
    done
}

@test "killed at any moment, resumed: the same files, none unreadable" {
    # without an end until it has been killed often enough
    set -- train c.yaml 'checkpoint.every=7 steps' -q
    for ((kills = 0; kills < 12; kills++)); do
        begin "$CELLRUN" "$@" -o b --resume auto --epochs 1000000
        # the last ones after a step, the others wherever it is
        [ $kills -lt 9 ] || within 20 saved b 1
        sleep "$(printf 0.%03d $((RANDOM % 60 + 5)))"
        stop
        for f in b/ckpt/*.safetensors; do
            [ ! -e "$f" ] || run -0 "$CELLRUN" ckpt verify "$f"
        done
    done
    step=$(jq -s 'map(.step) | max' b/metrics.jsonl)
    n=$((step / 19 + 2))
    run -0 "$CELLRUN" resume b -q --epochs $n
    run -0 "$CELLRUN" "$@" -o a --epochs $n
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    # one before the last epoch holds the config of a run without an end
    run -0 "$CELLRUN" ckpt diff a/ckpt/best.safetensors b/ckpt/best.safetensors
    equal records a b
    [ -z "$(find b -name '*tmp*')" ]
    [ ! -e b/lock ]
}

@test "what a run left that died while it claimed the folder is removed" {
    mkdir -p b
    touch "b/lock.tmp.$(uname -n).4194303" b/lock.tmp.elsewhere.7
    run -0 "$CELLRUN" train c.yaml -o b -q --steps 2
    [ ! -e "b/lock.tmp.$(uname -n).4194303" ]
    [ -e b/lock.tmp.elsewhere.7 ]
}

@test "stopped in the middle of an epoch, with other threads and workers" {
    run -0 "$CELLRUN" train c.yaml -o a -q --steps 50
    run -0 "$CELLRUN" train c.yaml -o b -q --steps 11 --threads 1
    run -0 "$CELLRUN" train c.yaml -o b -q --steps 50 --threads 2 --resume auto
    run -0 "$CELLRUN" ckpt diff a/ckpt/last b/ckpt/last
    run -0 "$CELLRUN" train c.yaml -o d -q --steps 23 datapipe.workers=2
    run -0 "$CELLRUN" resume d -q --steps 50 --threads 2
    run -0 "$CELLRUN" ckpt diff a/ckpt/last d/ckpt/last
}

@test "--resume auto starts, resumes, and reports the end again" {
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto
    first=$output
    before=$(cd r && sha256sum *.* ckpt/*)
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto
    [ "$output" = "$first" ]
    [ "$(cd r && sha256sum *.* ckpt/*)" = "$before" ]
    run -6 "$CELLRUN" train c.yaml -o r -q --resume auto \
        --require 'accuracy>1'
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto --epochs 4
    [ "$(value epochs)" = 4 ]
}

@test "a complete run has nothing to do; an end that has been passed is refused" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -0 --separate-stderr "$CELLRUN" resume r
    [ "$stderr" = "nothing to do: all 57 steps are done; increase --epochs or --steps to continue" ]
    run -0 --separate-stderr "$CELLRUN" resume r -q
    [ -z "$stderr" ]
    # as INT leaves it
    sed -i 's/"completed"/"interrupted"/' r/record.json
    before=$(cd r && sha256sum *.* ckpt/*)
    run -2 --separate-stderr "$CELLRUN" resume r --epochs 2
    [[ $stderr == *"r: error: the run has already done 57 steps (3 epochs), but should end after 38 [E0006]"*"Nothing was run."* ]]
    [ "$(cd r && sha256sum *.* ckpt/*)" = "$before" ]
    [ ! -e r/lock ]
    run -0 --separate-stderr "$CELLRUN" resume r -q
    [ "$(value status)" = completed ]
}

@test "the file command does all of the run again" {
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 1
    run -0 "$CELLRUN" train c.yaml -o r -q --epochs 2 --resume auto
    [[ "$(cat r/command)" == *"train c.yaml -o r -q --epochs 2 --resume auto" ]]
    for _ in 1 2; do
        run -0 "$CELLRUN" resume r -q --epochs 4
    done
    run -0 "$CELLRUN" resume r -q
    [ "$(wc -l <r/command)" = 1 ]
    [[ "$(cat r/command)" == *"--epochs 2 --resume auto && cd "*" resume r -q --epochs 4" ]]
    mv r a
    run -0 sh a/command
    cmp a/ckpt/last.safetensors r/ckpt/last.safetensors
}

@test "a finished run without checkpoints is finished" {
    run -0 "$CELLRUN" train c.yaml -o r -q --no-ckpt --resume auto
    first=$output
    before=$(cat r/record.json)
    run -0 "$CELLRUN" train c.yaml -o r -q --no-ckpt --resume auto
    [ "$output" = "$first" ]
    [ "$(cat r/record.json)" = "$before" ]
    run -0 "$CELLRUN" train c.yaml -o r -q --no-ckpt --resume auto --epochs 4
    [ "$(value epochs)" = 4 ]
    [ "$(steps r train)" = "1" ]
}

@test "early stopping continues counting, and stays stopped" {
    set -- c.yaml -q --epochs 100 'train.early_stop={monitor: loss, patience: 3}'
    run -0 "$CELLRUN" train "$@" -o a
    [ "$(value status)" = early_stopped ]
    n=$(value steps)
    run -0 "$CELLRUN" train "$@" -o b --steps $((n - 10))
    run -0 "$CELLRUN" train "$@" -o b --resume auto
    [ "$(value steps)" = "$n" ]
    run -0 "$CELLRUN" resume b -q
    [ "$(value status)" = early_stopped ]
    [ "$(value steps)" = "$n" ]
}

@test "records past the checkpoint go, cut lines too" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 4 log.every=1
    run -0 "$CELLRUN" train c.yaml -o b -q --epochs 4 log.every=1
    rm b/ckpt/c-[34]_* b/ckpt/last.safetensors
    [ -e b/ckpt/best.safetensors ]
    printf '{"t":1,"step":40,"ep' >>b/metrics.jsonl
    run -0 "$CELLRUN" resume b -q
    equal records a b
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
}

@test "a damaged newest checkpoint: reported, and the previous one used" {
    run -0 "$CELLRUN" train c.yaml -o a -q
    cp -r a b
    for f in b/ckpt/c-3_19.safetensors; do
        cp "$f" "$f.new" && mv "$f.new" "$f" && flip "$f"
    done
    run -0 "$CELLRUN" train c.yaml -o b -q --resume auto --epochs 3
    [[ $output == *"c-3_19.safetensors"*"warning"*"trying the previous checkpoint"* ]]
    cmp a/ckpt/c-3_19.safetensors b/ckpt/c-3_19.safetensors
    for f in b/ckpt/c-*; do
        cp "$f" "$f.new" && mv "$f.new" "$f" && flip "$f"
    done
    run -4 "$CELLRUN" train c.yaml -o b -q --resume auto --epochs 4
    [[ $output == *"[E0303]"*"Nothing was run."* ]]
    run -4 "$CELLRUN" resume b
    cp a/ckpt/c-2_19.safetensors one.safetensors
    flip one.safetensors
    run -4 "$CELLRUN" resume one.safetensors -o n --trust
    [[ $output == *"[E0303]"* ]]
}

@test "resume FILE: in its run, or in a new one" {
    run -0 "$CELLRUN" train c.yaml -o a -q --epochs 4
    cp -r a b
    run -0 "$CELLRUN" resume b/ckpt/c-2_19.safetensors -q --trust
    [ "$(value run)" = b ]
    [ "$(value epochs)" = 4 ]
    cmp a/ckpt/last.safetensors b/ckpt/last.safetensors
    cp a/ckpt/c-2_19.safetensors alone.safetensors
    run -2 "$CELLRUN" resume alone.safetensors
    [[ $output == *"is not in a run directory"*"-o DIR"* ]]
    run -0 "$CELLRUN" resume alone -q -o n --trust
    run -0 "$CELLRUN" ckpt diff a/ckpt/last n/ckpt/last
}

@test "only changes that leave the steps as they are" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -2 "$CELLRUN" resume r optimizer.learning_rate=0.1
    [[ $output == *"resume cannot change 'optimizer.learning_rate'"* ]]
    run -2 "$CELLRUN" resume r seed=2
    run -2 "$CELLRUN" resume r train.limit=10
    run -0 "$CELLRUN" resume r -q train.epochs=4 log.every=1 \
        checkpoint.keep_checkpoint_max=1
    [ "$(ls r/ckpt/c-*_* | wc -l)" -le 3 ]
    run -0 "$CELLRUN" resume r -q --epochs 5 --allow-change \
        optimizer.learning_rate=0.01
    [ "$(value epochs)" = 5 ]
    run -4 "$CELLRUN" resume r -q --epochs 6 --allow-change \
        'network.fc={Dense: [8, 17]}' 'network.out={Dense: [17, 3]}'
    [[ $output == *"[E0305]"*"Nothing was run."* ]]
}

@test "a run with a different config in the directory: exit 2" {
    run -0 "$CELLRUN" train c.yaml -o r -q
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto seed=2
    [[ $output == *"belongs to a run with a different config: 'seed' changed from 1 to 2 [E0502]"* ]]
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto log.every=7 \
        --epochs 9 network.drop.Dropout.p=0.3 optimizer.learning_rate=0.1
    [[ $output == *"a different config: 'network.drop.Dropout.p' changed from 0.2 to 0.3 [E0502]"* ]]
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto 'optimizer=!replace {SGD: 0.1}'
    [[ $output == *"a different config: 'optimizer' changed from the type 'Momentum' to "*"SGD"*" [E0502]"* ]]
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto \
        optimizer.learning_rate=0.1
    [[ $output == *"a different config: 'optimizer.Momentum.learning_rate' changed from 0.05 to 0.1 [E0502]"* ]]
    run -2 "$CELLRUN" train c.yaml -o r -q --resume auto ~network.act
    [[ $output == *"a different config: 'network.act' changed from ReLU to not set [E0502]"* ]]
    cp -r r/ckpt keep
    run -0 "$CELLRUN" train c.yaml -o r -q --resume auto log.every=5
    cmp keep/last.safetensors r/ckpt/last.safetensors
}

@test "nothing there: exit 4; other data: a warning" {
    run -4 "$CELLRUN" resume nowhere
    mkdir empty
    run -4 "$CELLRUN" resume empty
    run -0 "$CELLRUN" train c.yaml -o r -q
    samples train 310 1
    run -0 "$CELLRUN" resume r -q --epochs 4
    [[ $output == *"the data set has changed since the run was started"* ]]
}

# other_contents COMMAND...: a run continues silently, and with a warning after
# the command has changed its data
other_contents() {
    run -0 "$CELLRUN" train c.yaml -o r -q --force
    run -0 "$CELLRUN" resume r -q --epochs 4
    [[ $output != *"different contents"* ]]
    "$@"
    run -0 "$CELLRUN" resume r -q --epochs 5
    [[ $output == *"the same names and sizes, but different contents [E0305]"* ]]
}

@test "arrays of other contents and the same size: a warning" {
    cp -r . ../copy
    other_contents samples train 300 5
    # a copy is the same data, whatever its times and its folder
    run -0 "$CELLRUN" train ../copy/c.yaml -o s -q
    mv ../copy moved
    touch moved/*
    run -0 "$CELLRUN" resume s -q --epochs 4 --allow-change \
        'dataset.train.NumpySlicesDataset.data=[moved/train-x.npy, moved/train-y.npy]' \
        'dataset.eval.NumpySlicesDataset.data=[moved/eval-x.npy, moved/eval-y.npy]'
    [[ $output != *"has changed since"* ]]
}

@test "a table of other contents and the same size: a warning" {
    perl -e 'print "a,b,label\n";
        printf "%.3f,%.3f,%d\n", sin $_, cos $_, $_ % 3 for 1 .. 90' >t.csv
    sed -i -e "s/train: {Numpy.*/train: {CSVDataset: {dataset_files: t.csv, columns: {x: {fields: [a, b], type: float32}, label: label}}}/" \
        -e "/^  eval: /d" -e "s/Dense: \[8, 16\]/Dense: [2, 16]/" c.yaml
    other_contents sed -i '80s/^0/1/; 80s/^-0/-1/' t.csv
}

@test "images of other contents and the same size: a warning" {
    for class in ant bee; do
        mkdir -p set/$class
        for i in 1 2 3; do
            pixels 6 6 "$i" 0 | png set/$class/$i.png 6 6
        done
    done
    sed -i -e "s/train: {Numpy.*/train: {ImageFolderDataset: {dataset_dir: set}}/" \
        -e "/^  eval: /d" -e "s/fc: .*/flat: Flatten\n  fc: {Dense: [108, 16]}/" c.yaml
    # after the end of the image, which no reader reads
    printf aaaa >>set/bee/2.png
    other_contents perl -pi -e 's/aaaa$/bbbb/' set/bee/2.png
}

@test "from anywhere: data paths start from the config's folder" {
    mkdir sub other
    mv ./*.npy c.yaml sub
    run -0 "$CELLRUN" train sub/c.yaml -o r -q
    cd other
    run -0 "$CELLRUN" resume ../r -q --epochs 4
    [ "$(value epochs)" = 4 ]
}

@test "other kernels than the run began with: a warning" {
    kernels() { sed 's/.*"kernels":"\([^"]*\)".*/\1/' r/record.json; }
    run -0 "$CELLRUN" train c.yaml -o r -q
    before=$(kernels)
    run -0 --separate-stderr env CELLRUN_ISA=generic "$CELLRUN" resume r -q \
        --epochs 4
    if [ "$(kernels)" = "$before" ]; then
        [ -z "$stderr" ]
    else
        [[ $stderr == *"used kernels '$before' and continues with '$(kernels)'"* ]]
    fi
}

@test "with larger batches the checkpoint that a run resumes from stays" {
    "$CELLRUN" train c.yaml -q 'checkpoint.every=1 steps' -o large
    run -0 --separate-stderr "$CELLRUN" resume large --allow-change -q \
        --epochs 4 datapipe.batch.batch_size=300
    [ "$stderr" = "cellrun: warning: steps per epoch changed from 19 to 1; step numbers are recomputed [E0305]" ]
    [ -e large/ckpt/c-3_19.safetensors ]
    [ -e large/ckpt/c-4_1.safetensors ]
    run -0 "$CELLRUN" resume large -q
}

@test "other batches within an epoch: names of checkpoints continue to rise" {
    # 29 of 57 steps: 160 samples into the second epoch
    "$CELLRUN" train c.yaml -q -o r --steps 29 checkpoint.keep_checkpoint_max=30 \
        checkpoint.every='1 steps'
    [ -e r/ckpt/c-2_10.safetensors ]
    cp r/ckpt/c-2_3.safetensors before
    # 5 steps an epoch: the third of the second comes next
    set -- --allow-change datapipe.batch.batch_size=64
    run -0 --separate-stderr "$CELLRUN" resume r -q "$@" --steps 8
    [[ $stderr == *"steps per epoch changed from 19 to 5"* ]]
    cmp before r/ckpt/c-2_3.safetensors
    cmp r/ckpt/c-2_11.safetensors r/ckpt/last.safetensors
    # the one that another resume takes; and what else is in that epoch
    run -0 "$CELLRUN" resume r --steps 9
    [[ $output == *"resumed from r/ckpt/c-2_11.safetensors at step 8"* ]]
    run -0 "$CELLRUN" resume r -q --steps 12
    [ -e r/ckpt/c-2_13.safetensors ]
    [ -e r/ckpt/c-3_2.safetensors ]
    cmp r/ckpt/c-3_2.safetensors r/ckpt/last.safetensors
    # the same run without a stop between: the same bytes
    cp -r r s
    rm s/ckpt/c-2_12.safetensors s/ckpt/c-2_13.safetensors s/ckpt/c-3_*
    ln -f s/ckpt/c-2_11.safetensors s/ckpt/last.safetensors
    run -0 "$CELLRUN" resume s -q --steps 12 --trust
    cmp r/ckpt/c-3_2.safetensors s/ckpt/c-3_2.safetensors
    # and back in the third: smaller batches, whose names count on as well
    run -0 "$CELLRUN" resume r -q --allow-change --steps 48 \
        datapipe.batch.batch_size=16
    [ -e r/ckpt/c-3_4.safetensors ]
    cmp r/ckpt/c-3_4.safetensors r/ckpt/last.safetensors
}

@test "other batches, several per update: the checkpoint that a run resumes from stays" {
    # two batches into the third epoch; an update of 5 batches ends before it
    "$CELLRUN" train c.yaml -q -o r --steps 40
    [ -e r/ckpt/c-3_2.safetensors ]
    cp r/ckpt/c-3_2.safetensors before
    run -0 "$CELLRUN" resume r -q --allow-change --epochs 5 \
        datapipe.batch.batch_size=43 train.grad_accumulation=5 \
        checkpoint.every='1 steps' checkpoint.keep_checkpoint_max=10
    cmp before r/ckpt/c-3_2.safetensors
    # steps 3 to 7: 15, 20, 25, 30 and 35 batches, 7 an epoch
    [ "$(cd r/ckpt; echo c-[3-9]*)" = "c-3_12.safetensors c-3_2.safetensors c-3_7.safetensors c-4_4.safetensors c-5_2.safetensors c-5_7.safetensors" ]
    run -0 "$CELLRUN" resume r --epochs 6
    [[ $output == *"resumed from r/ckpt/c-5_7.safetensors at step 7"* ]]
}

@test "other batches within an epoch: the last checkpoints are kept" {
    "$CELLRUN" train c.yaml -q -o r --steps 29 checkpoint.keep_checkpoint_max=3 \
        checkpoint.every='1 steps' checkpoint.best.metric=loss
    run -0 "$CELLRUN" resume r -q --allow-change datapipe.batch.batch_size=64 \
        --steps 9
    [ -e r/ckpt/c-2_12.safetensors ]
    [ -e r/ckpt/c-2_11.safetensors ]
    run -0 "$CELLRUN" resume r --steps 10
    [[ $output == *"resumed from r/ckpt/c-2_12.safetensors at step 9"* ]]
    # going back to one of them, what was after it goes
    run -0 "$CELLRUN" resume r/ckpt/c-2_12.safetensors -q --steps 10
    [ -e r/ckpt/c-2_13.safetensors ]
    run -0 "$CELLRUN" resume r/ckpt/c-2_11.safetensors -q --steps 9
    [ ! -e r/ckpt/c-2_13.safetensors ]
}

@test "other batches: records up to the checkpoint stay, none after it" {
    "$CELLRUN" train c.yaml -q -o r --epochs 3 --log-every 5
    cp r/metrics.jsonl before
    [ "$(steps r eval)" = "19 38 57" ]
    for size in 64 4; do
        cp -r r "of$size"
        run -0 "$CELLRUN" resume "of$size" -q --allow-change --epochs 4 --trust \
            --log-every 1 datapipe.batch.batch_size=$size
        n=$(wc -l <before)
        head -n "$n" "of$size/metrics.jsonl" | cmp - before
    done
    # five steps an epoch, and what was evaluated is not evaluated again
    [ "$(steps of64 eval)" = "19 38 57 20" ]
    [[ $(steps of64 train) == *" 51 56 16 17 18 19 20" ]]
    [ "$(steps of4 eval)" = "19 38 57 300" ]
    # another stop, and the first records still stay
    run -0 "$CELLRUN" resume of64 -q --epochs 5
    head -n "$n" of64/metrics.jsonl | cmp - before
    [ "$(steps of64 eval)" = "19 38 57 20 25" ]
    # back to the last of them, and to the first batches
    run -0 "$CELLRUN" resume of64/ckpt/c-4_5.safetensors -q --steps 22
    [ "$(steps of64 eval)" = "19 38 57 20 22" ]
    for size in 64 4; do
        run -0 "$CELLRUN" resume "of$size/ckpt/c-2_19.safetensors" -q --trust \
            --allow-change --steps 40
        [ "$(steps of$size eval)" = "19 38 40" ]
        cmp <(head -n -1 "of$size/metrics.jsonl") <(head -n 10 before)
    done
}

@test "other batches within an epoch: the records up to the checkpoint stay" {
    "$CELLRUN" train c.yaml -q -o r --steps 29 --log-every 1
    cp r/metrics.jsonl before
    run -0 "$CELLRUN" resume r -q --allow-change --steps 12 \
        datapipe.batch.batch_size=64
    head -n "$(wc -l <before)" r/metrics.jsonl | cmp - before
    [[ $(steps r train) == *" 27 28 29 8 9 10 11 12" ]]
    # back to before: those records go
    rm r/ckpt/c-2_1[1-9].safetensors r/ckpt/c-3_*
    run -0 "$CELLRUN" resume r/ckpt/c-2_10.safetensors -q --allow-change \
        --steps 29
    cmp before r/metrics.jsonl
}

@test "other batches: records of older versions, which have steps alone, stay" {
    "$CELLRUN" train c.yaml -q -o r --steps 29 --log-every 1
    sed -i 's/,"samples":[0-9]*,"split"/,"split"/' r/metrics.jsonl
    run ! grep -q '"samples":' r/metrics.jsonl
    cp r/metrics.jsonl before
    # of a step past the checkpoint
    echo '{"t":1,"step":30,"epoch":1,"split":"train","loss":1}' >>r/metrics.jsonl
    for n in 12 13; do
        run -0 "$CELLRUN" resume r -q --allow-change --steps $n \
            datapipe.batch.batch_size=64
        head -n "$(wc -l <before)" r/metrics.jsonl | cmp - before
    done
    [[ $(steps r train) == *" 27 28 29 8 9 10 11 12 13" ]]
    run -0 "$CELLRUN" resume r/ckpt/c-2_10.safetensors -q --allow-change \
        --steps 29
    cmp before r/metrics.jsonl
}

@test "other batches from the end of an epoch: names of checkpoints continue to rise there too" {
    "$CELLRUN" train c.yaml -q -o r --epochs 2 '~dataset.eval' '~metrics'
    [ -e r/ckpt/c-2_19.safetensors ]
    # now it is evaluated, and so the same step is saved once more
    eval='{NumpySlicesDataset: {data: [eval-x.npy, eval-y.npy],'
    run -0 "$CELLRUN" resume r -q --allow-change --epochs 3 \
        datapipe.batch.batch_size=64 metrics='[accuracy, loss]' \
        dataset.eval="$eval column_names: [x, label]}}"
    [ ! -e r/ckpt/c-2_5.safetensors ]
    [ ! -e r/ckpt/c-2_20.safetensors ]
    [ -e r/ckpt/c-3_5.safetensors ]
    # the newest is damaged: the one before it is that of the new batches
    rm r/ckpt/last.safetensors r/ckpt/best.safetensors
    flip r/ckpt/c-3_5.safetensors
    run -0 --separate-stderr "$CELLRUN" resume r --epochs 3 --progress plain
    [[ $stderr == *"c-3_5.safetensors"*"trying the previous checkpoint"* ]]
    [[ $stderr == *"resumed from r/ckpt/c-2_19.safetensors at step 10"* ]]
    # back to what was before
    flip r/ckpt/c-3_5.safetensors
    flip r/ckpt/c-2_19.safetensors
    run -2 --separate-stderr "$CELLRUN" resume r --epochs 3
    [[ $stderr == *"belongs to a run with a different config"* ]]
    [[ $stderr == *"--allow-change to continue with the config of the checkpoint"* ]]
    [[ $stderr != *--force* ]]
}

@test "renumbered steps are announced before them" {
    "$CELLRUN" train c.yaml -q -o r --epochs 1
    run -0 --separate-stderr "$CELLRUN" resume r --epochs 2 --progress plain \
        --allow-change datapipe.batch.batch_size=64
    [[ $stderr == *"step numbers are recomputed"*"Epoch 2"* ]]
    [ "$(grep -c 'are recomputed' <<<"$stderr")" = 1 ]
}
