#!/bin/bash
# tests/soak/kill.sh: kills a run N times (200) at random moments, resuming it
# each time. No file under a final name may ever be unreadable, and what
# comes out in the end must be what an uninterrupted run writes.
#
#   N=200  LONGEST=120 (ms)  WORKERS='0 3'  CELLRUN=build/cellrun
#   RECIPE=small | cosine | plateau
#
# The network of `small` is small, so that most kills hit files being written
# rather than arithmetic. The other two are tests/cli/everything.bash: all that
# a training recipe may have, with either kind of learning rate. Each time a
# run ends before N is reached, another begins.
set -eu
cd "$(dirname "$0")/../.."
CELLRUN=$(realpath "${CELLRUN:-build/cellrun}")
N=${N:-200} LONGEST=${LONGEST:-120} WORKERS=${WORKERS:-0 3}
RECIPE=${RECIPE:-small}
cli=$PWD/tests/cli
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
. "$cli/small.bash"
. "$cli/everything.bash"
case $RECIPE in
small)
    config c.yaml
    set -- train.epochs=150 'checkpoint.every=7 steps' log.every=3
    ;;
cosine | plateau)
    everything c.yaml "$RECIPE"
    set -- # as it is
    ;;
*)
    echo "RECIPE is small, cosine or plateau, not '$RECIPE'" >&2
    exit 2
    ;;
esac
recipe=("$@")
kills=0 runs=0 looks=0

fail() {
    echo "FAIL after $kills kills: $*" >&2
    trap - EXIT
    echo "the files are in $dir" >&2
    exit 1
}

# records DIR: without what is measured
records() {
    sed 's/"t":[^,]*,//; s/,"samples_per_s.*//' "$1/metrics.jsonl"
}

look() {
    local f
    for f in k/ckpt/*.safetensors; do
        [ -e "$f" ] || continue
        "$CELLRUN" ckpt verify "$f" >/dev/null || fail "$f is damaged"
        looks=$((looks + 1))
    done
}

while [ $kills -lt "$N" ]; do
    for workers in $WORKERS; do
        set -- train c.yaml "${recipe[@]}" datapipe.workers=$workers -q
        rm -rf k
        [ -e "whole$workers" ] || "$CELLRUN" "$@" -o "whole$workers" >/dev/null
        runs=$((runs + 1))
        while :; do
            "$CELLRUN" "$@" -o k --resume auto >out 2>err &
            p=$!
            sleep "$(printf '0.%03d' $((RANDOM % LONGEST + 1)))"
            kill -9 $p 2>/dev/null || true
            rc=0
            wait $p 2>/dev/null || rc=$?
            look
            [ $rc = 137 ] || break
            kills=$((kills + 1))
        done
        [ $rc = 0 ] || fail "status $rc: $(cat err)"
        for f in last best; do
            cmp "whole$workers/ckpt/$f.safetensors" "k/ckpt/$f.safetensors" ||
                fail "$f.safetensors differs"
        done
        diff <(records "whole$workers") <(records k) || fail "records differ"
        [ -z "$(find k -name '*tmp*' -o -name lock)" ] || fail "leftovers"
    done
done
echo "$RECIPE: $kills kills in $runs runs, $looks files verified: all whole, the same in the end"
