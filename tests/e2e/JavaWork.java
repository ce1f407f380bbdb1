// SPDX-License-Identifier: BSD-2-Clause
// What tests/e2e/java.py records: methods that call each other in the ways that Java has.  Their names begin with w_
// and are in EDGES, the call graph; java.py reads them here.
/* EDGES
w_main w_sort w_main w_reduce w_main w_iterate w_main w_recurse w_main w_raise w_main w_virtual w_main w_lambda
w_main w_reflect w_main w_spin w_main w_copy w_main w_cold w_main w_locked
w_sort w_compared w_compared w_spin w_reduce w_reduced w_reduced w_spin w_iterate w_next w_next w_spin
w_recurse w_recurse w_recurse w_spin w_raise w_raising w_raising w_raising w_raising w_spin w_raise w_spin
w_virtual w_called w_called w_spin w_lambda w_kept w_kept w_spin w_reflect w_reflected w_reflected w_spin
w_copy w_spin w_cold w_colder w_colder w_spin w_locked w_spin w_waiting w_sleep
END */

import java.util.Arrays;
import java.util.Iterator;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

public class JavaWork {
	static volatile int sink;

	static int w_spin(int n) {
		int x = 1;
		for (int i = 0; i < n; i++)
			x = x * 1103515245 + i;
		return x;
	}

	static int w_compared(Integer a, Integer b) {
		sink = w_spin(200);
		return a - b;
	}

	static void w_sort() {
		Integer[] v = new Integer[40];
		for (int i = 0; i < v.length; i++)
			v[i] = v.length - (i * 7 % 40);
		Arrays.sort(v, JavaWork::w_compared);
	}

	static int w_reduced(int a, int b) {
		return w_spin(100) + a;
	}

	static void w_reduce() {
		sink = IntStream.range(0, 80).reduce(0, JavaWork::w_reduced);
	}

	static class Counted implements Iterable<Integer>, Iterator<Integer> {
		int n = 80;

		public Iterator<Integer> iterator() {
			return this;
		}

		public boolean hasNext() {
			return n > 0;
		}

		public Integer next() {
			return w_next();
		}

		Integer w_next() {
			sink = w_spin(100);
			return n--;
		}
	}

	static void w_iterate() {
		for (Integer i : new Counted())
			sink = i;
	}

	static int w_recurse(int n) {
		return n > 0 ? w_recurse(n - 1) + 1 : w_spin(5000);
	}

	static void w_raising(int n) {
		if (n == 0) {
			sink = w_spin(300);
			throw new IllegalStateException("no");
		}
		w_raising(n - 1);
	}

	static void w_raise() {
		try {
			w_raising(10);
		} catch (IllegalStateException e) {
			sink = w_spin(1000);
		}
	}

	interface Thing {
		int w_called(int n);
	}

	static class One implements Thing {
		public int w_called(int n) {
			return w_spin(n);
		}
	}

	static class Two implements Thing {
		public int w_called(int n) {
			return w_spin(n + 1);
		}
	}

	static class Three implements Thing {
		public int w_called(int n) {
			return w_spin(n + 2);
		}
	}

	static final Thing[] things = {new One(), new Two(), new Three()};

	static void w_virtual() {
		for (int i = 0; i < 40; i++)
			sink = things[i % things.length].w_called(200);
	}

	static int w_kept(int n) {
		return w_spin(n);
	}

	static void w_lambda() {
		int more = sink & 1;
		IntUnaryOperator f = n -> w_kept(n + more);
		for (int i = 0; i < 40; i++)
			sink = f.applyAsInt(200);
	}

	public static int w_reflected(int n) {
		return w_spin(n);
	}

	static void w_reflect() throws Exception {
		sink = (Integer)JavaWork.class.getMethod("w_reflected", int.class).invoke(null, 4000);
	}

	static void w_copy() {
		byte[] a = new byte[20000];
		for (int i = 0; i < 4; i++)
			System.arraycopy(a, 0, a, 1000, a.length - 1000);
		sink = w_spin(a[5] + 100);
	}

	static int w_colder(int n) {
		return w_spin(n);
	}

	static void w_cold() {
		sink = w_colder(300);
	}

	static synchronized void w_locked() {
		sink = w_spin(2000);
	}

	static void w_main(double seconds) throws Exception {
		long end = System.nanoTime() + (long)(1e9 * seconds);
		while (System.nanoTime() < end) {
			w_sort();
			w_reduce();
			w_iterate();
			w_recurse(100);
			w_raise();
			w_virtual();
			w_lambda();
			w_reflect();
			w_copy();
			w_cold();
			w_locked();
		}
	}

	static void w_third() {
		sink = w_spin(4000);
	}

	static void w_two_thirds() {
		sink = w_spin(8000);
	}

	static void w_shares(double seconds) {
		long end = System.nanoTime() + (long)(1e9 * seconds);
		while (System.nanoTime() < end)
			for (int i = 0; i < 100; i++) {
				w_third();
				w_two_thirds();
			}
	}

	static void w_sleep() throws InterruptedException {
		Thread.sleep(5);
	}

	static void w_waiting(long end) {
		try {
			while (System.nanoTime() < end)
				w_sleep();
		} catch (InterruptedException e) {
			sink = 1;
		}
	}

	static void w_wait(double seconds) throws Exception {
		long end = System.nanoTime() + (long)(1e9 * seconds);
		Thread[] threads = new Thread[4];
		for (int i = 0; i < threads.length; i++) {
			threads[i] = new Thread(() -> w_waiting(end), "waiter-" + i);
			threads[i].start();
		}
		for (Thread t : threads)
			t.join();
	}

	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		double seconds = Double.parseDouble(args[1]);
		if (args[0].equals("w_main"))
			w_main(seconds);
		else if (args[0].equals("w_wait"))
			w_wait(seconds);
		else
			w_shares(seconds);
	}
}
