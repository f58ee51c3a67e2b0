# train.reduce_dtype: bfloat16 under mpirun. The oracle is perl: with one
# sample per process, initial values of 0, SGD with a rate of 1, and a sum as
# the loss, a parameter is minus the sum of what the processes have sent.
bats_require_minimum_version 1.5.0
set -o pipefail
load mpi

# sums N SAMPLES: c.yaml, whose samples x.npy have 4509 columns: `wide` is of
# 2000 equal rows, more than shared memory takes at once, and `few` of the last
# 9 columns, a small message
sums() {
    perl -e 'for my $i (1 .. shift() * 4509) {
            my $x = 10 ** (6 * sin $i * 12.9898) * sin $i * 78.233;
            # halfway between two numbers of bfloat16
            $x = $i % 2 ? 1 + 2 ** -8 : 1 + 3 * 2 ** -8 if $i % 7 == 0;
            print pack "f<", $x }' "$2" | npy x.npy '<f4' "($2, 4509)"
    cat >c.yaml <<END
cellrun: 1
dataset:
  train: {NumpySlicesDataset: {data: [x.npy], column_names: [x]}}
datapipe: {batch: {batch_size: $1}, shuffle: false}
network:
  cells:
    wide: {Dense: {in_channels: 4500, out_channels: 2000, has_bias: false,
                   weight_init: zeros}}
    few: {Dense: {in_channels: 9, out_channels: 1, weight_init: zeros,
                  bias_init: zeros}}
  construct: |
    return wide(x[:, :4500]).sum(axis=1) + few(x[:, 4500:]).reshape((-1,))
loss: {inputs: [logits], construct: "return logits.sum()"}
optimizer: {SGD: {learning_rate: 1}}
train: {reduce_dtype: bfloat16}
END
}

# expected N MICRO FIRST COUNT: minus the sums of those columns of N processes,
# each of which adds up MICRO samples, one per micro-batch
expected() {
    perl -0777 -e 'my ($n, $micro, $first, $count, $double) = @ARGV;
        sub real { $double ? $_[0] : unpack "f", pack "f", $_[0] }
        sub rounded { # adds half a unit, or a bit less to what is even
            my $bits = unpack "L", pack "f", shift;
            $bits += 0x7fff + ($bits >> 16 & 1);
            unpack "f", pack "L", $bits & 0xffff0000 }
        my @x = unpack "f<*", substr <STDIN>, 128;
        for my $i ($first .. $first + $count - 1) {
            my $sum = 0;
            for my $r (0 .. $n - 1) {
                my $part = 0;
                $part = real $part + $x[4509 * ($n * $_ + $r) + $i]
                    for 0 .. $micro - 1;
                $sum = real $sum + rounded $part;
            }
            printf "%.9g\n", 0 - rounded($sum) / $micro;
        }' "$@" "$([[ $BUILD == *double* ]] && echo 1 || echo 0)" <x.npy
}

# row FILE NAME COUNT: the first of so many rows of a tensor, which are equal
row() {
    perl -0777 -e 'my ($name, $count) = @ARGV; $_ = <STDIN>;
        my $n = unpack "Q<", $_; my $head = substr $_, 8, $n;
        $head =~ /"\Q$name\E":\{"dtype":"(\w+)[^}]*"data_offsets":\[(\d+),(\d+)\]/
            or die;
        my $all = substr $_, 8 + $n + $2, $3 - $2;
        my $row = substr $all, 0, ($3 - $2) / $count;
        $all eq $row x $count or die "the rows of $name differ";
        printf "%.9g\n", unpack "f", pack "f", $_
            for unpack $1 eq "F64" ? "d<*" : "f<*", $row' "$2" "$3" <"$1"
}

@test "bfloat16: parts are rounded, added in order, and rounded once" {
    local n how
    for n in 2 3 4; do
        sums "$n" "$n"
        expected "$n" 1 0 4500 >row
        expected "$n" 1 4500 9 >few
        for how in shared messages; do
            mpi_by "$how" "$n" train c.yaml -q -o "$how" --force \
                --steps 1 >out
            row "$(last "$how")" wide.weight 2000 | cmp - row
            tensor "$(last "$how")" few.weight | cmp - few
            [ "$(tensor "$(last "$how")" few.bias)" = "-$n" ]
        done
        near "$(last shared)" "$(last messages)" 0
        mpi "$n" train c.yaml -q -o float32 --force --steps 1 \
            train.reduce_dtype=float32 >out
        tensor "$(last float32)" few.weight >got
        run ! cmp got few
    done
}

@test "bfloat16: accumulation rounds the sum over micro-batches" {
    local n how
    for n in 2 3; do
        sums "$n" $((2 * n))
        expected "$n" 2 4500 9 >few
        for how in shared messages; do
            mpi_by "$how" "$n" train c.yaml -q -o "$how" --force \
                --steps 1 train.grad_accumulation=2 >out
            tensor "$(last "$how")" few.weight | cmp - few
        done
        near "$(last shared)" "$(last messages)" 0
    done
}

# Each process updates a range of `a` and `b`: that the numbers are those of
# process 0 shows that all have the same sums.
@test "bfloat16: all processes have the same bytes, twice and by messages" {
    wide_network
    local n bf16=train.reduce_dtype=bfloat16
    for n in 2 3 4; do
        mpi "$n" train c.yaml -q -o whole --force --steps 22 $bf16 >out
        mpi "$n" train c.yaml -q -o again --force --steps 22 $bf16 >out
        cmp "$(last whole)" "$(last again)"
        mpi "$n" train c.yaml -q -o parts --force --steps 22 $bf16 \
            train.shard=optimizer >out
        near "$(last whole)" "$(last parts)" 0
        mpi_by messages "$n" train c.yaml -q -o parts --force \
            --steps 22 $bf16 train.shard=gradients >out
        near "$(last whole)" "$(last parts)" 0
        mpi "$n" train c.yaml -q -o float32 --force --steps 22 >out
        run ! near "$(last whole)" "$(last float32)" 1e-6
        near "$(last whole)" "$(last float32)" 3e-2
    done
}

@test "bfloat16: overflows are seen, all processes skip the same updates" {
    local run n scale='amp={level: O2, loss_scale: {DynamicLossScaler:
        {scale_value: 1.0e6, scale_factor: 2, scale_window: 100}}}'
    "$CELLRUN" train c.yaml -q -o one --steps 12 "$scale"
    for n in 2 3; do
        mpi "$n" train c.yaml -q -o many --force --steps 12 "$scale" \
            train.reduce_dtype=bfloat16 >out
        for run in one many; do
            jq -c 'select(.split == "overflow") | [.step, .loss_scale]' \
                $run/metrics.jsonl >$run.txt
        done
        [ -s one.txt ]
        diff one.txt many.txt
    done
}

@test "bfloat16: MPICH, the numbers of Open MPI" {
    command -v mpirun.mpich >/dev/null || skip 'no mpirun.mpich'
    [ -e "$BUILD/cellrun-mpi-mpich.so" ] || skip 'built without MPICH'
    mpi 3 train c.yaml -q -o a --steps 22 train.reduce_dtype=bfloat16 >out
    timeout 100 mpirun.mpich -n 3 "$CELLRUN" train c.yaml -q -o b --steps 22 \
        train.reduce_dtype=bfloat16 >out
    near "$(last a)" "$(last b)" 0
    CELLRUN_MPI=messages timeout 100 mpirun.mpich -n 3 "$CELLRUN" train \
        c.yaml -q -o b --force --steps 22 train.reduce_dtype=bfloat16 >out
    near "$(last a)" "$(last b)" 0
}

@test "bfloat16: no effect on one process" {
    "$CELLRUN" train c.yaml -q -o a --steps 5
    "$CELLRUN" train c.yaml -q -o b --steps 5 train.reduce_dtype=bfloat16
    near "$(last a)" "$(last b)" 0
}
