# Optimizers in a run: groups, slots in checkpoints, resuming.
bats_require_minimum_version 1.5.0
set -o pipefail

setup() {
    . "$BATS_TEST_DIRNAME/small.bash"
    cd "$BATS_TEST_TMPDIR"
    unset CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS
    config c.yaml
}

# all OPTIMIZER...: a run in one, one in parts, one op by op, on more threads
all() {
    local o

    for o; do
        rm -rf a b e
        "$CELLRUN" train c.yaml -o a -q --epochs 2 checkpoint.every=7 \
            "optimizer=$o" --threads 1 || { echo "$o"; return 1; }
        cp -r a b
        rm b/ckpt/last.safetensors b/ckpt/best.safetensors b/ckpt/c-2_*
        sed -i 's/"completed"/"running"/' b/record.json
        "$CELLRUN" resume b -q --threads 3 --trust >/dev/null
        cmp a/ckpt/last.safetensors b/ckpt/last.safetensors || {
            echo "$o"
            return 1
        }
        "$CELLRUN" trace c.yaml --step=3 "optimizer=$o" -o p.safetensors
        "$CELLRUN" trace c.yaml --step=3 "optimizer=$o" --eager \
            --against p.safetensors --rtol 1e-5 --atol 1e-6 -o q.safetensors ||
            { echo "$o"; return 1; }
    done
}

@test "every optimizer resumes to the same bytes; fused is unfused" {
    all '{Adam: {learning_rate: 0.01}}' \
        '{Adam: {learning_rate: 0.01, use_amsgrad: true, weight_decay: 0.1}}' \
        '{AdamWeightDecay: {learning_rate: 0.01, weight_decay: 0.1}}' \
        '{AdamW: {learning_rate: 0.01, amsgrad: true}}' \
        '{AdaMax: {learning_rate: 0.01}}' \
        '{Adagrad: {learning_rate: 0.01}}' \
        '{Adadelta: {learning_rate: 1.0}}' \
        '{RMSProp: {learning_rate: 0.01, momentum: 0.9, centered: true}}' \
        '{Rprop: {learning_rate: 0.01}}' \
        '{ASGD: {learning_rate: 0.1, t0: 3.0}}' \
        '{FTRL: {learning_rate: 0.01, l1: 0.01}}' \
        '{ProximalAdagrad: {learning_rate: 0.01, l1: 0.01}}' \
        '{Lamb: {learning_rate: 0.01, weight_decay: 0.1}}' \
        '{LARS: {optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}}}'
}

@test "slots are in checkpoints under MindSpore's names" {
    "$CELLRUN" train c.yaml -o a -q --epochs 1 \
        'optimizer={Adam: {use_amsgrad: true}}'
    for name in moment1 moment2 vhat; do
        grep -aq "\"$name.fc.weight\":" a/ckpt/last.safetensors
        grep -aq "\"$name.out.bias\":" a/ckpt/last.safetensors
    done
}

@test "groups: rates and weight decay of their own, the first that matches" {
    sgd() {
        "$CELLRUN" trace c.yaml --step "optimizer={SGD: {learning_rate: 0.1, weight_decay: 0.5$1}}" \
            -o "$2"
    }
    sgd '' plain.safetensors
    sgd ', group_params: [{params: "fc.*", learning_rate: 0.1}]' \
        same.safetensors
    "$CELLRUN" trace c.yaml --step 'optimizer={SGD: {learning_rate: 0.1, weight_decay: 0.5}}' \
        --against same.safetensors -o x.safetensors
    # both say fc.bias; the first group has it
    sgd ', group_params: [{params: "fc.bias", learning_rate: 0.0, weight_decay: 0.0}, {params: "fc.*", weight_decay: 0.0}, {params: "out.*", learning_rate: [0.2]}]' \
        parts.safetensors
    run -6 "$CELLRUN" trace c.yaml --step 'optimizer={SGD: {learning_rate: 0.1, weight_decay: 0.5}}' \
        --against parts.safetensors -o x.safetensors
    [[ $output == *"differ: 4"* ]]
    "$CELLRUN" trace c.yaml --grad -o g.safetensors
    perl -MJSON::PP - <<'END'
sub tensors {
    open my $f, '<:raw', "$_[0].safetensors" or die;
    local $/;
    my $data = <$f>;
    my $n = unpack 'Q<', $data;
    my $head = decode_json substr $data, 8, $n;
    my %out;
    for (grep { !/^__/ } keys %$head) {
        my ($from, $to) = @{ $head->{$_}{data_offsets} };
        my $kind = { F32 => 'f', F64 => 'd' }->{ $head->{$_}{dtype} } or next;
        $out{$_} = [unpack "$kind*", substr $data, 8 + $n + $from, $to - $from];
    }
    return \%out;
}
my ($g, $plain, $parts) = map { tensors($_) } qw(g plain parts);
for my $p (qw(fc.weight fc.bias out.weight out.bias)) {
    for my $i (0 .. $#{ $g->{"grad.$p"} }) {
        my $d = $g->{"grad.$p"}[$i];
        my $w = ($plain->{"param.$p"}[$i] + 0.1 * $d) / 0.95; # before
        my $want = $p eq 'fc.bias' ? $w : $p eq 'fc.weight' ? $w - 0.1 * $d
            : $w - 0.2 * ($d + 0.5 * $w);
        die "$p $i" if abs($parts->{"param.$p"}[$i] - $want) > 1e-5;
    }
}
END
}

@test "summary shows the groups; errors of a group are reported" {
    o='optimizer.group_params=[{params: "*.bias", weight_decay: 0}, {params: [fc.*, out.weight]}]'
    run -0 "$CELLRUN" summary c.yaml "$o"
    [[ $output == *"group 1: 2 parameters: *.bias"* ]]
    [[ $output == *"group 2: 2 parameters: fc.* out.weight"* ]]
    run -2 "$CELLRUN" check c.yaml \
        'optimizer.group_params=[{params: "fd.*"}]'
    [[ $output == *"'fd.*' matches no parameter"* ]]
    run -2 "$CELLRUN" check c.yaml 'optimizer.group_params=[{params: "fc.*", lr: 1}]'
    [[ $output == *learning_rate* ]]
    run -2 "$CELLRUN" check c.yaml 'optimizer.group_params=[{weight_decay: 1}]'
    [[ $output == *"'params' is missing"* ]]
    run -2 "$CELLRUN" check c.yaml 'optimizer.group_params=fc.*'
    [[ $output == *"expected a list of {params: PATTERNS"* ]]
}

@test "arguments that do not go together: where the command line sets one" {
    printf 'base: c.yaml\noptimizer: {SGD: {learning_rate: 0.05}}\n' >s.yaml
    for set in optimizer.SGD.nesterov=true optimizer.nesterov=true; do
        run -2 --separate-stderr "$CELLRUN" check s.yaml $set \
            optimizer.learning_rate=0.1
        [[ ${stderr_lines[0]} == "command line, argument 3: error: nesterov of SGD requires momentum above 0 and dampening 0 [E0016]" ]]
        [[ ${stderr_lines[1]} == *"$set" ]]
    done
    # of arguments in the file it is the optimizer
    run -2 --separate-stderr "$CELLRUN" check c.yaml \
        'optimizer=!replace {SGD: {learning_rate: 0.1, nesterov: true}}'
    [[ ${stderr_lines[2]} == *"             ^^^^^^^^^^" ]]
    for name in Adam LazyAdam; do
        run -2 --separate-stderr "$CELLRUN" check c.yaml \
            "optimizer=!replace {$name: {learning_rate: 0.1}}" \
            optimizer.beta1=1
        [[ ${stderr_lines[0]} == "command line, argument 4: error: beta1 and beta2 of $name: expected numbers below 1 [E0006]" ]]
    done
}

@test "weight decay spares gamma and beta, but not in FTRL and AdamW, as in MindSpore" {
    decays() {  # whether gamma changes by it
        "$CELLRUN" trace n.yaml --step "optimizer={$1: {learning_rate: 0.1}}" \
            -o without.safetensors
        "$CELLRUN" trace n.yaml --step -o with.safetensors \
            "optimizer={$1: {learning_rate: 0.1, weight_decay: 0.5}}"
        [ "$(tensor without.safetensors param.norm.gamma | od -c)" != \
            "$(tensor with.safetensors param.norm.gamma | od -c)" ]
    }

    cat >n.yaml <<'END'
base: c.yaml
network: !replace
  fc: {Dense: [8, 16]}
  norm: LayerNorm
  out: {Dense: [16, 3]}
END
    decays FTRL
    decays AdamW
    for o in SGD Adagrad ProximalAdagrad Adadelta AdaMax Adam RMSProp \
        AdamWeightDecay ASGD; do
        ! decays "$o" || { echo "$o"; return 1; }
    done
}
