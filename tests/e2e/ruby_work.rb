# SPDX-License-Identifier: BSD-2-Clause
# What tests/e2e/ruby.py records: methods and blocks that call each other in every way that Ruby has.  WAYS of doing it
# take turns; their names, and those of their callees, begin with w_ or W_ and are in EDGES, the call graph.  A block is
# written as Ruby calls it, with ~ for a space; methods of Object are written without it.
EDGES = '
w_main w_sort w_main w_keys w_main w_replace w_main w_inject w_main w_recurse w_main w_raise w_main w_methods
w_main w_fiber w_main w_enumerate w_main w_thread w_main w_evaluate w_main w_catch w_main w_procs w_main w_spin
w_main block~in~w_main block~in~w_main w_sort block~in~w_main w_keys block~in~w_main w_replace block~in~w_main w_inject
block~in~w_main w_raise block~in~w_main w_methods block~in~w_main w_fiber block~in~w_main w_enumerate
block~in~w_main w_evaluate block~in~w_main w_catch block~in~w_main w_procs block~in~w_main w_thread
block~in~w_main block~(2~levels)~in~w_main block~(2~levels)~in~w_main w_sort block~(2~levels)~in~w_main w_keys
block~(2~levels)~in~w_main w_replace block~(2~levels)~in~w_main w_inject block~(2~levels)~in~w_main w_raise
block~(2~levels)~in~w_main w_methods block~(2~levels)~in~w_main w_fiber block~(2~levels)~in~w_main w_enumerate
block~(2~levels)~in~w_main w_evaluate block~(2~levels)~in~w_main w_catch block~(2~levels)~in~w_main w_procs
block~(2~levels)~in~w_main w_thread
w_sort block~in~w_sort block~in~w_sort w_compared w_compared w_spin
w_keys w_key w_key w_spin
w_replace block~in~w_replace block~in~w_replace w_replaced w_replaced w_spin
w_inject block~in~w_inject block~in~w_inject w_injected w_injected w_spin
w_recurse w_recurse w_recurse w_spin
w_raise w_raising w_raising w_raising w_raise rescue~in~w_raise rescue~in~w_raise w_spin w_raise w_spin
w_raise block~in~w_raise block~in~w_raise w_spin block~in~w_raise ensure~in~block~in~w_raise
ensure~in~block~in~w_raise w_spin rescue~in~w_raise w_rescued w_rescued w_spin
w_methods W_Numbers#initialize W_Numbers#initialize w_spin w_methods W_Numbers#to_s W_Numbers#to_s w_spin
w_methods W_Numbers#<=> W_Numbers#<=> w_spin w_methods W_Numbers.w_class W_Numbers.w_class w_spin
w_methods W_Numbers#method_missing W_Numbers#method_missing w_spin w_methods block~in~<class:W_Numbers>
block~in~<class:W_Numbers> w_spin w_methods W_Numbers#each W_Numbers#each w_spin W_Numbers#each block~in~w_methods
block~in~w_methods w_spin w_methods W_Numbers#w_super w_methods W_More#w_super W_More#w_super W_Numbers#w_super W_Numbers#w_super w_spin
W_More#w_super w_spin
block~in~w_fiber w_fibered w_fibered w_spin w_fiber w_spin
w_enumerate w_spin block~in~w_enumerate w_spin
block~in~w_thread w_threaded w_threaded w_spin w_thread w_spin
w_evaluate w_evaluate w_evaluate w_evaluated w_evaluated w_spin
w_catch block~in~w_catch block~in~w_catch w_throwing w_throwing w_spin
w_procs block~in~w_procs block~in~w_procs w_spin w_procs block~(2~levels)~in~w_procs block~in~w_procs block~(2~levels)~in~w_procs
block~(2~levels)~in~w_procs w_spin
'

# Seconds of CPU time, so that a busy machine takes as many samples.
def now
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
end

def w_spin(n)
  x = 0
  i = 0
  while i < n
    x += i & 3
    i += 1
  end
  x
end

def w_compared(a, b)
  w_spin(20)
  a <=> b
end

def w_sort
  [5, 3, 8, 1, 9, 2, 7].sort { |a, b| w_compared(a, b) }
end

def w_key(x)
  w_spin(20) + x
end

def w_keys
  [5, 3, 8, 1, 9].sort_by(&method(:w_key))
end

def w_replaced(text)
  w_spin(20)
  text
end

def w_replace
  'banana banana banana'.gsub(/a/) { |text| w_replaced(text) }
end

def w_injected(a, b)
  w_spin(20) + a + b
end

def w_inject
  (1..20).inject { |a, b| w_injected(a, b) }
end

def w_recurse(n)
  if n > 0
    w_recurse(n - 1)
  else
    w_spin(3000)
  end
end

def w_raising(n)
  raise 'out' if n == 0
  w_raising(n - 1)
end

def w_rescued
  w_spin(50)
end

def w_raise
  begin
    w_raising(5)
  rescue RuntimeError
    w_rescued
  end
  catch(:out) do
    return w_spin(50)
  ensure
    w_spin(50)
  end
end

class W_Numbers
  include Comparable
  include Enumerable
  def initialize
    w_spin(20)
  end

  def to_s
    w_spin(20)
    'x'
  end

  def <=>(other)
    w_spin(20)
    0
  end

  def each
    3.times { w_spin(20) } if false
    w_spin(20)
    yield 1
    yield 2
  end

  def self.w_class
    w_spin(20)
  end

  def method_missing(name, *arguments)
    w_spin(20)
  end

  def respond_to_missing?(name, all = false)
    true
  end

  def w_super
    w_spin(20)
  end

  define_method(:w_defined) { w_spin(20) }
end

class W_More < W_Numbers
  def w_super
    w_spin(10)
    super
  end
end

def w_methods
  v = W_Numbers.new
  "#{v}"
  v == W_Numbers.new
  W_Numbers.w_class
  v.w_nothing
  v.w_defined
  v.map { |x| w_spin(20) }
  v.send(:w_super)
  W_More.new.w_super
end

def w_fibered
  w_spin(50)
end

def w_fiber
  fiber = Fiber.new do
    w_fibered
    Fiber.yield 1
    w_fibered
  end
  fiber.resume
  w_spin(20)
  fiber.resume
end

def w_enumerate
  e = Enumerator.new do |y|
    w_spin(20)
    y << 1
    w_spin(20)
    y << 2
  end
  e.next
  w_spin(20)
  e.next
end

def w_threaded
  w_spin(200)
end

def w_thread
  t = Thread.new { w_threaded }
  w_spin(20)
  t.join
end

def w_evaluate
  eval('w_evaluated')
end

eval('def w_evaluated() w_spin(100) end')

def w_throwing
  w_spin(50)
  throw :out
end

def w_catch
  catch(:out) { w_throwing }
end

def w_procs
  inner = proc { |x| w_spin(x) }
  outer = lambda { |x| [x].each { |y| w_spin(y) } }
  inner.call(20)
  outer.call(20)
  [20, 20].each(&inner)
end

WAYS = [:w_sort, :w_keys, :w_replace, :w_inject, :w_raise, :w_methods, :w_fiber, :w_enumerate, :w_evaluate, :w_catch, :w_procs].freeze

def w_main(seconds)
  finish = now + seconds
  while now < finish
    WAYS.each { |way| 20.times { send(way) } }
    w_thread
    w_recurse(200)
    w_spin(100)
  end
end

# Code that is made and gone: its file and lines tell its number.
def w_made(seconds)
  finish = now + seconds
  i = 0
  while now < finish
    name = "made_#{i}"
    eval("def #{name}\n x = 0\n k = 0\n while k < 300\n  x += k\n  k += 1\n end\n x\nend", nil, "/made/file_#{i}.rb", 1 + i % 97)
    20.times { send(name) }
    Object.send(:remove_method, name)
    i += 1
  end
end

def w_third(n)
  w_spin(n)
end

def w_two_thirds(n)
  w_spin(2 * n)
end

def w_shares(seconds)
  finish = now + seconds
  n = 0
  while now < finish
    length = 2000 + n * 7919 % 3001 # in step with nothing
    w_third(length)
    w_two_thirds(length)
    n += 1
  end
end

# Garbage is collected, for which no method is at fault; says how much of its time that took.  Another thread compresses
# without the interpreter's lock meanwhile.
def w_garbage(seconds)
  require 'zlib'
  kept = Array.new(200_000) { |i| [i] }
  spent = 0
  t = Thread.new { w_packing(seconds) }
  start = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
  while (total = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - start) < seconds / 2
    begun = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)
    GC.start
    spent += Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) - begun
    w_spin(100_000)
  end
  t.join
  warn "collected: #{spent / total}"
  kept.size
end

def w_packing(seconds)
  text = Random.new(1).bytes(1_000_000)
  finish = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + seconds / 2
  Zlib.deflate(text) while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < finish
end

# Waits without the interpreter's lock.
def w_waiting(seconds)
  sleep(seconds)
end

def w_wait(seconds)
  Array.new(3) { Thread.new { w_waiting(seconds) } }.each(&:join)
end

send(ARGV[0], ARGV[1].to_f)
