# SPDX-License-Identifier: BSD-2-Clause
# Work of a usual kind for an interpreter: text, hashes, regular expressions, recursion, sorting.
use strict;
use warnings;

sub insert {
	my ($node, $key) = @_;
	my $side = $key lt $node->{key} ? 'left' : 'right';
	if ($node->{$side}) { insert($node->{$side}, $key) }
	else { $node->{$side} = { key => $key } }
}

sub depth {
	my ($node) = @_;
	return 0 unless $node;
	my ($l, $r) = (depth($node->{left}), depth($node->{right}));
	return 1 + ($l > $r ? $l : $r);
}

open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!";
local $/;
my $text = <$in>;
my %count;
$count{$1}++ while $text =~ /([a-z_]{3,})/g;
my @top = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
my $tree = { key => 'm' };
insert($tree, $_) for sort { reverse($a) cmp reverse($b) } keys %count;
(my $upper = $text) =~ s/(\w+)/\u$1/g;
print scalar(@top), ' ', depth($tree), ' ', length($upper), "\n";
