# config --plot lr: the learning rate over the run, before anything runs.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    unset LC_CTYPE LANG
    export COLUMNS=44 LC_ALL=C
    cd "$BATS_TEST_TMPDIR"
    config c.yaml
    cyclic='optimizer.learning_rate={CyclicLR: {base_lr: 0.01, max_lr: 0.1, step_size_up: 10}}'
    cosine='optimizer.learning_rate={CosineDecayLR: {max_lr: 0.1, min_lr: 0.0, decay_steps: 3 epochs}, warmup: 5%}'
}

@test "in ASCII" {
    run -0 --separate-stderr "$CELLRUN" config c.yaml "$cyclic" --plot lr
    [ "$output" = 'learning_rate
       0.1|    *        *        *
          |    **       *       **
          |    **      * *      **
          |   *  *     * *     *  *
          |   *  *    *   *    *  *
          |  *    *   *   *   *    *
          |  *    *  *     *  *    *
          | *     *  *     *  *
          | *      * *     * *
          | *      **       **
          |*        *       *
         0|
           0    14    28    42    56 steps
           0  0.7368 1.474 2.211 2.947 epochs' ]
    [ -z "$stderr" ]
}

@test "in Braille" {
    LC_ALL=C.UTF-8 run -0 "$CELLRUN" config c.yaml "$cosine" --plot lr
    printf '%s\n' "$output" >plot.txt
    LC_ALL= LANG=C.utf8 run -0 "$CELLRUN" config c.yaml "$cosine" --plot lr
    printf '%s\n' "$output" | cmp - plot.txt
    cat >want.txt <<'END2'
learning_rate
   0.09932┤ ⢸⠑⠲⣀
          │ ⢸   ⠑⠢⡀
          │ ⢸     ⠑⢄
          │ ⡜      ⠈⠢⡀
          │ ⡇        ⠸⡀
          │ ⡇         ⠈⢢
          │ ⡇           ⠑⡄
          │⢠⠃            ⠑⢄
          │⢸              ⠈⠢⡀
          │⢸                ⠘⢄
          │⢸                  ⠑⢄⡀
         0┤⡸                    ⠑⠢⠤⣀
           0    14    28    42    56 steps
           0  0.7368 1.474 2.211 2.947 epochs
END2
    cmp plot.txt want.txt
}

@test "without data where steps are given; otherwise an error" {
    rm ./*.npy
    run -0 "$CELLRUN" config c.yaml "$cyclic" train.steps=57 --plot lr
    [[ $output == *"14    28    42    56 steps" ]]
    run -2 --separate-stderr "$CELLRUN" config c.yaml '~dataset' --plot lr
    [[ $stderr == *"unknown length of an epoch: the section 'dataset' is missing"* ]]
    [[ $stderr == *"learning rates in epochs or percent need the data set; or use steps instead of epochs"* ]]
    [ -z "$output" ]
    run -3 "$CELLRUN" config c.yaml "$cosine" train.steps=57 --plot lr
    run -0 "$CELLRUN" config c.yaml '~dataset' train.steps=20 --plot lr \
        'optimizer.learning_rate={CosineDecayLR: {max_lr: 0.1, min_lr: 0.0, decay_steps: 50%}, warmup: 5 steps}'
}

@test "the rates that training has, groups and all" {
    group='optimizer.Momentum.group_params=[{params: "*.bias", learning_rate: 0.3}]'
    "$CELLRUN" train c.yaml "$cosine" -o run -q log.every='1 steps' >/dev/null
    run -0 --separate-stderr "$CELLRUN" config c.yaml "$cosine" "$group" \
        --plot lr --json
    jq -e '.steps == 57 and .steps_per_epoch == 19 and .every == 1 and
           (.curves | length) == 2 and
           .curves[1].name == "learning_rate of *.bias" and
           (.curves[1].lr | unique) == [0.3]' <<<"$output"
    cmp <(jq -c '.curves[0].lr[]' <<<"$output") \
        <(jq -c 'select(.split == "train") | .lr' run/metrics.jsonl)
    run -0 "$CELLRUN" config c.yaml "$cosine" "$group" --plot lr
    [ "$(grep -c learning_rate <<<"$output")" = 2 ]
    # micro-batches make fewer steps
    run -0 --separate-stderr "$CELLRUN" config c.yaml --plot lr --json \
        train.grad_accumulation=3
    jq -e '.steps == 19 and (.steps_per_epoch * 3 | . > 18.99 and . < 19.01)' \
        <<<"$output"
}

@test "as SVG; wrong use" {
    run -0 "$CELLRUN" config c.yaml "$cosine" --plot lr -o lr.svg
    [ -z "$output" ]
    run -0 "$CELLRUN" config c.yaml "$cosine" --plot lr -o -
    [ "$output" = "$(cat lr.svg)" ]
    perl -0ne 'exit 1 unless /^<svg [^>]*>\n.*<\/svg>\n\z/s;
               die "NaN" if /nan|inf/;
               my @n = /<\w+/g; my @e = /<\/\w+|\/>/g;
               exit(@n != @e)' lr.svg
    run -2 "$CELLRUN" config c.yaml --plot momentum
    [[ $output == *"--plot: found 'momentum', expected lr"* ]]
    run -2 "$CELLRUN" config c.yaml -o lr.svg
    [[ $output == *"-o requires --plot"* ]]
    run -1 "$CELLRUN" config c.yaml --plot lr -o /nowhere/lr.svg
    run -2 "$CELLRUN" config c.yaml --plot lr '~optimizer'
    [[ $output == *"the section 'optimizer' is missing"* ]]
}
