# tests/soak/random_layouts.pl: more ops for the networks of random.pl
# (random_nets.pl): values of channels that are broadcast, reduced, split,
# gated, tokenised and back, so that layouts meet; grouped convolutions of many
# channels; cells that are called with several shapes; parts of a batch
# normalisation that are used twice, frozen, shared or computed again.
use strict;
use warnings;
use List::Util qw(min max);

our (@cells, @lines, @named, @points, $made, $big, @acts, @halves);

sub parameter {
    return cell('{Parameter: {shape: [' . join(', ', @_)
        . '], init: {Normal: {sigma: 0.5}}}}');
}

sub axes { join ', ', @_ }

# A parameter that is broadcast: LayerScale, biases of places, one number.
sub more_scale {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my @one = (1) x $n;
    my $m = parameter(one([$c, @one], [1, $c, @one], [1, 1, @s], [@s],
        [1, $c, $s[0], (1) x ($n - 1)], [$c, (1) x ($n - 1), $s[-1]],
        [1, 1, @one], [1], [$s[-1]], [$c, @s])->@*);
    return (line(one("$v * $m", "$m * $v", "$v + $m", "$m - $v", "$v - $m",
        "maximum($v, $m)", "where($v > $m, $v, 0.1 * $v)",
        "$v / (1 + square($m))", "relu($m * $v + $v)",
        "lerp($v, square($v), sigmoid($m))", "$v * $m + $m",
        "where($m > 0, $v, $m)")), $c, @s);
}

# A gate: of channels from dense layers, of places from a convolution.
sub more_gate {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my @space = 2 .. $n + 1;
    my $g;
    if (chance(.5)) {
        my $pool = one("mean($v, axis=(" . axes(@space) . '))',
            "max(reshape($v, (shape($v, 0), $c, -1)), 2)",
            "mean(reshape($v, (shape($v, 0), $c, -1)), 2)");
        my ($a, $b) = (dense(from(1, 5)), dense($c));
        my $r = cell(one(@acts));
        $g = line("$b($r($a($pool)))");
        $g = line(one("$g\[:, :" . ', None' x $n . ']',
            "reshape($g, (-1, $c" . ', 1' x $n . '))',
            'expand_dims(' x $n . $g . ', -1)' x $n));
    } elsif (chance(.5)) {
        my $m = cell("{Conv${n}d: {out_channels: 1, kernel_size: 3}}");
        $g = line("$m(concat((mean($v, axis=1, keepdims=True), "
            . "max($v, axis=1, keepdims=True)), 1))");
    } else {
        my $to = join ', ', $c, @s;
        my $m = cell("{Conv${n}d: {out_channels: $c, kernel_size: 1}}");
        $g = line("broadcast_to($m(mean($v, axis=(" . axes(@space)
            . "), keepdims=True)), (shape($v, 0), $to))");
    }
    my $a = cell(one(qw(Sigmoid HSigmoid Tanh)));
    return (line(one("$v * $a($g)", "$a($g) * $v + $v", "$v + $g",
        "$v * (1 + $a($g))", "$a($g) * $v", "$v - $a($g)")), $c, @s);
}

# Reductions over some of the axes.
sub more_reduce {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my @over = grep { chance(.5) } 1 .. $n + 1;
    @over = (one(1 .. $n + 1)) unless @over;
    my $over = '(' . join('', map { "$_, " } @over) . ')';
    my $mean = line("mean($v, axis=$over, keepdims=True)");
    my $f = one(qw(mean sum amax amin norm logsumexp));
    my $r = $f eq 'norm' ? "norm($v + 0.1, dim=$over, keepdim=True)"
        : $f eq 'logsumexp' ? "logsumexp($v, $over, True)"
        :                     "$f($v, $over, keepdims=True)";
    $r = "0.1 * $r" if $f =~ /sum|norm/;
    return (line(one("$v - $mean",
        "($v - $mean) / sqrt(mean(square($v - $mean), axis=$over, "
            . 'keepdims=True) + 0.1)',
        "$v - $r", "$r + $v", "$v * sigmoid($r)",
        "$v / (1 + abs($r))", "where($v > $mean, $v, $mean)",
        "softmax($v, " . one(1 .. $n + 1) . ") * $v",
        "l2_normalize($v + 0.1, axis=" . one(1 .. $n + 1) . ')',
        "$v + 0.01 * cast(expand_dims(argmax($v, axis=1), 1), float32)",
    )), $c, @s);
}

# Parts along channels or in space, and together again.
sub more_parts {
    my ($v, $c, @s) = @_;
    my ($n, $axis) = (scalar @s, chance(.7) ? 1 : one(2 .. scalar(@s) + 1));
    my @to = ($c, @s);
    my $size = $to[$axis - 1];
    return if $size < 2 || $size > 60;
    my $k = from(1, $size - 1);
    my ($a, $b) = ("a$made", "b$made");
    push @lines, "    $a, $b = split($v, ($k, " . ($size - $k) . "), $axis)\n";
    $made++;
    my @ab = ($a, $b);
    for my $i (0, 1) {
        next if chance(.4);
        my $ch = $axis > 1 ? $c : $i ? $size - $k : $k;
        my $m = cell("{Conv${n}d: {out_channels: $ch, kernel_size: 3, group: "
            . one(1, $ch) . '}}');
        my $y = "$m($ab[$i])";
        $y = cell("BatchNorm${n}d") . "($y)" if chance(.5);
        $y = cell(one(@acts)) . "($y)" if chance(.5);
        $ab[$i] = line($y);
    }
    @ab = reverse @ab if chance(.3);
    my $y = line("concat(($ab[0], $ab[1]), $axis)");
    return ($y, @to) if chance(.6);
    return (line(one("flip($y, ($axis,))", "roll($y, 1, $axis)",
        "concat(($y, $v), $axis)[" . ':, ' x $axis . "::2]")), @to);
}

# Tokens of places, and places again.
sub more_tokens {
    my ($v, $c, @s) = @_;
    my ($n, $all) = (scalar @s, count(@s));
    return if $all > 100 || $c > 20;
    my $t = line(one("transpose(reshape($v, (-1, $c, $all)), (0, 2, 1))",
        "transpose(flatten($v, start_dim=2), (0, 2, 1))",
        "reshape(transpose($v, (0, " . axes(2 .. $n + 1)
            . ", 1)), (-1, $all, $c))"));
    my $m = one(sub {
            my $m = cell("{MultiheadAttention: {embed_dim: $c, num_heads: 1, "
                . 'batch_first: true}}');
            push @lines, "    y$made, _ = $m($t, $t, $t)\n";
            "y$made + $t";
        }, sub { cell('LayerNorm') . "($t)" },
        sub {
            my ($a, $b) = (dense(4), dense($c));
            "$t + $b(" . cell(one(@acts)) . "($a($t)))";
        }, sub { my $p = parameter(1, $all, $c); "$t + $p" })->();
    $made++;
    $t = line($m);
    my $to = join ', ', @s;
    return (line(one("reshape(transpose($t, (0, 2, 1)), (-1, $c, $to))",
        "transpose(reshape($t, (-1, $to, $c)), (0, " . ($n + 1) . ', '
            . axes(1 .. $n) . '))')), $c, @s);
}

# One cell for several shapes.
sub more_shapes {
    my ($v, $c, @s) = @_;
    my ($n, $x) = (scalar @s, 0);
    return if min(@s) < 2;
    my $group = one(1, 1, $c);
    my $m = cell("[{Conv${n}d: {out_channels: $c, kernel_size: 3, "
        . "group: $group}}, " . one("BatchNorm${n}d, ", '') . one(@acts) . ']'
        );
    my $pool = chance(.4)
        ? cell("{AvgPool${n}d: {kernel_size: 2, stride: 2, pad_mode: same}}")
        : '';
    my $half = line($pool ? "$pool($v)"
        : one("$v\[:, :, ::2]", "$v\[:, :, 1:]"));
    my $axes = axes(2 .. $n + 1);
    my $low = line("mean($m($half), axis=($axes), keepdims=True)");
    return (line(one("$m($v) + $low", "$low * $m($v)", "$v - $low",
        "$m($v + $low)")), $c, @s);
}

# A batch normalisation and its activation, whose parts others read, too.
sub more_norm {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $more = one('', '', '', ', freeze: true', ', recompute: true',
        ', to_float: ' . one(@halves));
    my $m = cell("{BatchNorm${n}d: {"
        . one('', '', 'momentum: 0.5', 'affine: false', 'eps: 0.1',
            'use_batch_statistics: true', 'use_batch_statistics: false',
            'gamma_init: {Normal: {sigma: 1}}', 'gamma_init: zeros')
        . "}$more}");
    my $act = one(grep { /^\w+$/ } @acts);
    $act = "{$act$more}" if $more =~ /recompute|to_float/ && chance(.3);
    my $a = cell($act);
    my $y = line("$m($v)");
    if (chance(.2)) {
        push @points, 'p' . $made++;
        $y = line("hook_backward($y, '$points[-1]')");
    }
    my $z = line("$a($y)");
    if (chance(.3) && "@cells" !~ /$m: .*affine/) {
        my $again = cell("{BatchNorm${n}d, share: {gamma: $m.gamma}}");
        return (line("$a($again($v)) + $z"), $c, @s);
    }
    return (line(one($z, $z, $z, "$z + $v", "$z + $y", "$z * $y", "$v * $z",
        "$z + stop_gradient($y)", "$z + mean($y, 1, keepdims=True)",
        "$z + $m($v)", "$a($z)", "$a($m($z))", "$z + $a($v)",
        "$a($y + 0.5) + $z")), $c, @s);
}

# A block of convolutions and norms that reads its input again at the end.
sub more_again {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my $wide = $c * one(1, 2, 4);
    return if $wide > 60;
    my $norm = "BatchNorm${n}d";
    my $m = cell("[{Conv${n}d: {out_channels: $wide, kernel_size: 1}}, $norm, "
        . one(@acts) . ", {Conv${n}d: {out_channels: $wide, kernel_size: 3, "
        . "group: $wide}}, $norm, " . one(@acts)
        . one('', ", {Dropout${n}d: {p: 0.2}}", ', {Dropout: {p: 0.2}}')
        . ", {Conv${n}d: {out_channels: $c, kernel_size: 1}}, $norm]");
    $cells[-1] =~ s/\[(.*)\]/{SequentialCell: [$1], recompute: true}/
        if chance(.4);
    my $half = one(@halves);
    $cells[-1] =~ s/\[(.*)\]/{SequentialCell: [$1], to_float: $half}/
        if $cells[-1] !~ /recompute/ && chance(.2);
    return (line(one("$v + $m($v)", "$m($v)", "$m($v) + $v", "$v - 0.5 * $m($v)"
        )), $c, @s);
}

# Groups of many channels.
sub more_groups {
    my ($v, $c, @s) = @_;
    my $n = @s;
    return if count(@s) > 300;
    my $in = one(6, 8, 12, 16, 20, 24, 32, 48);
    my @g = grep { $in % $_ == 0 } 2 .. $in;
    my $group = one(@g);
    my $out = $group * from(1, max(1, int 32 / $group));
    my ($more, @to) = windows(\@s, [1, 2, 3, 3, 5, 7], [1, 1, 1, 2, 3],
        [1, 1, 1, 2]);
    return unless $more;
    my $a = cell("{Conv${n}d: {out_channels: $in, kernel_size: 1}}");
    my $m = cell("{Conv${n}d: {out_channels: $out, $more, group: $group, "
        . 'has_bias: ' . one(qw(true false)) . '}'
        . one(('') x 5, ', recompute: true', ', to_float: ' . one(@halves),
            ', freeze: true') . '}');
    my $y = "$a($v)";
    $y = cell(one(@acts)) . "($y)" if chance(.4);
    $y = "$m($y)";
    $y = cell("BatchNorm${n}d") . "($y)" if chance(.6);
    $y = cell(one(@acts)) . "($y)" if chance(.6);
    $y = line($y);
    return ($y, $out, @to) if $out < 20;
    my $last = cell("{Conv${n}d: {out_channels: $c, kernel_size: 1}}");
    return (line("$last($y)"), $c, @to);
}

# Cells that move channels and places.
sub more_place {
    my ($v, $c, @s) = @_;
    my $n = @s;
    my @all = (sub {
            my @p = map { from(0, 2) } 1 .. 2 * $n;
            (line(cell("{ConstantPad${n}d: {padding: [" . join(', ', @p)
                . '], value: 0.3}}') . "($v)"), $c,
                map { $s[$_] + $p[2 * ($n - 1 - $_)]
                    + $p[2 * ($n - 1 - $_) + 1] } 0 .. $n - 1);
        }, sub {
            my $p = from(0, min(2, min(@s) - 1));
            (line(cell('{' . one(qw(Reflection Replication))
                . "Pad${n}d: {padding: $p}}") . "($v)"), $c,
                map { $_ + 2 * $p } @s);
        }, sub {
            return ($v, $c, @s) if $c % 2;
            (line(cell('{GLU: 1}') . "($v)"), $c / 2, @s);
        }, sub {
            my @g = grep { $c % $_ == 0 } 1 .. $c;
            (line(cell('{ChannelShuffle: {groups: ' . one(@g) . '}}')
                . "($v)"), $c, @s);
        }, sub {
            my $g = one(grep { $c % $_ == 0 } 1 .. $c);
            (line(cell("{GroupNorm: {num_groups: $g}}") . "($v)"), $c, @s);
        }, sub {
            (line(cell("{Dropout${n}d: {p: 0.3}}") . "($v)"), $c, @s);
        }, sub {
            my $k = from(1, 3);
            (line(cell('{Adaptive' . one(qw(Avg Max)) . "Pool${n}d: "
                . "{output_size: $k}}") . "($v)"), $c, ($k) x $n);
        }, sub {
            my $k = cell("{Upsample: {size: [" . join(', ', map { $_ + 1 } @s)
                . '], mode: ' . one('nearest', 'area', $n < 3 ? 'nearest-exact'
                    : 'nearest', [qw(x linear bilinear trilinear)]->[$n])
                . '}}');
            (line("$k($v)"), $c, map { $_ + 1 } @s);
        });
    push @all, sub {
        my $m = conv(4 * $c, 1);
        (line(cell('{PixelShuffle: {upscale_factor: 2}}') . "($m($v))"), $c,
            map { 2 * $_ } @s);
    }, sub {
        return if $s[0] % 2 || $s[1] % 2 || $c > 8;
        (line(cell('{PixelUnshuffle: {downscale_factor: 2}}') . "($v)"), 4 * $c,
            map { $_ / 2 } @s);
    }, sub {
        my $k = cell("{Upsample: {size: [" . join(', ', map { $_ + 1 } @s)
            . '], mode: bicubic, align_corners: ' . one(qw(true false))
            . '}}');
        (line("$k($v)"), $c, map { $_ + 1 } @s);
    }, sub { (line(cell('{LRN: {depth_radius: 2}}') . "($v)"), $c, @s) },
    sub { (line(cell('Softmax2d') . "($v)"), $c, @s) } if $n == 2;
    return if count(@s) > 300;
    return one(@all)->();
}

# What is flattened meets what is not.
sub more_flat {
    my ($v, $c, @s) = @_;
    return if count($c, @s) > 300;
    my $n = @s;
    my ($a, $b) = (dense(from(1, 6)), dense(count($c, @s)));
    my $r = cell(one(@acts));
    my $to = join ', ', $c, @s;
    my $f = line(chance(.3) ? cell('Flatten') . "($v)"
        : one("reshape($v, (shape($v, 0), -1))",
        "flatten($v, start_dim=1)"));
    my $y = line("reshape($b($r($a($f))), (-1, $to))");
    return (line(one("$v + $y", $y, "$y * $v")), $c, @s);
}

# Comparisons, casts, indices.
sub more_types {
    my ($v, $c, @s) = @_;
    return (line(one("where(($v > 0) == ($v < 0.5), $v, -$v)",
        "cast(cast($v, float16), float32) * $v",
        "cast(cast($v, float16) + cast($v, float16), float32)",
        "cast($v > mean($v, 1, keepdims=True), float32) * $v",
        "$v * cast(any($v > 0, 1, True), float32)",
        "masked_fill($v, $v > 0.5, -0.5)", "minimum($v, relu($v)) + $v",
        "cumsum($v, 1) * 0.3",
        "gather($v, arange(0, $c), 1) + $v", "$v * $v * $v",
        "topk($v, 1, 1)[0] + $v", "tile(mean($v, 1, keepdims=True), "
            . '(1, ' . join(', ', $c, (1) x @s) . ')) - ' . $v)), $c, @s);
}

# Those named twice are made more often.
our %layouts = (scale => \&more_scale, gates => \&more_gate,
    reduce => \&more_reduce, parts => \&more_parts, tokens => \&more_tokens,
    shapes => \&more_shapes, norms => \&more_norm, many => \&more_groups,
    places => \&more_place, flat => \&more_flat, types => \&more_types,
    inverted => \&more_again, scale2 => \&more_scale, norms2 => \&more_norm,
    many2 => \&more_groups, gates2 => \&more_gate);


# ---- sequences: v, steps, features ----

sub seq_decode {
    my ($v, $t, $f) = @_;
    return if $f % 2;
    my $how = 'dim_feedforward: 5, activation: ' . one(qw(relu gelu))
        . ', batch_first: true, norm_first: ' . one(qw(true false))
        . one('', ', dropout: 0.0');
    my $memory = line(one("$v * 0.5", "$v\[:, 1:]", cell('LayerNorm') . "($v)",
        "stop_gradient($v)", "flip($v, (1,))", "concat(($v, $v), 1)", $v));
    return if $memory =~ /1:/ && $t < 2;
    my $masks = one('', ", tgt_mask=causal_mask($v)",
        ", tgt_key_padding_mask=(sum($v, 2) > 2)",
        ", memory_key_padding_mask=(sum($memory, 2) > 2)");
    my $m = chance(.5)
        ? cell("{TransformerDecoderLayer: {d_model: $f, nhead: 2, $how}"
            . one('', '', ', recompute: true') . '}')
        : chance(.5) ? cell('{TransformerDecoder: {num_layers: 2, '
            . "decoder_layer: {TransformerDecoderLayer: {d_model: $f, "
            . "nhead: 2, $how}}}}")
        : cell("{Transformer: {d_model: $f, nhead: 2, num_encoder_layers: 1, "
            . "num_decoder_layers: 1, $how}}");
    my ($a, $b) = $cells[-1] =~ /Transformer:/ ? ($memory, $v) : ($v, $memory);
    $masks = '' if $cells[-1] =~ /Transformer:/ && $masks =~ /tgt|memory_key/;
    return (line("$m($a, $b$masks)"), $t, $f);
}

sub seq_gate {
    my ($v, $t, $f) = @_;
    my ($a, $b) = (dense(from(1, 5)), dense($f));
    my $r = cell(one(@acts));
    my $m = line("mean($v, axis=1" . one(')', ', keepdims=True)'));
    my $g = line("sigmoid($b($r($a($m))))");
    $g = $lines[-2] =~ /keepdims/ ? $g : "expand_dims($g, 1)";
    return (line(one("$v * $g", "$v + $g * $v", "$g - $v")), $t, $f);
}

sub seq_scale {
    my ($v, $t, $f) = @_;
    my $m = parameter(one([$f], [$t, 1], [1, $t, $f], [$t, $f], [1])->@*);
    my $d = dense($f);
    return (line(one("$v + $m * $d($v)", "$v * $m", "$m * $d($v) + $v",
        "where($v > $m, $v, $m)", "gelu($d($v) * $m)", "$d($v * $m + $m)")),
        $t, $f);
}

sub seq_parts {
    my ($v, $t, $f) = @_;
    my ($a, $b) = ("a$made", "b$made");
    my $out = from(1, 8);
    my $m = dense(2 * $out, one('', ', has_bias: false'));
    push @lines, "    $a, $b = split($m($v), $out, 2)\n";
    $made++;
    my $r = cell(one(@acts));
    my $y = line(one("$r($a) * $b", "$a * sigmoid($b)", "$r($a) + $b",
        "concat(($b, $r($a)), 2)[..., 0:$out]", "$a * $r($b) + $a"));
    my $last = dense($f);
    return (line(one("$v + $last($y)", "$last($y)")), $t, $f);
}

sub seq_heads {
    my ($v, $t, $f) = @_;
    return if $f % 2;
    my ($q, $k, $u) = map { dense($f) } 1 .. 3;
    my $h = "reshape(%s, (-1, $t, 2, " . $f / 2 . '))';
    my @h = map { line("transpose(" . sprintf($h, "$_($v)")
        . ', (0, 2, 1, 3))') } $q, $k, $u;
    my $s = line("softmax(matmul($h[0], transpose($h[1], (0, 1, 3, 2))) * "
        . one('0.5', '1 / ' . $f ** .5) . ', -1)');
    my $y = line("reshape(transpose(matmul($s, $h[2]), (0, 2, 1, 3)), "
        . "(-1, $t, $f))");
    return (line(one("$y + $v", "$y * $v", $y)), $t, $f);
}

sub seq_conv {
    my ($v, $t, $f) = @_;
    my $g = one(grep { $f % $_ == 0 } 1 .. $f);
    my $m = cell("{Conv1d: {out_channels: $f, kernel_size: "
        . one(1, 3, 5) . ", group: $g}}");
    my $n = chance(.6) ? cell('BatchNorm1d') : '';
    my $a = cell(one(@acts));
    my $y = line("transpose($a($n($m(transpose($v, (0, 2, 1))))), (0, 2, 1))");
    return (line(one($y, "$v + $y", "$y * $v")), $t, $f);
}

sub seq_einsum {
    my ($v, $t, $f) = @_;
    return (line(one("einsum('bij,bkj->bik', $v, $v) \@ $v * 0.1",
        "flip($v, (1,)) + $v", "roll($v, 1, 1) * $v",
        "cumsum($v, 1) * 0.3", "concat(($v\[:, 1:], $v\[:, :1]), 1)",
        cell("{Unflatten: {axis: 2, unflattened_size: [$f, 1]}}")
            . "($v)[..., 0]", cell("{PositionalEncoding: {dim: $f}}")
            =~ s/$/($v)/r)), $t, $f);
}

our %layouts_sequence = (decode => \&seq_decode, gates => \&seq_gate,
    scales => \&seq_scale, parts => \&seq_parts, heads => \&seq_heads,
    convs => \&seq_conv, decode2 => \&seq_decode);

1;
