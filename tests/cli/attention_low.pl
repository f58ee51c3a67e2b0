# perl attention_low.pl SEED: MultiheadAttention with random settings as
# one.yaml, the same with MindSpore's functions written out as apart.yaml, and
# data for both.
use strict;
use warnings;

srand(shift);

sub one_in { return int(rand(shift)) == 0 }
sub from { my ($low, $high) = @_; return $low + int(rand($high - $low + 1)) }

sub npy {
    my ($name, @dim) = @_;
    my $n = 1;
    $n *= $_ for @dim;
    my $head = sprintf "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }",
        join(', ', @dim);
    $head .= ' ' x (63 - (10 + length $head) % 64) . "\n";
    open my $f, '>:raw', $name or die;
    print $f "\x93NUMPY\1\0", pack('v', length $head), $head,
        pack('f<*', map { 4 * rand() - 2 } 1 .. $n);
}

sub text {
    my ($name, $text) = @_;
    open my $f, '>', $name or die;
    print $f $text;
}

my ($n, $heads, $d, $l) = (from(1, 4), from(1, 4), from(1, 20), from(1, 20));
my $e = $heads * $d;
my ($packed, $first, $bias) = (one_in(2), !one_in(3), !one_in(4));
my $flat = $n == 1 && one_in(2); # without a batch
my $mean = one_in(2);
my $s = $packed ? $l : from(1, 20);
npy('x.npy', $n, $l, $e);
npy('z.npy', $n, $s, $e);
npy('label.npy', $n, $l, $e);

# masks: of keys, and of queries and keys; none hides the first key
my ($call, $masks, @sum) = ('', '');
my ($of_keys, $of_all) = (from(0, 2), from(0, 3));
my $low = one_in(2) ? 'z' : 'k0'; # in level auto x and z are float32
if ($of_keys) {
    my $pad = $flat ? '[0]' : '';
    $masks .= $of_keys == 1
        ? "pad = (logical_and(z[:, :, 0] > 0.3, arange(0, $s)[None] > 0))$pad\n"
        : "pad = (z[:, :, 0] / 2)$pad\n";
    $call .= ', pad';
    push @sum, sprintf 'reshape(%s, (-1, 1, 1, %d))',
        $of_keys == 1 ? 'where(pad, -60000., 0.)' : 'pad', $s;
}
if ($of_all) {
    $masks .= $of_all == 1
        ? "mask = arange(0, $s)[None] > arange(0, $l)[:, None]\n"
        : $of_all == 2 ? "mask = x[0, :, :1] * z[0, :, 0][None]\n"
        : "mask = reshape(repeat_interleave(x[:, None], $heads, 1)[:, :, :, :1]"
        . " * z[:, None, None, :, 0], (-1, $l, $s))\n";
    $call .= ', attn_mask=mask';
    unshift @sum, $of_all == 1 ? 'where(mask, -60000., 0.)'
        : $of_all == 2 ? 'mask' : "reshape(mask, (-1, $heads, $l, $s))";
}
my $scores = @sum == 2 ? "s + ($sum[0] + $sum[1])" : @sum ? "s + $sum[0]" : 's';

# rows as the cell takes them
my $turn = $flat ? '%s[0]' : $first ? '%s' : 'transpose(%s, (1, 0, 2))';
my $back = $flat ? '%s[None]' : $turn;
my ($cut, $across, $join) = $first || $flat
    ? ('(0, 2, 1, 3)', '(0, 2, 3, 1)', '(0, 2, 1, 3)')
    : ('(1, 2, 0, 3)', '(1, 2, 3, 0)', '(2, 0, 1, 3)');
my $begin = sprintf "q = $turn\n", 'pre(x)';
$begin .= $packed ? "k = q\n" : sprintf "k = $turn\n", 'pre(z)';
$begin .= $masks;
# (N, 1, S), from the weights of whatever shape
my $end = $mean ? ($flat ? 'w = w[None]' : '')
    : $flat ? 'w = sum(w, 0)[None]' : 'w = sum(w, 1)';
my $whole = sprintf $back, 'y';
$end .= "\nreturn $whole + w @ (z + 1)";

sub lines { my ($by, $text) = @_; $text =~ s/^(?=.)/' ' x $by/gem; return $text }

my $head = <<"END";
cellrun: 1
init: [{match: ["*"], Uniform: {scale: 0.5}}]
loss: MSELoss
network:
  inputs: {x: {shape: [$l, $e]}, z: {shape: [$s, $e]}}
END
my @py = ('false', 'true');
text('one.yaml', $head . <<"END" . lines(4, $begin)
  cells:
    pre: {Dense: [$e, $e]}
    attn: {MultiheadAttention: {embed_dim: $e, num_heads: $heads, has_bias: $py[$bias], batch_first: $py[$first]}}
  construct: |
END
    . lines(4, 'y, w = attn(q, k, k' . $call
    . ($mean ? '' : ', average_attn_weights=False') . ")\n$end\n"));

my $row = sub { my ($at, $part) = @_;
    my ($from, $to) = ($part * $e, ($part + 1) * $e);
    return "linear($at, in_proj_weight[$from:$to])"
        . ($bias ? " + in_proj_bias[$from:$to]" : '');
};
my $project = $packed
    ? 'a = linear(q, in_proj_weight)' . ($bias ? " + in_proj_bias\n" : "\n")
    . "q, k, v = split(a, $e, -1)\n"
    : 'v = ' . $row->('k', 2) . "\nq = " . $row->('q', 0) . "\nk = "
    . $row->('k', 1) . "\n";
my $size = sub { my $rows = shift;
    return $first || $flat ? "(-1, $rows, $heads, $d)"
        : "($rows, -1, $heads, $d)" };
my ($ql, $ks) = ($size->($l), $size->($s));
my $out = $flat ? "($l, $e)" : $first ? "(-1, $l, $e)" : "($l, -1, $e)";
my $given = $mean ? "sum(p, 1) / $heads" : 'p';
$given = "reshape($given, (" . ($mean ? '' : "$heads, ") . "$l, $s))" if $flat;
my $inner = $project . <<"END" . 'return out_proj(' . "reshape(y, $out)), $given\n";
r = sqrt(sqrt(full((1,), $d.)))
q = transpose(reshape(q, $ql), $cut) / r
k = transpose(reshape(k, $ks), $across) / r
s = q @ k
p = softmax($scores, -1)
y = transpose(p @ transpose(reshape(v, $ks), $cut), $join)
END
my $inputs = 'q, k' . ($of_keys ? ', pad' : '') . ($of_all ? ', mask' : '');
my ($in_bias, $out_bias, $plus) = $bias
    ? ("        in_proj_bias: {Parameter: {shape: [@{[3 * $e]}]}}\n",
       ", bias: {Parameter: {shape: [$e]}}", ' + bias') : ('', '', '');
text('apart.yaml', $head . <<"END" . lines(8, $inner) . <<"END2" . lines(4, $begin)
  cells:
    pre: {Dense: [$e, $e]}
    attn:
      inputs: [$inputs]
      cells:
        in_proj_weight: {Parameter: {shape: [@{[3 * $e]}, $e]}}
${in_bias}        out_proj:
          cells: {weight: {Parameter: {shape: [$e, $e]}}$out_bias}
          construct: return linear(x, weight)$plus
      construct: |
END
  construct: |
END2
    . lines(4, "y, w = attn($inputs)\n$end\n"));
