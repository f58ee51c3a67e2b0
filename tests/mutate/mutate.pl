#!/usr/bin/perl
# tests/mutate/mutate.pl: does the suite notice when the code is wrong?
#
# Changes one place of a source at a time in a copy of the working tree, links
# the programs with it and runs tests until one fails. A change that no test
# notices lives, and is shown. It is called by `make mutate`:
#
#   DIR='src/ckpt src/data'  folders or files to change
#   N=50  SEED=1             how many of the possible changes; which ones
#   BUDGET=120               seconds of computing by tests for one change
#   ONLY='ckpt.bats t_ckpt'  tests to run (all)
#   WORK=build/mutate        another folder, for another call at the same time
#
# The tests come first that are likely to notice: those that have noticed a
# change in that file or folder before, that call its functions, bear its name
# or include its folder's headers, and among them the quickest. What was seen is kept in
# the file seen of WORK; delete the folder after the sources have changed. A change
# that leaves the compiler's output as it is, or that does not compile, is
# replaced by another.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Path qw(make_path);
use Storable qw(nstore retrieve);

chdir dirname($0) . '/../..' or die $!;
my $dir = $ENV{DIR} // 'src/ckpt src/train src/graph src/data';
my $number = $ENV{N} // 50;
my $seed = $ENV{SEED} // 1;
my $budget = $ENV{BUDGET} // 120;
my $cc = $ENV{CC} // 'cc';
my $ours = $ENV{OURS} // die "OURS is not set: call make mutate\n";
my $libs = $ENV{LDLIBS} // '';
my $work = abs_path('.') . '/' . ($ENV{WORK} // 'build/mutate');
my ($tree, $obj) = ("$work/tree", "$work/tree/build/plain");
$| = 1;

sub sh { system('bash', '-c', $_[0]) == 0 or die "failed: $_[0]\n" }

# ---- building

sub compile {
    my ($file, $to) = @_;
    return system("$cc $ours -O1 -w -c $file -o $to 2>/dev/null") == 0;
}

# Links a program, by its object, with all parts; `changed` replaces one.
sub link_program {
    my ($to, $part, $changed) = @_;
    my @parts = map { $_ eq $part ? $changed : $_ }
        map { s/c$/o/r } grep { $_ ne "$obj/src/main.c" }
        map { "$obj/$_" } glob('src/*.c src/*/*.c');
    my $main = $to =~ m{/cellrun$} ? "$obj/src/main.o" : "$to.o";
    $main .= " $obj/tests/fuzz/replay.o" if $to =~ /fuzz_/;
    sh("$cc -s -o $to $main @parts -Wl,--as-needed $libs");
}

# ---- tests

my %seen; # {test}{seconds}, {test}{file or folder} = changes noticed

sub computed { my @t = times; return $t[2] + $t[3] }

# Runs one; returns whether it passes.
sub passes {
    my ($test) = @_;
    my $command = $test =~ /\.bats$/ ? "bats --tap $test" : "$obj/$test";
    my $seconds = $seen{$test}{seconds} // 30;
    my $limits = 'ulimit -S -f 2000000 -t ' . int(30 + 5 * $seconds);
    my $before = computed();
    my $pid = open(my $said, '-|') // die $!;
    my $good = 1;

    if ($pid == 0) {
        setpgrp;
        open STDIN, '<', '/dev/null';
        open STDERR, '>', '/dev/null';
        @ENV{qw(CELLRUN BUILD CC OURS)} = ("$obj/cellrun", $obj, $cc, $ours);
        exec 'bash', '-c', "$limits; exec timeout -k 5 " .
            int(120 + 20 * $seconds) . " $command";
    }
    while ($good && defined(my $line = <$said>)) {
        $good = 0 if $line =~ /^not ok/;
    }
    kill 'KILL', -$pid if !$good;
    $good = 0 if !close $said;
    kill 'KILL', -$pid; # what it left
    $seen{$test}{seconds} = computed() - $before if $good;
    return $good;
}

sub tests {
    my @all = sort glob('tests/unit/t_*.c tests/cases/t_*.c ' .
                        'tests/fuzz/fuzz_*.c tests/cli/*.bats');
    s/\.c$// for @all;
    my @only = split ' ', $ENV{ONLY} // '';
    return @only ? grep { my $t = $_; grep { $t =~ m{/\Q$_\E$} } @only } @all
                 : @all;
}

sub text_of {
    my ($file) = @_;
    open my $in, '<', $file or return '';
    local $/;
    return scalar <$in>;
}

# The tests, the most promising first.
sub order {
    my ($file) = @_;
    my ($folder, $stem) = (basename(dirname($file)), basename($file, '.c'));
    my $text = text_of($file);
    my %own = map { $_ => 1 } $text =~ /^\w[^;=]*?\b(cr_\w+)\([^;]*?\)\n\{/gm;
    my (%worth, @names);

    @names = grep { length > 2 } $folder, split /_/, $stem;
    for my $test (tests()) {
        my $code = -e "$test.c" ? text_of("$test.c") : '';
        my $name = basename($test);
        my $seconds = $seen{$test}{seconds} // 3;

        $code .= text_of("tests/$_") for $code =~ /#include "(\w+\.h)"/g;
        my %used = map { $_ => 1 } $code =~ /\b(cr_\w+)\(/g;
        my $worth = $code && $code !~ m{#include "$folder/} ? 0.002 : 0.02;
        $worth += 0.5 if grep { $own{$_} } keys %used;
        $worth += 0.3 if grep { $name =~ /\Q$_\E/ } @names;
        $worth += ($seen{$test}{$file} // 0) + 0.3 * ($seen{$test}{$folder} // 0);
        # linking takes its time too
        $worth{$test} = $worth / (0.5 + ($code ? 0.5 : 0) + $seconds);
    }
    return sort { $worth{$b} <=> $worth{$a} || $a cmp $b } keys %worth;
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
    ['statement removed', qr/^(?!return|break|continue|goto|for|if|while|case|
        do|else|static|const|struct|enum|int|bool|char|double|void|size_t|
        int64_t|default)[a-z*][^;]*(=|\().*;$/x, ';'],
    ['no break', qr/^(break|continue);$/, ';'],
);

# A line with blanks in place of texts and comments.
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
        # what is in tables is data; assertions guard what cannot be
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
            next if $what =~ /removed|no break/ && ($inside || $open);
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

if (!-e $obj) {
    make_path($tree);
    sh("git ls-files -z --cached --others --exclude-standard |" .
       " xargs -0 cp --parents -t $tree");
    sh("cp -r datasets/digits $tree/datasets");
    make_path($obj);
    sh("cd $ENV{BUILD} && find src tests digits -name '*.o' -o -name digits |" .
       " xargs cp --parents -t $obj");
}
chdir $tree or die $!;
%seen = %{ retrieve("$work/seen") } if -e "$work/seen";

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

my (%made, %caught, %sound);
my $made = 0;
for my $c (@all) {
    my ($file, $n, $what, $old, $new) = @$c;
    (my $part = "$obj/$file") =~ s/c$/o/;
    my $folder = dirname($file);
    my ($changed, $original) = ("$work/changed.o", "$work/original.o");

    last if $made == $number;
    compile($file, $original) or die "$file does not compile\n";
    put_line($file, $n, $new);
    my $good = compile($file, $changed);
    put_line($file, $n, $old);
    next if !$good || system('cmp', '-s', $original, $changed) == 0;
    link_program("$obj/cellrun", $part, $changed);
    my ($by, $run, $start) = (undef, 0, computed());
    for my $test (order($file)) {
        next if exists $sound{$test} && !$sound{$test};
        next if computed() - $start + ($seen{$test}{seconds} // 1) > $budget;
        link_program("$obj/$test", $part, $changed) if $test !~ /\.bats$/;
        $run++;
        next if passes($test);
        # one that fails without a change tells nothing
        if (!exists $sound{$test}) {
            link_program("$obj/cellrun", '', '');
            link_program("$obj/$test", '', '') if $test !~ /\.bats$/;
            $sound{$test} = passes($test);
            link_program("$obj/cellrun", $part, $changed);
            print "$test fails without a change\n" if !$sound{$test};
        }
        next if !$sound{$test};
        $by = $test;
        $seen{$test}{$_}++ for $file, basename($folder);
        last;
    }
    $made++;
    $made{$folder}++;
    $caught{$folder}++ if $by;
    s/^\s+// for $old, $new;
    printf "%s %s:%d: %s%s\n", $by ? 'caught' : 'LIVES ', $file, $n, $what,
        $by ? " ($by)" : " ($run tests)";
    print "    $old\n    $new\n" if !$by;
    nstore(\%seen, "$work/seen");
}
my $sum = 0;
for my $folder (sort keys %made) {
    my $n = $caught{$folder} // 0;
    $sum += $n;
    printf "%s: %d of %d caught\n", $folder, $n, $made{$folder};
}
printf "%d of %d changes caught, %.0f %%\n", $sum, $made,
    $made ? 100 * $sum / $made : 0;
