CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
CREATE TABLE purchase (id INTEGER IDENTITY, customer INTEGER REFERENCES customer(id), cents BIGINT, day DATE);
CREATE INDEX purchase_by_day ON purchase (day);
INSERT INTO customer VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Barbara'), (4, 'Frances');
INSERT INTO purchase (customer, cents, day)
  SELECT MOD(n, 4) + 1, n * 37, DATEADD('day', MOD(n, 28), DATE '2006-07-01')
  FROM UNNEST(SEQUENCE_ARRAY(1, 2000, 1)) AS numbers(n);
UPDATE purchase SET cents = cents + 100 WHERE MOD(id, 7) = 0;
DELETE FROM purchase WHERE MOD(id, 11) = 0;
SELECT name, COUNT(*) AS purchases, SUM(cents) AS cents, MAX(day) AS latest
  FROM customer JOIN purchase ON purchase.customer = customer.id
  GROUP BY name HAVING COUNT(*) > 10 ORDER BY name;
SELECT day, AVG(cents) FROM purchase WHERE day < DATE '2006-07-06' GROUP BY day ORDER BY day DESC;
COMMIT;
