#!/usr/bin/perl
# tests/soak/random.pl: random small networks, each trained in several ways
# that must agree. What does not is kept, with its number; the same SEED makes
# the same networks anywhere.
#
#   N=200  SEED=1  BIG=0.1  AMP=0.3  WAYS='planned plan threads predict resume'
#   CELLRUN=build/cellrun   KEEP=.   (failed cases: KEEP/failed-NUMBER)
#   PLANS=build/plain/tests/soak/plans   (for `planned`)
#   KINDS='image line volume numbers tokens'   (of networks: random_nets.pl;
#   CELLRUN_PASSES, CELLRUN_ISA and CELLRUN_VERIFY hold for all runs)
#
#   planned  outputs, losses, gradients, parameters, statistics of the plans
#            that train, eval and predict run, against plans that keep every
#            value: plans.c does it, without a run, some 10,000 in a minute
#   plan     as planned, and op by op (--eager): the same losses, to rounding;
#            a build with REAL=double tells most
#   threads  by one thread and by three: the same bytes
#   predict  in batches of any size, and evaluated as planned and op by op
#   resume   at once, or ended early and killed on the way: the same bytes
#   ranks    by one process and by 2 to 4 of mpirun: the same losses, to
#            rounding; not in WAYS by default
#   trace    a batch in each mode, all gradients by plans of a run and op by op:
#            the same values, to rounding; not in WAYS by default
#   isa      a batch by generic, AVX2 and other instructions: the same values
#            and gradients, to rounding; not in WAYS by default;
#            a build with REAL=double tells most
#   gradcheck  gradients and finite differences, in a build with REAL=double;
#            not in WAYS by default
#   onnx     exported, and computed by onnxruntime; not in WAYS by default.
#            ORT: a Python that has onnx and onnxruntime
#
# A network is a text of cells and expressions on one value whose shape is
# known here. BIG is the part of them that is large enough for threads, AMP that
# of those without to_float that have low precision.
use strict;
use warnings;
use Cwd qw(getcwd realpath);
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use POSIX qw(ceil);

my ($count, $seed) = ($ENV{N} // 200, $ENV{SEED} // 1);
my $cellrun = realpath($ENV{CELLRUN} // 'build/cellrun');
my @ways = split ' ', $ENV{WAYS} // 'planned plan threads predict resume';
my $planned = grep { $_ eq 'planned' } @ways;
@ways = grep { $_ ne 'planned' } @ways;
my $plans = realpath($ENV{PLANS} // 'build/plain/tests/soak/plans');
my $keep = realpath($ENV{KEEP} // '.');
my $golden = realpath(dirname(__FILE__) . '/../golden');
my $nets = realpath(dirname(__FILE__) . '/random_nets.pl');
our $layouts = realpath(dirname(__FILE__) . '/random_layouts.pl');
my $double = `$cellrun version` =~ /float64/;
delete @ENV{qw(CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS)};
$| = 1;
chdir tempdir(CLEANUP => 1) or die;

sub one { $_[int rand @_] }
sub chance { rand() < $_[0] }
sub from { $_[0] + int rand($_[1] - $_[0] + 1) }
sub count { my $n = 1; $n *= $_ for @_; $n }

# ---- data ----

sub npy {
    my ($file, $type, $shape, @values) = @_;
    open my $f, '>:raw', $file or die "$file: $!";
    printf $f "\x93NUMPY\x01\x00\x76\x00%-117s\n",
        "{'descr': '$type', 'fortran_order': False, 'shape': ("
        . join('', map { "$_," } @$shape) . '), }';
    print $f pack($type eq '<i4' ? 'l<*' : 'f<*', @values);
    close $f or die "$file: $!";
}

# Both splits.
sub data {
    my ($tokens, $shape, $target, $classes) = @_;
    my %n = (t => from(20, 45), e => from(5, 20));
    for my $split (sort keys %n) {
        my @all = ($n{$split}, @$shape);
        npy("$split-x.npy", $tokens ? '<i4' : '<f4', \@all,
            map { $tokens ? int rand 7 : rand(2) - 1 } 1 .. count(@all));
        my @to = $target eq 'class' ? $all[0] : ($all[0], $classes);
        npy("$split-y.npy", $target eq 'class' ? '<i4' : '<f4', \@to,
            map { $target eq 'class' ? int rand $classes
                : $target eq 'sign'  ? one(-1, 1)
                : $target eq 'part'  ? rand
                :                      rand(2) - 1 } 1 .. count(@to));
    }
}

# ---- networks ----

our (@cells, @lines, @named, @points, $made, $big);
require $nets;

# ---- recipes ----

my ($case, $text, $steps, %tally);

sub loss {
    my ($classes, $two) = @_;
    my $more = $two ? 'more, ' : '';
    return ('class', "loss:\n  inputs: [logits, ${more}label]\n"
        . '  cells: {ce: {SoftmaxCrossEntropyWithLogits: {sparse: true, '
        . "reduction: none}}}\n  construct: |\n    l = ce(logits, label)\n"
        . '    return ' . one('mean(top_fraction(l, 0.7))', 'mean(l * l)',
            'sum(l) / shape(l, 0)', 'mean(2 * l - l)')
        . ($two ? one(' + 0.1 * mean(square(more))', ' + 0 * mean(more)') : '')
        . "\n") if $two || chance(.1);
    my ($target, $loss) = one((map { [class => 'CrossEntropyLoss'] } 1 .. 5),
        [class => '{CrossEntropyLoss: {label_smoothing: 0.1}}'],
        [class => '{CrossEntropyLoss: {reduction: sum}}'],
        [class => 'MultiMarginLoss'], [part => 'BCEWithLogitsLoss'],
        [sign => 'SoftMarginLoss'], [part => 'PoissonNLLLoss'],
        map { [real => $_] } qw(MSELoss L1Loss SmoothL1Loss HuberLoss RMSELoss)
        )->@*;
    return ($target, "loss: $loss\n");
}

sub optimizer {
    my ($steps) = @_;
    my ($name, $lr, $more) = one([SGD => .05, ''],
        [SGD => .05, ', momentum: 0.9'], [Adam => .003, ''],
        [SGD => .05, ', momentum: 0.9, nesterov: true'],
        [Momentum => .05, ', momentum: 0.9'],
        [Adam => .003, ', use_amsgrad: true'],
        [RMSProp => .002, ', centered: true'], [Adadelta => .5, ''],
        map { [$_ => .005, ''] } qw(AdamW AdamWeightDecay AdaMax Adagrad ASGD
            FTRL Lamb ProximalAdagrad Rprop SGD))->@*;
    my $rate = one(($lr) x 6, "[$lr, " . $lr / 2 . ']',
        "{CosineDecayLR: {max_lr: $lr, min_lr: 0.0, decay_steps: 9 steps}, "
        . 'warmup: 3 steps}',
        "{CyclicLR: {base_lr: 0.001, max_lr: $lr, step_size_up: 3 steps}}",
        "{ReduceLROnPlateau: {learning_rate: $lr, monitor: loss, patience: 1}}",
        "{OneCycleLR: {max_lr: $lr, total_steps: $steps steps}}");
    my $text = "$name: {learning_rate: $rate$more"
        . one('', '', ', weight_decay: 0.01')
        . (chance(.8) ? '' : ", group_params: [{params: '$named[-1].*', "
            . 'learning_rate: 0.02}]') . '}';
    $text = "LARS: {optimizer: {$text}, coefficient: 0.02}"
        if $name =~ /^(SGD|Momentum)$/ && chance(.1);
    return "optimizer: {$text}\n";
}

sub maybe { my $p = shift; chance($p) ? one(@_) : () }

sub recipe {
    my ($steps, $accumulation) = @_;
    my $text = 'train: {' . join(', ', "steps: $steps",
        "grad_accumulation: $accumulation",
        maybe(.3, 'clip: {norm: 1.0}', 'clip: {value: 0.1, tensor_norm: 0.5}'),
        maybe(.3, 'ema: {decay: 0.9}'), maybe(.15, 'grad_noise: {eta: 0.0001}'),
        maybe(.2, 'nan: skip', 'nan: fallback'),
        maybe(.1, 'early_stop: {monitor: loss, patience: 50}')) . "}\n";
    $text .= 'eval: {' . join(', ',
        'every: ' . one('1 epoch', map { "$_ steps" } 2 .. 4),
        maybe($text =~ /ema/ ? .5 : 0, 'use_ema: true'),
        maybe(.3, 'batch_size: ' . from(1, 9)),
        maybe(.3, 'first: true')) . "}\n";
    $text .= 'checkpoint: {every: '
        . one('1 epoch', map { "$_ steps" } 1 .. 3) . "}\n"
        . 'log: {every: 1 steps, grad_norm: ' . one(qw(true false)) . "}\n";
    if (chance(.3)) {
        my $all = one("$named[-1].*", '*.bias', '*.weight', '*.gamma',
            '*.beta', one(@named) . '.*', one(@named) . '.*');
        my $at = from(1, 5);
        $text .= "freeze:\n  patterns: ['$all']\n"
            . one('', "  bn_stats: frozen\n")
            . one('', "  schedule: [{at: $at steps, unfreeze: '*'}]\n");
    }
    if (chance(.3)) {
        my @w = map { "at: $_, hook: hook_backward, scale: 0.5" } @points;
        push @w, map { 'at: ' . one(@named) . ", $_" } one(
            'every: 2 steps, what: [output, grad]', 'hook: forward, scale: 0.5',
            'hook: backward_pre, clamp: [-0.01, 0.01]',
            'hook: backward, scale: 2',
            "hook: forward, construct: 'return output * 1.1'",
            "hook: backward, construct: 'return grad_input * 0.5'",
            'hook: backward_pre, zero: true') for 1 .. from(1, 3);
        $text .= "watch:\n" . join '', map { "  - {$_}\n" } @w;
    }
    $text .= 'amp: {level: ' . one(qw(O1 O2 O2 O3 auto)) . ', dtype: '
        . one(qw(float16 bfloat16))
        . one('', ", cast: {float32: ['$named[0]']}",
        one('', ', keep_batchnorm_fp32: ' . one(qw(true false)))
        . ', loss_scale: {DynamicLossScaleManager: {init_loss_scale: 1024, '
        . 'scale_window: 3}}') . "}\n"
        if chance($ENV{AMP} // .3) && !grep /to_float/, @cells;
    return $text;
}

# A metric that is a block, of the results and perhaps of the label.
sub maybe_metric {
    my ($two) = @_;
    return '' if chance(.8);
    return '{name: own, inputs: [y, ' . ($two ? 'z, ' : '')
        . 'label], construct: "' . one('return mean(square(y), -1)',
            'return max(y) - min(y)', 'return sum(softmax(y) * y, -1)')
        . '"}, ';
}

# A config in $text; its batch and what its data are.
sub config {
    (@cells, @lines, @named, @points) = ();
    ($made, $big) = (0, chance($ENV{BIG} // .1));
    my ($batch, $classes, $two) = ($big ? from(9, 20) : from(1, 8), from(2, 5),
        chance(.1));
    my ($tokens, $shape, $net) = network($classes, $two, $batch);
    my ($target, $loss) = loss($classes, $two);
    my ($accumulation, $split) = (one(1, 1, 1, 2, 3), '');
    $steps = from(4, 14);
    $split .= "  $_->[0]: {NumpySlicesDataset: {data: [$_->[1]-x.npy, "
        . "$_->[1]-y.npy], column_names: [x, label]}}\n"
        for [train => 't'], [eval => 'e'];
    $text = "cellrun: 1\nseed: " . from(1, 1000) . "\ndataset:\n$split"
        . "datapipe:\n  batch: {batch_size: $batch, drop_remainder: {train: "
        . one(qw(true false)) . ", eval: false}}\n  workers: " . one(0, 0, 1, 3)
        . "\n  shuffle: " . one('false', 'true', '{buffer_size: 7}') . "\n"
        . $net . $loss . optimizer($steps) . 'metrics: ['
        . ($target eq 'class' ? 'accuracy, ' : '')
        . maybe_metric($two) . "loss]\n"
        . recipe($steps, $accumulation);
    return ($batch, $tokens, $shape, $target, $classes);
}

# The config to the program of `planned`.
sub planned {
    my ($to, $batch, $tokens, $shape, $target, $classes) = @_;
    print $to "$case $batch x ", $tokens ? 7 : 'real', " @$shape label ",
        $target eq 'class' ? $classes : "$target $classes", ' text ',
        length $text, "\n$text" or die "$plans: $!";
}

# ---- runs ----


sub slurp { open my $f, '<', $_[0] or return ''; local $/; return <$f> // '' }

sub fail {
    my ($way, $what) = @_;
    my $to = "$keep/failed-$case";
    $tally{"failed: $way"}++;
    print "$case: $way: $what\n";
    mkdir $to;
    system 'cp', glob('*.npy'), 'c.yaml', $to;
    return;
}

our @mpirun;

# A run's status; what it prints is in NAME.out and NAME.err.
sub start {
    my ($name, @args) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    open STDOUT, '>', "$name.out";
    open STDERR, '>', "$name.err";
    exec @mpirun, $cellrun, @args;
}
sub run {
    waitpid start(@_), 0;
    return $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# Records without what is measured.
sub records {
    my $t = slurp("$_[0]/metrics.jsonl");
    $t =~ s/"t":[^,]*,|,"samples_per_s":[^,}]*//g;
    return split /\n/, $t;
}

sub losses {
    my %loss;
    for (records($_[0])) {
        $loss{"$1 $2"} = $3
            if /"step":(\d+).*"split":"(train|eval)".*"loss":([^,}]+)/;
    }
    return \%loss;
}

sub differ {
    my ($x, $y, $tolerance) = @_;
    return 0 if $x eq $y;
    return 1 if "$x $y" =~ /null|nan/i;
    return abs($x - $y) > $tolerance * (1 + abs $x);
}

# Whether run $other has the losses of run a, up to rounding.
sub as_planned {
    my ($way, $rc, $other_rc, $other) = @_;
    my $amp = $text =~ /^amp/m;
    return fail($way, "status $other_rc, $rc as planned")
        if $other_rc != $rc && !$amp;
    my ($p, $q) = (losses('a'), losses($other));
    for (sort keys %$p) {
        next if ($amp || !$double) && /^(\d+)/ && $1 > 3;
        return fail($way, "$_: $p->{$_}, not " . ($q->{$_} // 'none'))
            if differ($p->{$_}, $q->{$_} // 'null',
                $amp ? 0.1 : $double ? 1e-8 : 5e-3)
            && !($amp && "$p->{$_}" eq 'null');
    }
}

my @train = ('train', 'c.yaml', '-q');
my %way = (
    onnx => sub {
        return if $_[0];
        my $limit = $text =~ /^amp|to_float/m ? 0.05 : 1e-3;
        my @args = ("CELLRUN=$cellrun", $ENV{ORT} // 'python3',
            "$golden/check_onnx.py", '--limit', $limit, '--ckpt',
            'a/ckpt/last');
        my $what = `@args 2>&1`;
        return unless $?;
        return $tally{"without ONNX form: $1"}++
            if $what =~ /error: export to ONNX: op '(\w+)'/;
        fail('onnx', substr $what, -300);
    },
    trace => sub {
        my $low = $text =~ /^amp|to_float/m;
        my $near = $low ? 1e-2 : $double ? 1e-9 : 1e-3;
        my @tolerance = ('--rtol', $near, '--atol', $near);
        for my $mode ([], ['--eval'], ['--predict']) {
            my @args = ('trace', 'c.yaml', @$mode, '--grad', '--wrt', '*');
            for my $how ('--as-run', '--eager') {
                next if $how eq '--eager' ? $low : @$mode; # has none
                my $rc = run('i', @args, $how, '-o', 'i.safetensors')
                    || run('i', @args, '--against', 'i.safetensors',
                        @tolerance);
                fail("trace @$mode $how",
                    "status $rc: " . slurp('i.out') . slurp('i.err')) if $rc;
            }
        }
    },
    gradcheck => sub {
        # a bprop need not be the gradient; jumps have none
        return if !$double || $text =~ /m\d+: Own|Threshold|HShrink/;
        my $rc = run('g', 'gradcheck', 'c.yaml');
        my $what = slurp('g.out') . slurp('g.err');
        # one of 0, as of a bias before a norm, is nothing but rounding
        my @apart = grep { $_ > 1e-9 } $what =~ /^\S+ +(\S+) .*DIFFERS/mg;
        fail('gradcheck', "status $rc: $what")
            if @apart || $rc && $what !~ /DIFFERS/;
    },
    isa => sub {
        return if $text =~ /^amp|to_float/m; # one rounding apart is a kink
        my $rc = run('i', 'trace', 'c.yaml', '--grad', '-o', 'i.safetensors');
        return fail('isa', "status $rc: " . slurp('i.err')) if $rc;
        my $near = $double ? 1e-9 : 1e-3;
        for my $isa (qw(generic avx2)) {
            local $ENV{CELLRUN_ISA} = $isa;
            $rc = run('i', 'trace', 'c.yaml', '--grad', '--against',
                'i.safetensors', '--rtol', $near, '--atol', $near);
            fail("isa: $isa", slurp('i.out') . slurp('i.err')) if $rc;
        }
    },
    plan => sub {
        my $rc = run('e', @train, '-o', 'e', '--eager', '--threads', 1);
        as_planned('plan', $_[0], $rc, 'e');
    },
    ranks => sub {
        local @mpirun = (qw(mpirun.openmpi --allow-run-as-root --oversubscribe
            -n), from(2, 4));
        local $ENV{CELLRUN_MPI} = one('', 'messages');
        my $rc = run('m', @train, '-o', 'm', '--threads', 1);
        as_planned("ranks: $mpirun[-1] $ENV{CELLRUN_MPI}", $_[0], $rc, 'm');
    },
    threads => sub {
        my $rc = run('b', @train, '-o', 'b', '--threads', 3);
        return fail('threads', "status $rc, $_[0] by one") if $rc != $_[0];
        return fail('threads', 'records differ')
            if "@{[records('a')]}" ne "@{[records('b')]}";
        fail('threads', 'last.safetensors differs')
            if !$rc && system 'cmp -s [ab]/ckpt/last.safetensors';
    },
    predict => sub {
        # a mean over samples depends on the batch
        return if $_[0]
            || $text =~ /mean\(.*, axis=0[,)]|use_batch_statistics: true/;
        my @args = ('predict', '--ckpt', 'a/ckpt/last', 't-x.npy');
        my $n = from(1, 9);
        push @args, '--probs' if $text =~ /^loss: .*Entropy/m;
        my @rc = map { run($_->[0], @args, '--batch', $_->[1]) }
            [p => 999], [q => $n];
        return fail('predict', "status @rc: " . slurp('q.err'))
            if $rc[0] || $rc[1];
        my @p = split /\s+/, slurp('p.out');
        my @q = split /\s+/, slurp('q.out');
        for (0 .. $#p) {
            next if $p[$_] =~ /^\d+$|npy/ || $text =~ /^amp/m;
            return fail('predict', "batches of $n: $p[$_] and $q[$_]")
                if differ($p[$_], $q[$_] // 'null', 5e-3);
        }
        run('p', 'eval', '--ckpt', 'a/ckpt/last');
        run('q', 'eval', '--ckpt', 'a/ckpt/last', '--eager');
        my @e = map { slurp("$_.out") =~ /^loss: (.*)/m ? $1 : 'null' } qw(p q);
        fail('predict', "evaluated: @e")
            if differ(@e, 5e-3) && $text !~ /^amp/m;
        my $in_run = losses('a')->{"$steps eval"} // return;
        fail('predict', "evaluated: $e[0], $in_run by the run")
            if differ($e[0], $in_run, 1e-4);
    },
    resume => sub {
        return if $_[0];
        my ($cut, $at) = (chance(.5), from(1, $steps - 1));
        run('r', @train, '-o', 'r', "train.steps=$at") if $cut;
        my @args = (@train, '-o', 'r', '--resume', 'auto');
        for (1 .. from(1, 2) - $cut) {
            my $pid = start('r', @args);
            select undef, undef, undef, rand .06;
            kill one('KILL', 'INT', 'TERM'), $pid;
            waitpid $pid, 0;
        }
        my $rc = run('r', @args);
        return fail('resume', "status $rc from $at: " . slurp('r.err')) if $rc;
        # a run that was to end at $at was evaluated there, too
        my %other = map { $_ => 1 } grep { /"split":"train"/ } records('a');
        delete @other{records('r')};
        return fail('resume', "from $at: lost " . (sort keys %other)[0])
            if %other;
        return if $cut && $text =~ /Plateau|early_stop|fallback/;
        fail('resume', "from $at: last.safetensors differs") if system $cut
            ? "$cellrun ckpt diff a/ckpt/last r/ckpt/last >/dev/null 2>&1"
            : 'cmp -s [ar]/ckpt/last.safetensors';
    },
);

sub round {
    $case = shift;
    srand $case;
    my ($batch, @data) = config();
    planned($planned, $batch, @data) if $planned;
    return unless @ways;
    system 'rm -rf a b e m r *.npy';
    data(@data);
    open my $f, '>', 'c.yaml' or die "c.yaml: $!";
    print $f $text;
    close $f or die "c.yaml: $!";
    my $rc = run('a', @train, '-o', 'a', '--threads', 1);
    # a name that matches nothing, a value that is never used, a slice of none
    return $tally{refused}++ if $rc == 2 && slurp('a.err') =~ /: error: /;
    return fail('train', "status $rc: " . slurp('a.err')) if $rc && $rc != 5;
    $tally{trained}++;
    $way{$_}->($rc) for @ways;
}

if ($planned) {
    undef $planned;
    open $planned, '|-', $plans, $keep or die "$plans: $!";
}
round($_) for $seed .. $seed + $count - 1;
$tally{'failed: planned'}++ if $planned && !close $planned;
print join(', ', map { "$tally{$_} $_" } reverse sort keys %tally), "\n"
    if @ways;
exit(grep(/failed/, keys %tally) ? 1 : 0);
