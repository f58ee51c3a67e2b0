#!/bin/sh
# A sweep of learning rate and seed from the shell:
#
#   configs/sweep.sh [CONFIG]          default: configs/digits.yaml
#   JOBS=4 RATES='0.3 0.1' SEEDS='1 2 3' EPOCHS=5 configs/sweep.sh mnist.yaml
#
# Each point has its own run directory below $SWEEP. The sweep can be killed at
# any time and started again: finished points are skipped, unfinished points
# resume from their last checkpoint. Several machines that share the folder can
# run it at once: a run directory that another process has locked is skipped.
set -eu

config=${1:-$(dirname "$0")/digits.yaml}
cellrun=${CELLRUN:-cellrun}
sweep=${SWEEP:-runs/sweep}
rates=${RATES:-0.3 0.1 0.03 0.01}
seeds=${SEEDS:-1 2 3}
epochs=${EPOCHS:-3}

# Small networks gain more from parallel runs than from several threads per run.
jobs=${JOBS:-$(nproc)}
export CELLRUN_THREADS="${CELLRUN_THREADS:-1}"

# Four lines per point: its directory, then its settings.
points() {
    for rate in $rates; do
        for seed in $seeds; do
            printf '%s\n' "$sweep/lr=$rate,seed=$seed" \
                "optimizer.learning_rate=$rate" "seed=$seed" \
                "train.epochs=$epochs"
        done
    done
}

# --resume auto starts, resumes or skips the run. Exit statuses 5 (diverged) and
# 2 (locked by another process) are results of a point, not of the sweep.
one() {
    dir=$1
    shift
    "$CELLRUN_SWEEP" train "$CONFIG_SWEEP" "$@" -o "$dir" --resume auto -q \
        >/dev/null || case $? in
    2 | 5) ;;
    130 | 143) exit 255 ;; # a signal: 255 makes xargs start no more points
    *) echo "$dir: failed" >&2 && exit 1 ;;
    esac
}

# xargs calls this file again for each point.
if [ "${SWEEP_POINT:-}" ]; then
    one "$@"
    exit
fi

# Report errors of the config once, not for each point.
"$cellrun" check "$config" >/dev/null

export SWEEP_POINT=1 CELLRUN_SWEEP="$cellrun" CONFIG_SWEEP="$config"
status=0
points | xargs -d '\n' -n 4 -P "$jobs" "$0" || status=$?

# Best first; add --tsv for other tools.
"$cellrun" runs ls --dir "$sweep" --sort eval.accuracy \
    --cols run,status,optimizer.learning_rate,seed,eval.accuracy,eval.loss,seconds
exit "$status"
