#!/bin/sh
# A sweep of learning rate and seed from the shell:
#
#   configs/sweep.sh [CONFIG]          default: configs/digits.yaml
#   JOBS=4 RATES='0.3 0.1' SEEDS='1 2 3' EPOCHS=5 configs/sweep.sh mnist.yaml
#
# Each point is a run directory of its own below $SWEEP. Started again after
# being killed, at any moment, it goes on: finished points are skipped at
# once, points that were under way are resumed from their last checkpoint.
# It may run on several machines that share the folder: a directory that a
# living process holds is left alone.
set -eu

config=${1:-$(dirname "$0")/digits.yaml}
cellrun=${CELLRUN:-cellrun}
sweep=${SWEEP:-runs/sweep}
rates=${RATES:-0.3 0.1 0.03 0.01}
seeds=${SEEDS:-1 2 3}
epochs=${EPOCHS:-3}

# Small networks gain more from several runs at once than from several threads
# in each of them.
jobs=${JOBS:-$(nproc)}
export CELLRUN_THREADS="${CELLRUN_THREADS:-1}"

# One line per point: its directory, then its settings. A comma belongs to a
# value here; what varies is spelt out by the shell.
points() {
    for rate in $rates; do
        for seed in $seeds; do
            printf '%s\n' "$sweep/lr=$rate,seed=$seed" \
                "optimizer.learning_rate=$rate" "seed=$seed" \
                "train.epochs=$epochs"
        done
    done
}

# What --resume auto does decides whether a point is begun, goes on, or was
# done before. Exit 5 (diverged) and 2 (held by another process) are results
# of a point, not of the sweep.
one() {
    dir=$1
    shift
    "$CELLRUN_SWEEP" train "$CONFIG_SWEEP" "$@" -o "$dir" --resume auto -q \
        >/dev/null || case $? in
    2 | 5) ;;
    130 | 143) exit 255 ;; # xargs: begin nothing more
    *) echo "$dir: failed" >&2 && exit 1 ;;
    esac
}

# xargs has to call something: this file again, with one point.
if [ "${SWEEP_POINT:-}" ]; then
    one "$@"
    exit
fi

# What is wrong with the config is wrong with every point: say it once.
"$cellrun" check "$config" >/dev/null

export SWEEP_POINT=1 CELLRUN_SWEEP="$cellrun" CONFIG_SWEEP="$config"
status=0
points | xargs -d '\n' -n 4 -P "$jobs" "$0" || status=$?

# The best on top; add --tsv for other tools.
"$cellrun" runs ls --dir "$sweep" --sort eval.accuracy \
    --cols run,status,optimizer.learning_rate,seed,eval.accuracy,eval.loss,seconds
exit "$status"
