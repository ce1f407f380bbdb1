-- SPDX-License-Identifier: BSD-2-Clause
-- Joins, indexes, aggregates and recursion over tables made on the spot.
CREATE TABLE item(id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
  INSERT INTO item SELECT i, i * 7919 % 101, printf('item-%06d', i * 104729 % 60013), i * 31 % 1000 / 10.0 FROM n;
CREATE INDEX item_kind ON item(kind, name);
SELECT kind, count(*), avg(price), max(name) FROM item GROUP BY kind ORDER BY 3 DESC;
SELECT count(*) FROM item a JOIN item b ON a.kind = b.kind AND b.id = a.id + 101;
SELECT substr(name, 6, 2) AS k, group_concat(id) FROM item GROUP BY k HAVING count(*) > 10;
SELECT count(*) FROM item WHERE name LIKE '%77%' OR name GLOB '*13*';
WITH RECURSIVE fib(a, b) AS (SELECT 0, 1 UNION ALL SELECT b, (a + b) % 1000007 FROM fib LIMIT 100000)
  SELECT sum(a) FROM fib;
