# terminal.pl WIDTH: what a terminal of that width shows after the output on
# standard input, without trailing blanks. On standard error what must not
# happen: a line that wraps, an unknown control sequence, erasing from elsewhere
# than the start of the bar (which a narrowed terminal has wrapped into several
# rows), a last line that is not empty. "ESC ] width N BEL" in the output marks
# that the terminal has another width.
use strict;
use warnings;
binmode STDIN, ':encoding(UTF-8)';
binmode STDOUT, ':encoding(UTF-8)';
binmode STDERR, ':encoding(UTF-8)';

my $width = shift;
my @line = ('');
my ($y, $x) = (0, 0);

sub put {
    warn "wraps at $width: $line[$y]\n" if $x == $width;
    $line[$y] .= ' ' x ($x - length $line[$y]) if length $line[$y] < $x;
    substr($line[$y], $x++, 1) = shift;
}

# The echo of a key such as ^C may be at the start of the bar.
sub erase {
    warn "erases from column $x\n" if $x > 2;
    $line[$y] = '';
    $#line = $y;
    $x = 0;
}

$_ = do { local $/; <STDIN> };
while ((pos() // 0) < length) {
    if (/\G\e\]width (\d+)\a/gc) { $width = $1 }
    elsif (/\G\e\[[\d;]*m/gc) { }
    elsif (/\G\r\e\[J/gc) { erase() }
    elsif (/\G\r/gc) { $x = 0 }
    elsif (/\G\n/gc) { $line[++$y] //= '' }
    elsif (/\G([^\x00-\x1f\x7f])/gc) { put($1) }
    elsif (/\G(.)/gcs) { warn sprintf "control character %02x\n", ord $1 }
}
s/ +$// for @line;
warn "left: $line[-1]\n" if pop @line ne '';
print "$_\n" for @line;
