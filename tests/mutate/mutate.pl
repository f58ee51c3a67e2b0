#!/usr/bin/perl
# tests/mutate/mutate.pl: does the suite notice when the code is wrong?
#
# Changes one place of a source at a time in a copy of the working tree, builds
# the copy and runs the tests that reach the changed line, the quickest first,
# until one fails. A change that no test notices lives, and is shown. It is
# called by `make mutate`:
#
#   DIR='src/ckpt src/data'  folders or files to change
#   N=50  SEED=1             how many of the possible changes; which ones
#   BUDGET=120               seconds of tests for one change, at most
#   ONLY='ckpt.bats t_ckpt'  tests to know of (all)
#
# The tests that reach a line are told by gcov: the first call builds the copy
# with counters and runs each test once. Delete build/mutate to do so again.
# A change that leaves the compiler's output as it is, or does not compile, is
# replaced by another.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Path qw(make_path remove_tree);
use JSON::PP;
use POSIX qw(:sys_wait_h);
use Storable qw(nstore retrieve);
use Time::HiRes qw(time);

chdir dirname($0) . '/../..' or die $!;
my $dir = $ENV{DIR} // 'src/ckpt src/train src/net src/data';
my $number = $ENV{N} // 50;
my $seed = $ENV{SEED} // 1;
my $budget = $ENV{BUDGET} // 120;
my $cc = $ENV{CC} // 'cc';
my $ours = $ENV{OURS} // die "OURS is not set: call make mutate\n";
my $libs = $ENV{LDLIBS} // '';
my $jobs = $ENV{JOBS} // 2;
my $work = abs_path('.') . '/build/mutate';
my $flags = "-O1 -fPIC -w -DCR_FLAGS='\"mutate\"' -Itests";
$| = 1;

sub sh { system('bash', '-c', $_[0]) == 0 or die "failed: $_[0]\n" }

# ---- building: all parts in one library, so that one link serves all programs

sub programs {
    map { (my $n = $_) =~ s/\.c$//; $n }
        glob('tests/unit/t_*.c tests/cases/t_*.c tests/fuzz/fuzz_*.c');
}

sub library {
    my ($to) = @_;
    my @parts = grep { !m{/main\.o$} } glob("$to/src/*.o $to/src/*/*.o");
    return "$cc -shared -o $to/libcr.so.new @parts -Wl,--as-needed $libs" .
        " \$LINK && mv $to/libcr.so.new $to/libcr.so";
}

# Compiles the copy into the folder; further flags are for the sources.
sub build {
    my ($to, $more) = @_;
    my @all = glob('src/*.c src/*/*.c tests/unit/t_*.c tests/cases/t_*.c ' .
                   'tests/fuzz/*.c');

    make_path(map { "$to/" . dirname($_) } @all);
    open my $list, '>', "$to/commands" or die $!;
    for my $file (@all) {
        (my $object = "$to/$file") =~ s/c$/o/;
        my $own = $file =~ m{^src/} ? $more : '';
        print $list "$cc $ours $flags $own -c $file -o $object\n";
    }
    close $list;
    sh("xargs -P $jobs -d '\\n' -n 1 bash -c <$to/commands");
    local $ENV{LINK} = $more;
    sh(library($to));
    my $with = "$to/libcr.so -Wl,-rpath,$to -Wl,--as-needed $libs $more";
    sh("$cc -o $to/cellrun $to/src/main.o $with");
    sh("$cc -o $to/digits datasets/digits.c -std=c17 -D_GNU_SOURCE -lz -lm");
    for my $p (programs()) {
        my $main = $p =~ /fuzz_/ ? "$to/tests/fuzz/replay.o" : '';
        sh("$cc -o $to/$p $to/$p.o $main $with");
    }
}

# ---- tests

# Runs one; returns whether it passes.
sub passes {
    my ($test, $build, $seconds) = @_;
    my $command = $test =~ /\.bats$/ ? "bats --tap $test" : "$build/$test";
    my $limits = 'ulimit -v 16000000 -f 2000000 -t ' . int(60 + $seconds);
    my $pid = fork // die $!;

    if ($pid == 0) {
        setpgrp;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>', "$build/said";
        open STDERR, '>&', \*STDOUT;
        @ENV{qw(CELLRUN BUILD CC OURS)} =
            ("$build/cellrun", $build, $cc, $ours);
        exec 'bash', '-c', "$limits; exec timeout -k 5 " .
            int(60 + 5 * $seconds) . " $command";
    }
    waitpid $pid, 0;
    my $status = $?;
    kill 'KILL', -$pid; # what it left behind
    return $status == 0;
}

sub tests {
    my @all = (programs(), sort glob('tests/cli/*.bats'));
    my @only = split ' ', $ENV{ONLY} // '';
    return @only ? grep { my $t = $_; grep { $t =~ m{/\Q$_\E$} } @only } @all
                 : @all;
}

# ---- which tests reach which lines: {file}{line} = [tests], and their seconds

sub reach {
    my $cov = "$work/cov";
    my (%line, %seconds);

    return retrieve("$work/reach") if -e "$work/reach";
    build($cov, '--coverage');
    for my $test (tests()) {
        my $to = "$cov/gcda";
        my $start = time;

        remove_tree($to);
        local $ENV{GCOV_PREFIX} = $to;
        my $good = passes($test, $cov, 600);
        $seconds{$test} = time - $start;
        printf "%s %s %.1f s\n", $good ? 'ok' : 'FAILS', $test, $seconds{$test};
        next if !$good;
        my @counts = glob("$to$cov/src/*.gcda $to$cov/src/*/*.gcda");
        next if !@counts;
        for my $c (@counts) {
            (my $note = $c) =~ s/gcda$/gcno/;
            symlink substr($note, length $to), $note;
        }
        open my $gcov, '-|', 'gcov', '-t', '-j', @counts or die $!;
        while (my $text = <$gcov>) {
            for my $file (@{ decode_json($text)->{files} }) {
                next if $file->{file} !~ /^src/;
                for my $l (@{ $file->{lines} }) {
                    my $tests = $line{ $file->{file} }{ $l->{line_number} } //= [];
                    push @$tests, $test
                        if $l->{count} > 0 && !grep { $_ eq $test } @$tests;
                }
            }
        }
        close $gcov;
    }
    remove_tree($cov);
    my $reach = { line => \%line, seconds => \%seconds };
    nstore($reach, "$work/reach");
    return $reach;
}

# ---- changes

# [what, pattern, replacement]; $1 and $2 stay around it.
my @operators = (
    map({ my ($a, $b) = @$_; ["$a to $b", qr/(?<= )\Q$a\E(?= )/, $b] }
        ['<', '<='], ['<=', '<'], ['>', '>='], ['>=', '>'], ['==', '!='],
        ['!=', '=='], ['+', '-'], ['-', '+'], ['*', '+'], ['/', '*'],
        ['&&', '||'], ['||', '&&'], ['+=', '-='], ['-=', '+=']),
    map({ my ($a, $b) = @$_; ["$a to $b", qr/(?<![\w.])\Q$a\E(?![\w.])/, $b] }
        ['0', '1'], ['1', '0'], ['true', 'false'], ['false', 'true']),
    ['condition negated', qr/(?<=^if )\((.*)\)(?=( \{)?$)/, sub { "(!($1))" }],
    ['condition negated', qr/!(?=[\w(])/, ''],
    ['statement left out', qr/^(?!return|break|continue|goto|for|if|while|case|
        do|else|static|const|struct|enum|int|bool|char|double|void|size_t|
        int64_t|default)[a-z*][^;]*(=|\().*;$/x, ';'],
    ['no break', qr/^(break|continue);$/, ';'],
);

# A line with blanks where texts and comments stand.
sub bare {
    my ($text, $in) = @_;
    if ($$in) {
        return ' ' x length $text if $text !~ m{\*/};
        $text =~ s{^(.*?\*/)}{' ' x length $1}e;
        $$in = 0;
    }
    $text =~ s{("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|/\*.*?\*/)}
              {'_' x length $1}ge;
    if ($text =~ s{(/\*.*)$}{' ' x length $1}e) { $$in = 1 }
    return $text;
}

# All changes of a file: [file, line, what, old, new].
sub changes {
    my ($file) = @_;
    my ($body, $comment, @found) = (0, 0);
    my $table = 0;
    open my $in, '<', $file or die "$file: $!";
    my @lines = <$in>;
    my $open = 0; # brackets that earlier lines have opened
    for my $i (0 .. $#lines) {
        my $old = $lines[$i];
        chomp $old;
        my $text = bare($old, \$comment);
        $body = 1 if $text =~ /^\{/;
        if ($text =~ /^\}/) { $body = 0; $open = 0 }
        # what stands in tables is data; assertions guard what cannot be
        $table = 1 if $text =~ /\bstatic const\b.*=|\benum \{/;
        my $skip = $table || !$body || $text =~ /^#|\bassert|^\s*case /;
        $table = 0 if $table && $text =~ /;\s*$/;
        my $inside = $open;
        $open += ($text =~ tr/(//) - ($text =~ tr/)//);
        next if $skip;
        my $lead = $text =~ /^(\s*)/ ? length $1 : 0;
        my $rest = substr $text, $lead;
        for my $op (@operators) {
            my ($what, $pattern, $to) = @$op;
            next if $what =~ /left out|no break/ && ($inside || $open);
            while ($rest =~ /$pattern/g) {
                my ($from, $end) = ($-[0], $+[0]);
                # the text itself, not its blanks
                my $piece = substr $old, $lead + $from, $end - $from;
                my $new = ref $to ? '(!' . $piece . ')' : $to;
                my $line = $old;
                substr $line, $lead + $from, $end - $from, $new;
                push @found, [$file, $i + 1, $what, $old, $line];
            }
        }
    }
    return @found;
}

sub put_line {
    my ($file, $n, $text) = @_;
    open my $in, '<', $file or die $!;
    my @lines = <$in>;
    close $in;
    $lines[$n - 1] = "$text\n";
    open my $out, '>', $file or die $!;
    print $out @lines;
    close $out or die $!;
}

# ---- the campaign

if (!-e "$work/tree") {
    make_path("$work/tree");
    sh("git ls-files -z --cached --others --exclude-standard |" .
       " xargs -0 cp --parents -t $work/tree");
    sh("cp -r datasets/digits $work/tree/datasets");
}
chdir "$work/tree" or die $!;
my $reach = reach();
my $obj = "$work/obj";
build($obj, '') if !-e "$obj/cellrun";

my @all;
for my $path (split ' ', $dir) {
    push @all, changes($_) for -d $path ? sort glob("$path/*.c") : $path;
}
srand $seed;
for (my $i = @all; --$i > 0;) {
    my $j = int rand($i + 1);
    @all[$i, $j] = @all[$j, $i];
}
printf "%d changes are possible in %s\n", scalar @all, $dir;

my (%made, %caught);
my $made = 0;
for my $c (@all) {
    my ($file, $n, $what, $old, $new) = @$c;
    (my $object = "$obj/$file") =~ s/c$/o/;
    my $folder = dirname($file);
    my @tests = sort { $reach->{seconds}{$a} <=> $reach->{seconds}{$b} }
        @{ $reach->{line}{$file}{$n} // [] };

    last if $made == $number;
    # a line without code is of the statement that begins above it
    for (my $up = $n - 1; $up > $n - 6 && !exists $reach->{line}{$file}{$n};
         $up--) {
        next if !exists $reach->{line}{$file}{$up};
        @tests = sort { $reach->{seconds}{$a} <=> $reach->{seconds}{$b} }
            @{ $reach->{line}{$file}{$up} };
        last;
    }
    put_line($file, $n, $new);
    my $good = system("$cc $ours $flags -c $file -o $object.new 2>/dev/null")
        == 0;
    put_line($file, $n, $old);
    next if !$good || system('cmp', '-s', $object, "$object.new") == 0;
    rename $object, "$object.old" or die $!;
    rename "$object.new", $object or die $!;
    local $ENV{LINK} = '';
    sh(library($obj));
    my ($by, $spent, $run) = (undef, 0, 0);
    for my $test (@tests) {
        my $start = time;
        last if $run && $spent + $reach->{seconds}{$test} > $budget;
        $run++;
        my $pass = passes($test, $obj, $reach->{seconds}{$test});
        $spent += time - $start;
        if (!$pass) {
            $by = $test;
            last;
        }
    }
    rename "$object.old", $object or die $!;
    $made++;
    $made{$folder}++;
    $caught{$folder}++ if $by;
    (my $was = $old) =~ s/^\s+//;
    (my $is = $new) =~ s/^\s+//;
    printf "%s %s:%d: %s%s\n", $by ? 'caught' : 'LIVES ', $file, $n, $what,
        $by ? " ($by)" : sprintf(' (%d of %d tests)', $run, scalar @tests);
    print "    $was\n    $is\n" if !$by;
}
local $ENV{LINK} = '';
sh(library($obj));
my $sum = 0;
for my $folder (sort keys %made) {
    my $n = $caught{$folder} // 0;
    $sum += $n;
    printf "%s: %d of %d caught\n", $folder, $n, $made{$folder};
}
printf "%d of %d changes caught, %.0f %%\n", $sum, $made,
    $made ? 100 * $sum / $made : 0;
