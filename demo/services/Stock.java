// SPDX-License-Identifier: BSD-2-Clause
// What is in stock, behind HTTP with a pool of threads: java Stock.java PORT
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class Stock {
	record Item(int id, String name, int n) {
		boolean isLow() {
			return n % 13 < 4;
		}

		String toJson() {
			return String.format("{\"id\":%d,\"name\":\"%s\",\"n\":%d}", id, name, n);
		}
	}

	static final List<Item> items =
		IntStream.range(0, 500).mapToObj(i -> new Item(i, "item " + i, i * 31 % 97)).collect(Collectors.toList());

	static String listLow() {
		return items.stream().filter(Item::isLow).map(Item::toJson).collect(Collectors.joining(",", "[", "]"));
	}

	static void answer(HttpExchange e) throws IOException {
		byte[] body = listLow().getBytes();
		e.sendResponseHeaders(200, body.length);
		e.getResponseBody().write(body);
		e.close();
	}

	public static void main(String[] args) throws IOException {
		HttpServer s = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
		s.createContext("/", Stock::answer);
		s.setExecutor(Executors.newFixedThreadPool(4));
		s.start();
	}
}
