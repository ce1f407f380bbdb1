<?php
// SPDX-License-Identifier: BSD-2-Clause
// What tests/e2e/php.py records: functions that call each other in every way that PHP has.  WAYS of doing it take turns;
// their names, and those of their callees, begin with w_ or W_ and are in EDGES, the call graph.
const EDGES = '
w_main w_sort w_main w_map w_main w_replace w_main w_generate w_main w_recurse w_main w_raise w_main w_methods
w_main w_included w_main w_spin
w_sort w_compare w_compare w_spin w_map w_mapped w_mapped w_spin w_replace w_replaced w_replaced w_spin
w_generate W_Numbers::w_outer W_Numbers::w_outer W_Numbers::w_inner W_Numbers::w_inner w_spin w_recurse w_recurse
w_recurse w_spin w_raise w_raising w_raising w_raising w_raise w_spin
w_methods W_Numbers::__construct W_Numbers::__construct w_spin w_methods W_Numbers::w_static W_Numbers::w_static w_spin
w_methods W_Numbers::__toString W_Numbers::__toString w_spin w_methods W_Numbers::offsetGet W_Numbers::offsetGet w_spin
w_methods W_Numbers::__destruct W_Numbers::__destruct w_spin w_included w_evaluated w_evaluated w_spin
';

// Seconds of CPU time, so that a busy machine takes as many samples.
function now() {
    $r = getrusage();
    return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec'] + ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1e6;
}

function w_spin($n) {
    $x = 0;
    for ($i = 0; $i < $n; $i++)
        $x += $i & 3;
    return $x;
}

function w_compare($a, $b) {
    w_spin(20);
    return $a <=> $b;
}

function w_sort() {
    $v = [5, 3, 8, 1, 9, 2, 7];
    usort($v, 'w_compare');
}

function w_mapped($x) {
    return w_spin(20) + $x;
}

function w_map() {
    array_map('w_mapped', range(1, 20));
}

function w_replaced($m) {
    w_spin(20);
    return $m[0];
}

function w_replace() {
    preg_replace_callback('/a/', 'w_replaced', 'banana banana banana');
}

class W_Numbers implements ArrayAccess {
    public function __construct() { w_spin(20); }
    public function __destruct() { w_spin(20); }
    public function __toString(): string { return (string) w_spin(20); }
    public static function w_static() { return w_spin(20); }
    public static function w_inner($n) {
        for ($i = 0; $i < $n; $i++)
            yield w_spin(10);
    }
    public static function w_outer($n) {
        foreach (self::w_inner($n) as $x)
            yield $x;
    }
    public function offsetExists($i): bool { return true; }
    #[\ReturnTypeWillChange]
    public function offsetGet($i) { return w_spin($i); }
    public function offsetSet($i, $x): void {}
    public function offsetUnset($i): void {}
}

function w_generate() {
    foreach (W_Numbers::w_outer(10) as $x);
}

function w_recurse($n) {
    if ($n > 0)
        w_recurse($n - 1);
    else
        w_spin(3000);
}

function w_raising($n) {
    if ($n == 0)
        throw new Exception('out');
    w_raising($n - 1);
}

function w_raise() {
    try {
        w_raising(5);
    } catch (Exception $e) {
        w_spin(100);
    }
}

function w_methods() {
    $v = new W_Numbers;
    $s = "$v";
    $x = $v[30] + call_user_func(['W_Numbers', 'w_static']);
    unset($v);
}

eval('function w_evaluated() { return w_spin(100); }');

function w_included() {
    w_evaluated();
}

function w_main($seconds) {
    $ways = ['w_sort', 'w_map', 'w_replace', 'w_generate', 'w_raise', 'w_methods', 'w_included'];
    $end = now() + $seconds;
    for ($n = 0; now() < $end; $n++) {
        foreach ($ways as $way)
            for ($i = 0; $i < 20; $i++)
                $way();
        w_recurse(200);
        w_spin(100);
    }
}

function w_third($n) {
    return w_spin($n);
}

function w_two_thirds($n) {
    return w_spin($n * 2);
}

function w_shares($seconds) {
    $end = now() + $seconds;
    for ($n = 0; now() < $end; $n++) {
        $length = 2000 + $n * 7919 % 3001; // in step with nothing
        w_third($length);
        w_two_thirds($length);
    }
}

$argv[1]((float) $argv[2]);
