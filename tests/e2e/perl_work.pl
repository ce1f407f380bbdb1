# SPDX-License-Identifier: BSD-2-Clause
# What tests/e2e/perl.py records: subs that call each other in every way that Perl has.  WAYS of doing it take turns;
# their names, and those of their callees, begin with w_ and are in EDGES, the call graph.
use strict;
no warnings;
use List::Util qw(first reduce);

my $EDGES = '
main::w_main main::w_sort main::w_main main::w_block main::w_main main::w_replace main::w_main main::w_first
main::w_main main::w_reduce main::w_main main::w_recurse main::w_main main::w_raise main::w_main main::w_methods
main::w_main main::w_caught main::w_main main::w_evaluate main::w_main main::w_spin
main::w_sort main::w_compare main::w_compare main::w_spin main::w_block main::w_compared main::w_compared main::w_spin
main::w_replace main::w_replaced main::w_replaced main::w_spin main::w_first main::w_chosen main::w_chosen main::w_spin
main::w_reduce main::w_reduced main::w_reduced main::w_spin main::w_recurse main::w_recurse main::w_recurse main::w_spin
main::w_raise main::w_raising main::w_raising main::w_raising main::w_raise main::w_spin
main::w_methods W_Numbers::w_new W_Numbers::w_new main::w_spin main::w_methods W_Numbers::w_string
W_Numbers::w_string main::w_spin main::w_methods W_Numbers::DESTROY W_Numbers::DESTROY main::w_spin
main::w_methods W_Tied::FETCH W_Tied::FETCH main::w_spin main::w_methods W_Tied::TIESCALAR W_Tied::TIESCALAR main::w_spin
main::w_caught main::w_trying main::w_trying main::w_raising main::w_trying main::w_spin
main::w_evaluate main::w_evaluated main::w_evaluated main::w_spin
';

# Seconds of CPU time, so that a busy machine takes as many samples.
sub now {
    my ($user, $system) = times;
    return $user + $system;
}

sub w_spin {
    my $n = shift;
    my $x = 0;
    for my $i (1 .. $n) {
        $x += $i & 3;
    }
    return $x;
}

sub w_compare {
    w_spin(20);
    return $a <=> $b;
}

sub w_sort {
    my @v = sort w_compare (5, 3, 8, 1, 9, 2, 7);
}

sub w_compared {
    w_spin(20);
    return $_[0] <=> $_[1];
}

sub w_block {
    my @v = sort { my $x = w_compared($a, $b); $x } (5, 3, 8, 1, 9, 2, 7);
}

sub w_replaced {
    w_spin(20);
    return $_[0];
}

sub w_replace {
    my $text = 'banana banana banana';
    $text =~ s/(a)/w_replaced($1)/ge;
}

sub w_chosen {
    return w_spin(20) < $_[0];
}

sub w_first {
    first { w_chosen($_) } (1 .. 40);
}

sub w_reduced {
    return w_spin(20) + $_[0] + $_[1];
}

sub w_reduce {
    reduce { w_reduced($a, $b) } (1 .. 20);
}

sub w_recurse {
    my $n = shift;
    if ($n > 0) {
        w_recurse($n - 1);
    } else {
        w_spin(3000);
    }
}

sub w_raising {
    my $n = shift;
    die "out\n" if $n == 0;
    w_raising($n - 1);
}

sub w_raise {
    eval { w_raising(5); };
    w_spin(100);
}

# What catches has a loop of its own inside of what C called.
sub w_trying {
    eval { w_raising(2); };
    w_spin(20);
    return $_[0] <=> $_[1];
}

sub w_caught {
    my @v = sort { w_trying($a, $b) } (5, 3, 8, 1, 9);
}

sub w_evaluate {
    w_evaluated();
}

eval 'sub w_evaluated { return w_spin(100); } 1' or die;

{
    package W_Numbers;
    use overload '""' => \&w_string;
    sub w_new { main::w_spin(20); return bless {}, shift; }
    sub w_string { return 'x' . main::w_spin(20); }
    sub DESTROY { main::w_spin(20); }
}

{
    package W_Tied;
    sub TIESCALAR { main::w_spin(20); my $x = 1; return bless \$x, shift; }
    sub FETCH { return main::w_spin(20); }
}

sub w_methods {
    my $v = W_Numbers->w_new;
    my $s = "$v";
    tie my $tied, 'W_Tied';
    my $x = $tied;
    undef $v;
}

sub w_main {
    my $end = now() + shift;
    my @ways = (\&w_sort, \&w_block, \&w_replace, \&w_first, \&w_reduce, \&w_raise, \&w_methods, \&w_caught, \&w_evaluate);
    while (now() < $end) {
        for my $way (@ways) {
            $way->() for 1 .. 20;
        }
        w_recurse(200);
        w_spin(100);
    }
}

# Code that is made and gone: its file and lines tell its number.
sub w_made {
    my $end = now() + shift;
    for (my $i = 0; now() < $end; $i++) {
        my $first = 1 + $i % 97;
        my $name = "made_$i";
        eval "# line $first \"/made/file_$i.pl\"\nsub $name {\n my \$x = 0;\n for my \$k (1 .. 300) { \$x += \$k }\n return \$x }\n1" or die;
        no strict 'refs';
        $name->() for 1 .. 20;
        undef &$name;
        delete $main::{$name};
    }
}

sub w_third {
    return w_spin(shift);
}

sub w_two_thirds {
    return w_spin(2 * shift);
}

sub w_shares {
    my $end = now() + shift;
    for (my $n = 0; now() < $end; $n++) {
        my $length = 2000 + $n * 7919 % 3001; # in step with nothing
        w_third($length);
        w_two_thirds($length);
    }
}

{
    no strict 'refs';
    my ($what, $seconds) = @ARGV;
    $what->($seconds);
}
