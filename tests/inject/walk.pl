#!/usr/bin/perl
# walk.pl [-n MOST] [-j JOBS] [COMMAND:KIND...]
#
# Lets every call that the system may refuse fail once, one after the other,
# in a round of train, resume, eval and predict, and checks the results:
#
# - the exit status is 0, 1, 3 or 4 (2 for the config itself), and no signal;
# - 0 means that nothing was lost: the same results as undisturbed;
# - otherwise a message tells the reason, and no results are incomplete;
# - checkpoints of before are as they were, and no temporary files are left;
# - the same command continues without the failure: the same bytes as
#   undisturbed, checkpoints and records.
#
# -n: of the calls of a kind at most that many, evenly spread. Prints TAP, one
# line for each kind, and what the failures led to.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use Getopt::Std;
use POSIX qw(strerror _exit);

my %opt = (n => 1e9, j => 1);
getopts('n:j:', \%opt) or exit 2;
my $cellrun = $ENV{CELLRUN} or die "CELLRUN is not set\n";
my $build = $ENV{BUILD} or die "BUILD is not set\n";
my $inject = "$build/tests/inject/inject.so";
my $here = dirname(abs_path($0));
my $top = tempdir(CLEANUP => 1);
my $main = $$;
delete $ENV{$_} for qw(CELLRUN_SET CELLRUN_DATA CELLRUN_RUNS CELLRUN_THREADS);

my %error = (open => 'EMFILE', read => 'EIO', write => 'ENOSPC',
    sync => 'EIO', rename => 'EIO', link => 'EPERM', unlink => 'EIO',
    mkdir => 'ENOSPC', truncate => 'EIO', allocate => 'ENOSPC',
    close => 'EIO', flush => 'ENOSPC', stat => 'EIO', folder => 'EMFILE',
    entry => 'EIO',
    flock => 'ENOLCK', mmap => 'ENOMEM', malloc => 'ENOMEM',
    thread => 'EAGAIN');
my @kinds = qw(open read write sync rename link unlink mkdir truncate allocate
    close flush stat folder entry flock mmap malloc thread);

my $config = "$top/c.yaml";
my %command = (
    train => ['train', $config, '-o', 'r', '-q', '--resume', 'auto',
        '--threads', '1'],
    # a folder of images, decoded into a cache on disk
    images => ['train', "$top/i.yaml", '-o', 'r', '-q', '--resume', 'auto',
        '--threads', '1'],
    resume => ['resume', 'r', '-q', '--trust', '--epochs', '3', '--threads', '1'],
    force => ['train', $config, '-o', 'r', '-q', '--force', '--threads', '1'],
    eval => ['eval', '--ckpt', "$top/a", '--json', '--threads', '1'],
    predict => ['predict', '--ckpt', "$top/a", "$top/eval-x.npy", '-o',
        'p.tsv', '--threads', '1'],
);
my @commands = qw(train images resume force eval predict);

sub slurp {
    open my $f, '<:raw', $_[0] or return undef;
    local $/;
    scalar <$f>;
}

sub spew {
    open my $f, '>', $_[0] or die "$_[0]: $!\n";
    print $f $_[1];
    close $f or die;
}

# Records without what is measured.
sub records {
    my $text = slurp("$_[0]/metrics.jsonl") // '';
    $text =~ s/"t":[^,]*,//g;
    $text =~ s/,"samples_per_s.*//gm;
    $text;
}

# Runs the program in a folder; the status as the shell has it.
sub run {
    my ($dir, $env, @args) = @_;
    my $pid = fork // die;
    if (!$pid) {
        chdir $dir;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', 'out';
        open STDERR, '>', 'err';
        @ENV{keys %$env} = values %$env;
        $ENV{LD_PRELOAD} = $inject if %$env;
        exec { $cellrun } $cellrun, @args or _exit(127);
    }
    waitpid $pid, 0;
    $? & 127 ? 128 + ($? & 127) : $? >> 8;
}

# The folder that a command starts in.
sub prepare {
    my ($command, $dir) = @_;
    system('rm', '-rf', $dir);
    mkdir $dir or die;
    system('cp', '-r', "$top/b", "$dir/r") if $command =~ /resume|force/;
    spew("$dir/p.tsv", "old\n") if $command eq 'predict';
}

# Whether a folder has the results of an undisturbed run; else what differs.
sub undone {
    my ($dir, $command) = @_;
    my $whole = $command eq 'images' ? "$top/i" : "$top/a";
    for my $f ('ckpt/last.safetensors', 'ckpt/best.safetensors') {
        my $got = slurp("$dir/r/$f") // return "$f is missing";
        return "$f differs" if $got ne slurp("$whole/$f");
    }
    records("$dir/r") eq records($whole) ? '' : 'metrics.jsonl differs';
}

# What is wrong after a failure, '' if nothing is.
sub check {
    my ($command, $kind, $dir, $status) = @_;
    my ($out, $err) = map { slurp("$dir/$_") // '' } qw(out err);
    my $log = slurp("$dir/log") // '';
    my ($path) = $log =~ /^failed \S+ (.*)$/m;
    my $trains = $command !~ /eval|predict/;
    $path //= '';

    return "status $status" if $status > 4;
    if ($status == 2) {
        return "status 2 for $path" if $path !~ /[ci]\.yaml|memory|^$/ &&
            $err !~ /E0502/;
    }
    if ($command eq 'predict') {
        my $p = slurp("$dir/p.tsv") // 'nothing';
        # rows of readable inputs remain although another input was not readable
        return 'p.tsv is not complete' if $p ne "old\n" &&
            ($status == 3 ? index(slurp("$top/p.tsv"), $p) != 0
                          : $p ne slurp("$top/p.tsv"));
        return 'status 0 without p.tsv' if $status == 0 && $p eq "old\n";
    } elsif ($command eq 'eval') {
        return 'status 0 with other results'
            if $status == 0 && $out ne slurp("$top/e");
    } elsif ($status == 0) {
        my $undone = undone($dir, $command);
        return "status 0, but $undone" if $undone;
    }
    if ($status != 0) {
        no strict 'refs';
        my $why = strerror(&{"POSIX::$error{$kind}"}());
        return 'no message' if $err !~ /error: |"severity": "error"/;
        return "no reason ('$why')" if index($err, $why) < 0 &&
            # what cannot be looked up is not trusted, which is an answer too
            $err !~ /out of memory|E0306/;
    }
    if ($command eq 'resume' && $err !~ /trying the previous checkpoint/) {
        for (glob "$top/b/ckpt/c-*") {
            my $f = basename($_);
            return "$f is not what it was"
                if (slurp("$dir/r/ckpt/$f") // '') ne slurp($_);
        }
    }
    if ($kind ne 'unlink') {
        my @left = grep { !/lock\.tmp/ } glob "$dir/{,r/,r/ckpt/}.*.tmp.*";
        return "left @left" if @left;
    }
    return '' if !$trains;
    # the next try meets nothing wrong
    my $next = run($dir, {}, @{$command{$command eq 'images' ? $command
                                      : 'train'}});
    return "then status $next: " . slurp("$dir/err") if $next != 0;
    my $undone = undone($dir, $command);
    return $undone ? "then $undone" : '';
}

# Walks the calls of a kind in a command; prints what came of them for the
# parent: lines of `STATUS` and `bad TEXT`.
sub walk {
    my ($command, $kind, $calls, $to) = @_;
    my $dir = "$top/$command-$kind";
    my $most = $calls < $opt{n} ? $calls : $opt{n};
    for my $i (1 .. $most) {
        my $at = $most == $calls ? $i
               : 1 + int(($i - 0.5) * $calls / $most);
        prepare($command, $dir);
        my $status = run($dir, { INJECT_KIND => $kind, INJECT_AT => $at,
            INJECT_LOG => "$dir/log" }, @{$command{$command}});
        my ($path) = (slurp("$dir/log") // '') =~ /^failed \S+ (.*)$/m;
        my $err = slurp("$dir/err") // '';
        my $bad = check($command, $kind, $dir, $status);
        $path //= '?';
        print $to "$status\n";
        next if $bad eq '';
        $err =~ s/^/#     /gm;
        print $to "bad $command: $kind $at of $calls ($path): status "
            . "$status, $bad\n$err";
    }
    system('rm', '-rf', $dir);
}

# ---- The undisturbed runs

system('bash', '-c', ". '$here/../cli/small.bash'; cd '$top' && "
    . 'config c.yaml && sed -i "s/accuracy, //" c.yaml && '
    . ". '$here/../cli/images.bash' && folder images 3 6 6") == 0 or die;
spew("$top/i.yaml", <<'END');
cellrun: 1
dataset:
  train: {ImageFolderDataset: {dataset_dir: images}}
  eval: {ImageFolderDataset: {dataset_dir: images}}
datapipe:
  cache: disk
  workers: 0
  image: [{Rescale: {rescale: 0.004, shift: 0.0}}, HWC2CHW]
  label: [{TypeCast: int32}]
  batch: {batch_size: 3}
network:
  flatten: Flatten
  fc: {Dense: {out_channels: 3}}
loss: CrossEntropyLoss
optimizer: {Momentum: {learning_rate: 0.001, momentum: 0.9}}
metrics: [loss]
train: {epochs: 3}
END
for ([qw(a c 3)], [qw(b c 2)], [qw(i i 3)]) {
    my ($name, $file, $epochs) = @$_;
    run($top, {}, 'train', "$top/$file.yaml", '-o', $name, '-q', '--epochs',
        $epochs, '--threads', '1') == 0 or die slurp("$top/err");
}
run($top, {}, @{$command{eval}}) == 0 or die;
rename "$top/out", "$top/e";
run($top, {}, @{$command{predict}}) == 0 or die slurp("$top/err");

my %calls;
for my $command (@commands) {
    my $dir = "$top/count";
    prepare($command, $dir);
    run($dir, { INJECT_LOG => "$dir/log" }, @{$command{$command}}) == 0
        or die slurp("$dir/err");
    for (split /\n/, slurp("$dir/log")) {
        my ($kind, $n) = split / /;
        $calls{$kind}{$command} = $n;
    }
}

# ---- The walk

my @jobs;
for my $kind (@kinds) {
    for my $command (@commands) {
        next if @ARGV && !grep { "$command:$kind" =~ /^$_$/ } @ARGV;
        push @jobs, [$command, $kind] if $calls{$kind}{$command};
    }
}
my %running;
for my $job (@jobs, map { undef } 1 .. $opt{j}) {
    if (keys %running >= $opt{j} || !$job) {
        last if !%running;
        delete $running{wait()};
    }
    next if !$job;
    my $pid = fork // die;
    if (!$pid) {
        open my $to, '>', "$top/result-$job->[1]-$job->[0]" or die;
        walk(@$job, $calls{$job->[1]}{$job->[0]}, $to);
        close $to;
        _exit(0);
    }
    $running{$pid} = 1;
}
1 while wait() > 0;

# ---- The outcome

my ($n, $failed) = (0, 0);
for my $kind (@kinds) {
    next if !grep { $_->[1] eq $kind } @jobs;
    my (%status, $bad, $walked);
    for (map { split /^/ } map { slurp($_) } glob "$top/result-$kind-*") {
        if (/^(\d+)$/) {
            $status{$1}++;
            $walked++;
        } else {
            $bad .= /^bad/ ? "# $_" : $_;
        }
    }
    $n++;
    $failed += !!$bad;
    print $bad ? 'not ' : '', "ok $n - $kind calls that fail\n";
    print $bad if $bad;
    print "# $kind: $walked calls; ", join(', ',
        map { "status $_: $status{$_}" } sort keys %status), "\n";
}
print "1..$n\n";
END { $? = 1 if $$ == $main && $failed }
