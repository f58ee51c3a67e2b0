# train.stop_after: a run in several parts.
bats_require_minimum_version 1.5.0
set -o pipefail
load small

setup() {
    cd "$BATS_TEST_TMPDIR"
}

@test "train.stop_after stops in good order, and the resumed run has the bytes of one that did not stop" {
    config c.yaml
    "$CELLRUN" train c.yaml -o whole -q train.epochs=4
    run -75 "$CELLRUN" train c.yaml -o parts -q train.epochs=4 \
        'train.stop_after=1 epoch'
    [ "$(value status)" = stopped ]
    [ "$(value epochs)" = 1 ]
    run -75 "$CELLRUN" train c.yaml -o parts -q train.epochs=4 \
        'train.stop_after=3 epochs' --resume=auto
    [ "$(value epochs)" = 3 ]
    run -75 --separate-stderr "$CELLRUN" resume parts
    [[ "$stderr" == *"nothing to do: train.stop_after ends the run here; resume with '~train.stop_after' to continue"* ]]
    [ "$(value epochs)" = 3 ]
    run -0 "$CELLRUN" resume parts -q '~train.stop_after'
    [ "$(value status)" = completed ]
    cmp whole/ckpt/last.safetensors parts/ckpt/last.safetensors
    diff <(jq -c 'del(.t, .samples_per_s)' whole/metrics.jsonl) \
        <(jq -c 'del(.t, .samples_per_s)' parts/metrics.jsonl)
}

@test "train.stop_after counts epochs or steps" {
    config c.yaml
    run -75 "$CELLRUN" train c.yaml -o r -q 'train.stop_after=2 steps'
    [ "$(value steps)" = 2 ]
    for wrong in '3 s' '10 %' '0 epochs'; do
        run -2 "$CELLRUN" check c.yaml "train.stop_after=$wrong"
        [[ $output == *"'train.stop_after': expected a number of epochs or steps above 0"* ]]
    done
}
