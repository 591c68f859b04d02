CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE purchase (id INTEGER IDENTITY, customer INTEGER REFERENCES customer(id), cents BIGINT, day DATE);
CREATE INDEX purchase_by_day ON purchase (day);
INSERT INTO customer SELECT n, 'customer ' || n FROM UNNEST(SEQUENCE_ARRAY(1, 200, 1)) AS numbers(n);
INSERT INTO purchase (customer, cents, day)
  SELECT MOD(n, 200) + 1, n * 37, DATEADD('day', MOD(n, 280), DATE '2006-07-01')
  FROM UNNEST(SEQUENCE_ARRAY(1, 60000, 1)) AS numbers(n);
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 1;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 2) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 2;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 3) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 3;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 4) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 4;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 5) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 5;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 6) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 6;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 7) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 0;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 8) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 1;
SELECT COUNT(*), MAX(total) FROM (
  SELECT name, SUM(cents) AS total FROM customer JOIN purchase ON purchase.customer = customer.id GROUP BY name) AS totals;
SELECT COUNT(*) FROM (SELECT day, AVG(cents) FROM purchase WHERE MOD(id, 9) = 0 GROUP BY day ORDER BY day DESC) AS days;
SELECT MAX(UPPER(name) || ' ' || TO_CHAR(day, 'YYYY-MM-DD')) FROM customer JOIN purchase ON purchase.customer = customer.id;
COMMIT;
