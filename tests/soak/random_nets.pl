# tests/soak/random_nets.pl: the networks of random.pl: sections blocks and
# network of a config. An op appends cells and lines to the text and returns the
# variable of its result and the result's shape after the batch, or nothing
# where the shape does not suit it.
use strict;
use warnings;
use List::Util qw(min);
use POSIX qw(ceil);

our (@cells, @lines, @named, @points, $made, $big);
our @halves = qw(float16 bfloat16);
our @acts = (qw(ReLU GELU ELU Sigmoid Tanh HSwish LeakyReLU SiLU ReLU6 Mish
    HSigmoid SeLU Softsign LogSigmoid Tanhshrink SoftShrink HShrink FastGelu
    CELU Hardtanh PReLU Softmin), '{Threshold: [0.1, -0.2]}',
    '{CELU: {alpha: 2.0}}', '{LeakyReLU: {alpha: 0.3}}');

# A member, some with a modifier; its name.
sub cell {
    my ($yaml) = @_;
    if ($yaml !~ /^\[|Parameter|share:|, \w+: [\w.]+\}$/ && chance(.06)) {
        my $more = one('recompute: true', 'recompute: true', 'freeze: true',
            'to_float: ' . one(@halves));
        $yaml =~ s/^\w+$/{$yaml}/;
        $yaml =~ s/\}$/, $more}/;
    }
    my $name = 'm' . $made++;
    push @cells, "    $name: $yaml\n";
    push @named, $name;
    return $name;
}

# A line that sets a variable; its name.
sub line { my $v = 'v' . $made++; push @lines, "    $v = $_[0]\n"; return $v }

sub conv {
    my ($out, $k, $more) = @_;
    return cell("{Conv2d: {out_channels: $out, kernel_size: $k"
        . ($more // '') . '}}');
}
sub dense { cell("{Dense: {out_channels: $_[0]" . ($_[1] // '') . '}}') }

# Of either kind of value; @s is its shape after the batch.
my %any = (
    act => sub { my ($v, @s) = @_; (line(cell(one(@acts)) . "($v)"), @s) },
    drop => sub {
        my ($v, @s) = @_;
        return (line(cell('{Dropout: {p: 0.3}}') . "($v)"), @s);
    },
    text => sub {
        my ($v, @s) = @_;
        return (line(one("relu($v)", "gelu($v)", "sigmoid($v) * $v",
            "tanh($v) + 0.5", "$v * $v", "-$v", "abs($v)", "maximum($v, 0.1)",
            "clamp($v, -1, 1)", "where($v > 0, $v, 0.2 * $v)",
            "sqrt(square($v) + 1)", "$v / (1 + abs($v))", "softmax($v, 1)",
            "$v - mean($v, axis=1, keepdims=True)", "sin($v)", "erf($v)",
            "$v + max($v, axis=1, keepdims=True)", "exp(-square($v))",
            "cumsum($v, 1)", "stop_gradient($v) + $v", "sort($v, 1)[0]",
            "stack(($v, 2 * $v), 1)[:, 1]")), @s);
    },
    bprop => sub {
        my ($v, @s) = @_;
        return (line(cell(one('OwnRelu', 'OwnScale', 'OwnPair',
            'OwnHalf')) . "($v)"), @s);
    },
    weight => sub {
        my ($v, @s) = @_;
        my $shape = join ', ', one([1], [$s[-1]], \@s, [1, @s]) ->@*;
        my $m = cell("{Parameter: {shape: [$shape], "
            . 'init: {Normal: {sigma: 0.5}}}}');
        return (line(one("$v * $m", "$v + $m", "where($v > $m, $v, $m)")), @s);
    },
    point => sub {
        my ($v, @s) = @_;
        push @points, 'p' . $made++;
        return (line("hook_backward($v, '$points[-1]')"), @s);
    },
);

# One number, or one for each of n dimensions.
sub each_of {
    my ($n, @from) = @_;
    my @all = chance(.6) ? (one(@from)) x $n : map { one(@from) } 1 .. $n;
    return @all;
}
sub listed { @_ == 1 ? $_[0] : '[' . join(', ', @_) . ']' }

# How an op of windows goes over @s: its options and the result's sizes.
sub windows {
    my ($s, $kernels, $strides, $dilations, $pool) = @_;
    my $n = @$s;
    my @k = each_of($n, @$kernels);
    my @stride = each_of($n, @$strides);
    my @d = each_of($n, @$dilations);
    my ($mode, $p) = (one(qw(same same valid pad)), 0);
    $p = $pool ? from(0, int(min(@k) / 2)) : from(0, 2) if $mode eq 'pad';
    my @to = map {
        my $all = $s->[$_] + 2 * $p - $d[$_] * ($k[$_] - 1) - 1;
        $mode eq 'same' ? ceil($s->[$_] / $stride[$_])
            : $all < 0 ? 0 : int($all / $stride[$_]) + 1;
    } 0 .. $n - 1;
    my $more = 'kernel_size: ' . listed(@k) . ', stride: ' . listed(@stride)
        . ", pad_mode: $mode" . ($mode eq 'pad' ? ", padding: $p" : '')
        . ($pool ? '' : ', dilation: ' . listed(@d));
    return ($more, @to) if min(@to) > 0 && count(@to) <= 2000;
    return;
}

# Output channels and groups: depthwise ones, some with a multiplier.
sub channels {
    my ($c) = @_;
    return ($c * one(1, 1, 1, 2, 3), $c) if chance(.3) && $c <= 40;
    my $group = $c % 3 == 0 && chance(.3) ? 3 : $c % 2 || chance(.7) ? 1 : 2;
    return ($group * from(1, $big ? 20 : 6), $group);
}

# A convolution in @s dimensions, in some with norm and activation.
sub any_conv {
    my ($v, $c, @s) = @_;
    my ($n, $out, $group) = (scalar @s, channels($c));
    my ($more, @to) = windows(\@s, [1, 2, 3, 3, 5], [1, 1, 1, 2, 3],
        [1, 1, 1, 2, 3]);
    return unless $more;
    my $m = cell("{Conv${n}d: {out_channels: $out, $more, group: $group, "
        . 'has_bias: ' . one(qw(true false)) . '}'
        . one(('') x 8, ', recompute: true') . '}');
    my $y = "$m($v)";
    $y = cell("BatchNorm${n}d") . "($y)" if chance(.5);
    $y = cell(one(@acts)) . "($y)" if chance(.5);
    return (line($y), $out, @to);
}

sub any_transposed {
    my ($v, $c, @s) = @_;
    return if count(@s) > 100;
    my ($n, $st, $k, $d) = (scalar @s, one(1, 2, 2, 3), one(1, 2, 3, 4),
        one(1, 1, 2));
    my ($mode, $p, $o, $ke) = (one(qw(same valid pad)), from(0, 1), 0,
        $d * ($k - 1) + 1);
    my @to = map {
        $mode eq 'same' ? $_ * $st
            : $mode eq 'valid' ? $_ * $st + ($ke > $st ? $ke - $st : 0)
            : $_ * $st - 2 * $p + $ke - $st
    } @s;
    return if min(@to) < 1 || count(@to) > 2000;
    my ($out, $group) = $c % 2 || chance(.7) ? (from(1, 6), 1)
        : one([2 * from(1, 3), 2], [$c, $c])->@*;
    my $m = cell("{Conv${n}dTranspose: {out_channels: $out, kernel_size: $k, "
        . "stride: $st, dilation: $d, group: $group, pad_mode: $mode"
        . ($mode eq 'pad' ? ", padding: $p" : '') . ', has_bias: '
        . one(qw(true false)) . '}}');
    my $y = "$m($v)";
    $y = cell("BatchNorm${n}d") . "($y)" if chance(.3);
    $y = cell(one(@acts)) . "($y)" if chance(.4);
    return (line($y), $out, @to);
}

sub any_pool {
    my ($v, $c, @s) = @_;
    my ($n, $kind) = (scalar @s, one(qw(Max Avg)));
    my ($more, @to) = windows(\@s, [1, 2, 2, 3], [1, 2, 2, 3], [1], 1);
    return unless $more;
    $more .= ', count_include_pad: ' . one(qw(true false))
        if $kind eq 'Avg' && $more =~ /padding/;
    my $m = cell("{${kind}Pool${n}d: {$more}}");
    return (line("$m($v)"), $c, @to);
}

sub any_norm {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $m = cell(one(("BatchNorm${n}d") x 3, "InstanceNorm${n}d", 'LayerNorm',
        "{BatchNorm${n}d: {affine: false}}",
        "{BatchNorm${n}d: {use_batch_statistics: false}}",
        "{BatchNorm${n}d, freeze: true}", "{BatchNorm${n}d, recompute: true}"));
    my $y = "$m($v)";
    $y = cell(one(@acts)) . "($y)" if chance(.7);
    return (line($y), $c, @s);
}

# Elements put around those of any dimension but the batch.
sub any_pad {
    my ($v, @s) = @_;
    my $mode = one(qw(CONSTANT REFLECT SYMMETRIC));
    my @pads = map { my $most = $mode eq 'CONSTANT' ? 2
            : min(2, $mode eq 'REFLECT' ? $_ - 1 : $_);
        [map { chance(.5) ? 0 : from(0, $most) } 1, 2] } @s;
    return if $s[0] > 12;
    my $m = cell("{Pad: {mode: $mode, paddings: [[0, 0], "
        . join(', ', map { "[$_->[0], $_->[1]]" } @pads) . ']}}');
    return (line("$m($v)"),
        map { $s[$_] + $pads[$_][0] + $pads[$_][1] } 0 .. $#s);
}

# Squeeze and excite, by a mean that keeps its dimensions.
sub any_excite {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $k = 'kernel_size: 1, has_bias: ' . one(qw(true false));
    my ($a, $b) = map { cell("{Conv${n}d: {out_channels: $_, $k}}") } 2, $c;
    my ($r, $g) = (cell(one(@acts)), cell(one(qw(Sigmoid HSigmoid))));
    my $axes = join ', ', 2 .. $n + 1;
    my $e = line("$g($b($r($a(mean($v, axis=($axes), keepdims=True)))))");
    return (line(one("$v * $e", "$e * $v", "$v * $e + $v")), $c, @s);
}

# Branches of one shape, side by side.
sub any_branches {
    my ($v, $c, @s) = @_;
    my ($n, $to, @all) = (scalar @s, 0);
    return if $c > 12;
    for (1 .. from(2, 3)) {
        my ($out, $group) = chance(.3) ? ($c, $c) : (from(1, 5), 1);
        my $m = cell("{Conv${n}d: {out_channels: $out, group: $group, "
            . 'kernel_size: ' . one(1, 3) . '}}');
        my $y = "$m($v)";
        $y = cell("BatchNorm${n}d") . "($y)" if chance(.5);
        $y = cell(one(@acts)) . "($y)" if chance(.5);
        push @all, line($y);
        $to += $out;
    }
    if (chance(.3)) {
        push @all, $v;
        $to += $c;
    } elsif (chance(.3)) {
        my $m = cell('{' . one(qw(Max Avg)) . "Pool${n}d: {kernel_size: 3, "
            . 'stride: 1, pad_mode: same}}');
        push @all, line("$m($v)");
        $to += $c;
    }
    return (line('concat((' . join(', ', @all) . '), 1)'), $to, @s);
}

# Channels that go last and come back; other dimensions that are exchanged.
sub any_order {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $last = line("transpose($v, (0, " . join(', ', 2 .. $n + 1) . ', 1))');
    my $out = from(1, 6);
    my $m = $n == 2 && chance(.4)
        ? cell("{Conv2d: {out_channels: $out, kernel_size: 3, "
            . 'data_format: NHWC}}')
        : dense($out, one('', ', has_bias: false'));
    my $y = $last;
    $y = cell('LayerNorm') . "($y)" if chance(.5);
    $y = "$m($y)";
    $y = cell(one(@acts)) . "($y)" if chance(.5);
    $y = line($y);
    return (line("transpose($y, (0, " . ($n + 1) . ', '
        . join(', ', 1 .. $n) . '))'), $out, @s);
}
sub any_shuffle {
    my ($v, $c, @s) = @_;
    my ($n, $all) = (scalar @s, join(', ', @s));
    return if $c % 2;
    return (line(one("reshape(transpose(reshape($v, (-1, 2, " . $c / 2
        . ", $all)), (0, 2, 1, " . join(', ', 3 .. $n + 2) . ')), '
        . "(-1, $c, $all))",
        "reshape(reshape($v, (-1, $c, " . count(@s) . ')) * 2, '
        . "(-1, $c, $all))",
        "concat(($v\[:, " . $c / 2 . ":], $v\[:, :" . $c / 2 . ']), 1)')),
        $c, @s);
}

# A block of several cells, computed again for the backward pass.
sub any_again {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $group = one(1, $c);
    my $m = cell("[{SequentialCell: [{Conv${n}d: {out_channels: $c, "
        . "kernel_size: 3, group: $group}}, "
        . one("BatchNorm${n}d, ", '') . one(@acts)
        . one('', ', {Dropout: {p: 0.2}}') . '], recompute: true}]');
    return (line(one("$m($v)", "$m($v) + $v", "$m($v) * $m($v)")), $c, @s);
}

# A branch that no input reaches.
sub any_constant {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $p = cell('{Parameter: {shape: [1, ' . join(', ', $c, @s)
        . '], init: {Normal: {sigma: 0.5}}}}');
    my $m = cell("{Conv${n}d: {out_channels: $c, kernel_size: 3, group: "
        . one(1, $c) . '}}');
    my $y = "$m($p)";
    $y = cell("BatchNorm${n}d") . "($y)" if chance(.4);
    $y = cell(one(@acts)) . "($y)" if chance(.5);
    return (line(one("$v + $y", "$v * $y", "$y - $v")), $c, @s);
}

# Two batches through one cell, and apart again.
sub any_siamese {
    my ($v, $c, @s) = @_;
    my ($n, $a, $b) = (scalar @s, "a$made", "b$made");
    my $m = cell("[{Conv${n}d: {out_channels: $c, kernel_size: 3}}, "
        . one("BatchNorm${n}d, ", '') . one(@acts) . ']');
    push @lines, "    $a, $b = split($m(concat(($v, 0.5 * $v), 0)), "
        . "shape($v, 0), 0)\n";
    return (line(one("$a - $b", "$a * $b", "relu($a + $b)")), $c, @s);
}

sub any_split {
    my ($v, $c, @s) = @_;
    return if $c % 2;
    my ($a, $b) = ("a$made", "b$made");
    push @lines, "    $a, $b = split($v, " . $c / 2 . ", 1)\n";
    return (line(one("$a * sigmoid($b)", "$a + $b", "relu($a) - $b")),
        $c / 2, @s);
}

# Maxima and their places.
sub any_indices {
    my ($v, $c, @s) = @_;
    return if min(@s) < 2;
    my ($n, $y, $i) = (scalar @s, "y$made", "i$made");
    my $m = cell("{MaxPool${n}d: {kernel_size: 2, stride: 2, pad_mode: pad, "
        . 'return_indices: true}}');
    push @lines, "    $y, $i = $m($v)\n";
    return (line(one($y, "$y + 0.01 * cast($i, float32)")), $c,
        map { int($_ / 2) } @s);
}

our (%layouts, %layouts_sequence, $layouts);
require $layouts;

# Of channels over any number of dimensions.
my %volume = (%any, %layouts, constant => \&any_constant,
    siamese => \&any_siamese, split => \&any_split,
    indices => \&any_indices, conv => \&any_conv,
    deep => \&any_conv, transposed => \&any_transposed,
    pool => \&any_pool, norm => \&any_norm, pad => \&any_pad,
    excite => \&any_excite, branches => \&any_branches,
    order => \&any_order, shuffle => \&any_shuffle, again => \&any_again,
    residual => sub {
        my ($v, $c, @s) = @_;
        my $n = @s;
        my $m = cell("{Conv${n}d: {out_channels: $c, kernel_size: 3, group: "
            . one(1, $c) . '}}');
        my $b = chance(.5) ? cell("BatchNorm${n}d") : '';
        my $y = line("$b($m($v))");
        my $a = chance(.3) ? cell(one(@acts)) : 'relu';
        return (line(one("$y + $v", "$v - $y", "$y * sigmoid($v)")), $c, @s)
            if $a eq 'relu' && chance(.6);
        return (line("$a($y + $v)"), $c, @s);
    },
    rounded => sub {
        my ($v, $c, @s) = @_;
        my $n = @s;
        my $m = cell("{Conv${n}d: {out_channels: $c, kernel_size: 3, group: "
            . one(1, $c) . '}, to_float: ' . one(@halves) . '}');
        my $b = chance(.5) ? cell("BatchNorm${n}d") : '';
        return (line("$b($m($v))"), $c, @s);
    },
);

my %image = (%any, %layouts,
    any_conv => \&any_conv, any_transposed => \&any_transposed,
    any_pool => \&any_pool, any_norm => \&any_norm, any_pad => \&any_pad,
    any_excite => \&any_excite, any_branches => \&any_branches,
    any_order => \&any_order, any_shuffle => \&any_shuffle,
    any_again => \&any_again, any_constant => \&any_constant,
    any_siamese => \&any_siamese, any_indices => \&any_indices,
    conv => sub {
        my ($v, $c, $h, $w) = @_;
        my ($out, $s) = (from(1, $big ? 40 : 9), one(1, 1, 1, 2));
        my $group = $c % 2 || chance(.7) ? 1 : 2;
        ($out, $group) = chance(.2) ? ($c, $c) : ($out * $group, $group);
        my $m = conv($out, one(1, 2, 3, 3, 5), ", stride: $s, group: $group, "
            . 'dilation: ' . one(1, 1, 2)
            . ', has_bias: ' . one(qw(true false)));
        return (line("$m($v)"), $out, ceil($h / $s), ceil($w / $s));
    },
    valid => sub {
        my ($v, $c, $h, $w) = @_;
        return if $h < 3 || $w < 3;
        my ($out, $p) = (from(1, 6), from(0, 2));
        my $m = conv($out, 3, ", pad_mode: pad, padding: $p");
        return (line("$m($v)"), $out, $h + 2 * $p - 2, $w + 2 * $p - 2);
    },
    # features and channels, alike in number or not
    features => sub {
        my ($v, $c, $h) = @_;
        my $out = one($c, from(1, 6));
        my ($m, $n) = (dense($out, one('', ', has_bias: false')),
            cell(one('BatchNorm2d', 'BatchNorm2d', 'LayerNorm', 'ReLU')));
        return (line("$n($m($v))"), $c, $h, $out);
    },
    # a weight that is computed: from parameters, or from the input
    computed => sub {
        my ($v, $c, $h, $w) = @_;
        my $k = one(1, 2, 3);
        return if $h < $k || $w < $k || $c > 9;
        my $weight;
        if (chance(.5)) {
            my $p = cell("{Parameter: {shape: [3, $c, $k, $k], "
                . 'init: {Normal: {sigma: 0.5}}}}');
            $weight = one("$p", "2 * $p", "$p - mean($p)");
        } else {
            my $u = line("mean($v, axis=0, keepdims=True)[:, :, 0:$k, 0:$k]");
            $weight = "concat(($u, 2 * $u, 1 - $u), 0)";
        }
        my $y = line("conv2d($v, $weight)");
        my $n = chance(.7) ? cell('BatchNorm2d') : '';
        return (line("$n($y)"), 3, $h - $k + 1, $w - $k + 1);
    },
    rounded => sub {
        my ($v, $c, @s) = @_;
        my $m = conv($c, 3);
        $cells[-1] =~ s/\}\n/', to_float: ' . one(@halves) . "}\n"/e;
        my $n = chance(.5) ? cell('BatchNorm2d') : '';
        return (line("$n($m($v))"), $c, @s);
    },
    fused => sub {
        my ($v, $c, @s) = @_;
        my $out = from(1, $big ? 70 : 20);
        my ($m, $n, $r) = (conv($out, 3), cell('BatchNorm2d'), cell('ReLU'));
        return (line("$r($n($m($v)))"), $out, @s);
    },
    transpose => sub {
        my ($v, $c, $h, $w) = @_;
        return if $h > 9 || $w > 9;
        my ($out, $s) = (from(1, 6), one(1, 2));
        my $m = cell("{Conv2dTranspose: {out_channels: $out, kernel_size: 3, "
            . "stride: $s}}");
        return (line("$m($v)"), $out, $h * $s, $w * $s);
    },
    norm => sub {
        my ($v, $c, $h, $w) = @_;
        my $m = cell(one('BatchNorm2d', 'BatchNorm2d', 'InstanceNorm2d',
            '{GroupNorm: {num_groups: 1}}', '{BatchNorm2d: {affine: false}}',
            '{BatchNorm2d: {momentum: 0.5}}', 'LayerNorm',
            '{BatchNorm2d: {use_batch_statistics: false}}'));
        return (line("$m($v)"), $c, $h, $w);
    },
    pool => sub {
        my ($v, $c, $h, $w) = @_;
        my $s = one(1, 2);
        my $m = cell('{' . one(qw(MaxPool2d AvgPool2d)) . ': {kernel_size: '
            . one(2, 3) . ", stride: $s, pad_mode: same}}");
        return (line("$m($v)"), $c, ceil($h / $s), ceil($w / $s));
    },
    adaptive => sub {
        my ($v, $c) = @_;
        my $n = from(1, 4);
        my $m = cell('{' . one(qw(AdaptiveAvgPool2d AdaptiveMaxPool2d))
            . ": {output_size: $n}}");
        return (line("$m($v)"), $c, $n, $n);
    },
    upsample => sub {
        my ($v, $c, $h, $w) = @_;
        return if $h * $w > 60;
        my $m = cell('{Upsample: {size: [' . 2 * $h . ', ' . ($w + 1)
            . '], mode: ' . one(qw(nearest bilinear)) . '}}');
        return (line("$m($v)"), $c, 2 * $h, $w + 1);
    },
    residual => sub {
        my ($v, $c, @s) = @_;
        my $m = conv($c, 3);
        my $n = chance(.5) ? cell('BatchNorm2d') : '';
        my $y = line("$n($m($v))");
        return (line(one("relu($y + $v)", "$y + $v", "$v + 0.5 * $y",
            "$v - $y", "$y * sigmoid($v)")), $c, @s);
    },
    block => sub {
        my ($v, $c, @s) = @_;
        my $n = from(1, 2);
        my $m = cell("[{Residual: {channels: $c}, repeat: $n}]");
        return (line("$m($v)"), $c, @s);
    },
    # masks and integers that are made of two values of one shape
    compare => sub {
        my ($v, $c, @s) = @_;
        my ($a, $b) = map { line(conv($c, 3) . "($v)") } 1, 2;
        return (line(one("where($a > $b, $a, 0.5 * $b)",
            "$a * ($a <= $b) + $b", "masked_fill($a, $a < $b, 0.3)",
            "where(logical_and($a > $b, $b > 0 * $a), $a * $b, $a)",
            "cast(cast(4 * $a, int32) * cast(4 * $b, int32), float32) + $a",
            "where($a == maximum($a, $b), $v, $b)")), $c, @s);
    },
    twice => sub {
        my ($v, $c, @s) = @_;
        my $m = cell("[{Conv2d: {out_channels: $c, kernel_size: 3}}, "
            . one('BatchNorm2d, ', '') . one(@acts) . ']');
        return (line("$m($m($v)" . one(')', " + $v)", ") + $m($v)")), $c, @s);
    },
    share => sub {
        my ($v, $c, @s) = @_;
        my $a = conv($c, 3);
        my $b = cell("{Conv2d: {out_channels: $c, kernel_size: 3}, "
            . "share: {weight: $a.weight}}");
        return (line("$a($v) + $b(relu($v))"), $c, @s);
    },
    branches => sub {
        my ($v, $c, @s) = @_;
        return if $c > 12;
        my ($a, $b) = (conv(3, 1), conv(2, 3));
        return (line("concat(($a($v), $b($v), $v), 1)"), $c + 5, @s);
    },
    split => \&any_split,
    place => sub {
        my ($v, $c, $h, $w) = @_;
        return one(sub { (line("transpose($v, (0, 1, 3, 2))"), $c, $w, $h) },
            sub { (line("pad($v, (1, 0, 0, 2))"), $c, $h + 2, $w + 1) },
            sub { $h < 3 ? () : (line("$v\[:, :, 1:]"), $c, $h - 1, $w) })->();
    },
    gate => sub {
        my ($v, $c, @s) = @_;
        my ($a, $b) = (dense(3, ', activation: relu'), dense($c));
        my $g = line("sigmoid($b($a(mean($v, axis=(2, 3)))))");
        return (line("$v * reshape($g, (shape($v, 0), $c, 1, 1))"), $c, @s);
    },
);

my %sequence = (%any, %layouts_sequence,
    dense => sub {
        my ($v, $t) = @_;
        my $out = 2 * from(1, $big ? 60 : 6);
        my $m = dense($out, one('', ', activation: relu', ', has_bias: false'));
        return (line("$m($v)"), $t, $out);
    },
    norm => sub { my ($v, @s) = @_; (line(cell('LayerNorm') . "($v)"), @s) },
    # features and channels, alike in number or not
    channels => sub {
        my ($v, $t) = @_;
        my $out = one($t, 2 * from(1, 4));
        my ($m, $n) = (dense($out), cell(one('BatchNorm1d', 'LayerNorm')));
        return (line("$n($m($v))"), $t, $out);
    },
    twice => sub {
        my ($v, $t, $f) = @_;
        my $m = cell("[{Dense: {out_channels: $f}}, "
            . one('BatchNorm1d, ', 'LayerNorm, ', '') . one(@acts) . ']');
        return (line("$m($m($v)" . one(')', " + $v)", ") + $m($v)")), $t, $f);
    },
    computed => sub {
        my ($v, $t, $f) = @_;
        my $u = line("transpose($v, (0, 2, 1))");
        return (line(one("matmul($v, softmax(matmul($u, $v), 2))",
            "matmul($v, mean(matmul($u, $v), axis=0))")), $t, $f);
    },
    rounded => sub {
        my ($v, $t, $f) = @_;
        my $m = cell("{Dense: {out_channels: $f}, "
            . 'to_float: ' . one(@halves) . '}');
        return (line("$m($v)"), $t, $f);
    },
    glu => sub {
        my ($v, $t, $f) = @_;
        return $f % 2 ? () : (line(cell('GLU') . "($v)"), $t, $f / 2);
    },
    recur => sub {
        my ($v, $t) = @_;
        my ($h, $two) = (from(1, $big ? 40 : 6), one(1, 1, 2));
        my $m = cell('{' . one(qw(LSTM GRU RNN)) . ": {hidden_size: $h, "
            . 'batch_first: true, num_layers: ' . one(1, 1, 2)
            . ', bidirectional: ' . ($two == 2 ? 'true' : 'false') . '}}');
        push @lines, "    y$made, _ = $m($v)\n";
        return ("y$made", $t, $two * $h);
    },
    attend => sub {
        my ($v, $t, $f) = @_;
        return if $f % 2;
        my $m = cell("{MultiheadAttention: {embed_dim: $f, num_heads: 2, "
            . 'batch_first: true' . one('', '', ', dropout: 0.2') . '}}');
        push @lines, "    y$made, _ = $m($v, $v, $v"
            . one('', ", attn_mask=causal_mask($v)") . ")\n";
        return (line("y$made + $v"), $t, $f);
    },
    layer => sub {
        my ($v, $t, $f) = @_;
        return if $f % 2;
        my $m = cell("{TransformerEncoderLayer: {d_model: $f, nhead: 2, "
            . 'dim_feedforward: 5, activation: ' . one(qw(relu gelu))
            . ', batch_first: true, norm_first: ' . one(qw(true false)) . '}}');
        return (line("$m($v" . one('', ", causal_mask($v)") . ')'), $t, $f);
    },
    residual => sub {
        my ($v, $t, $f) = @_;
        my $m = dense($f);
        return (line(one("$v + $m($v)", "$m($v) * $v", "$v - relu($m($v))",
            "$m($v + 1) + $m($v)")), $t, $f);
    },
    conv => sub {
        my ($v, $t) = @_;
        my $m = cell('{Conv1d: {out_channels: 4, kernel_size: 3}}');
        my $y = line("$m(transpose($v, (0, 2, 1)))");
        return (line("transpose($y, (0, 2, 1))"), $t, 4);
    },
    share => sub {
        my ($v, $t, $f) = @_;
        my $a = dense($f);
        my $b = cell("{Dense: {out_channels: $f}, share: {weight: $a.weight}}");
        return (line("$a($v) + $b($v + $a($v))"), $t, $f);
    },
);

# The network of a config: sections blocks and network, and its kind of data.
sub network {
    my ($classes, $two, $batch) = @_;
    my $kind = one(split ' ', $ENV{KINDS}
        // 'image image image line volume numbers tokens');
    my ($v, @s, $ops) = 'x';
    my $n = { line => 1, image => 2, volume => 3 }->{$kind} // 0;
    my ($least, $most) = $big ? ([], [60, 120], [12, 24], [6, 11])[$n]->@*
        : chance(.1) ? (1, 2) : ([], [5, 30], [5, 11], [3, 6])[$n]->@*;
    @s = $n ? ($big ? from(3, 20) : from(1, 4),
               map { from($least, $most) } 1 .. $n)
            : ($big ? from(8, 40) : from(1, 7));
    push @s, 2 * from(1, $big ? 40 : 4) if $kind eq 'numbers';
    my @shape = @s;
    if ($kind eq 'tokens') {
        push @s, 2 * from(1, $big ? 40 : 4);
        my $m = cell("{Embedding: {vocab_size: 7, embedding_size: $s[1]}}");
        $v = line("$m(x)");
    }
    $ops = $kind eq 'image' ? \%image : $n ? \%volume : \%sequence;
    for (1 .. from(1, 6)) {
        my ($new, @to) = $ops->{ one(sort keys %$ops) }->($v, @s);
        ($v, @s) = ($new, @to) if defined $new;
    }
    if ($n && count(@s) < 400 && chance(.6)) {
        $v = line(cell('Flatten') . "($v)");
    } elsif ($n) {
        $v = line("mean($v, axis=(" . join(', ', 2 .. $n + 1) . '))');
    } else {
        $v = line(one("$v\[:, -1]", "mean($v, axis=1)", "max($v, axis=1)"));
    }
    if (chance(.4)) {
        my ($m, $a) = (dense(from(2, 12)), cell(one(@acts)));
        my $n = $batch > 1 && chance(.3) ? cell('BatchNorm1d') : '';
        $v = line("$a($n($m($v)))");
    }
    my $last = dense($classes);
    my %used = map { $_ => 1 } "@cells@lines$last" =~ /\b(m\d+)\b(?!:)/g;
    @cells = grep { /(m\d+):/ && $used{$1} } @cells;
    @named = grep { $used{$_} } @named;
    return ($kind eq 'tokens', \@shape, <<END
blocks:
  Residual:
    params: {channels: required}
    cells:
      c: {Conv2d: {out_channels: \$channels, kernel_size: 3}}
      b: BatchNorm2d
    construct: return x + relu(b(c(x)))
  OwnRelu:
    construct: return relu(x)
    bprop: return where(x > 0, dout, 0.1 * dout)
  OwnScale:
    cells: {w: {Parameter: {shape: [1], init: 0.7}}}
    construct: return x * w
    bprop: |
      return dout * w, {w: reshape(sum(x * dout), (1,))}
  Pair:
    construct: return relu(x), x + 1
    bprop: |
      g, h = dout
      return h + where(out[0] > 0, g, 0.0)
  OwnHalf:
    cells: {q: Pair}
    construct: return q(x)[0]
  OwnPair:
    cells: {p: Tanh, q: Pair}
    construct: |
      a, b = q(x)
      return p(a) * b
network:
  cells:
@{[join '', @cells]}  construct: |
@{[join '', @lines]}    return $last($v)@{[$two ? ", $v" : '']}
END
    );
}

1;
