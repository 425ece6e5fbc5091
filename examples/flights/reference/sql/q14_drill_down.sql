-- SPDX-License-Identifier: Apache-2.0
WITH arrivals AS (
  SELECT month, day, origin, carrier, flight, arr_delay FROM flights WHERE arr_delay IS NOT NULL),
m AS (
  SELECT month, count(*) AS arrived, sum(arr_delay) AS total FROM arrivals
  GROUP BY month ORDER BY total DESC, month LIMIT 1),
d AS (
  SELECT month, day, count(*) AS arrived, sum(arr_delay) AS total
  FROM arrivals SEMI JOIN m USING (month)
  GROUP BY month, day ORDER BY total DESC, day LIMIT 1),
o AS (
  SELECT month, day, origin, count(*) AS arrived, sum(arr_delay) AS total
  FROM arrivals SEMI JOIN d USING (month, day)
  GROUP BY month, day, origin ORDER BY total DESC, origin LIMIT 1),
c AS (
  SELECT month, day, origin, carrier, count(*) AS arrived, sum(arr_delay) AS total
  FROM arrivals SEMI JOIN o USING (month, day, origin)
  GROUP BY month, day, origin, carrier ORDER BY total DESC, carrier LIMIT 1),
n AS (
  SELECT flight, count(*) AS arrived, sum(arr_delay) AS total
  FROM arrivals SEMI JOIN c USING (month, day, origin, carrier)
  GROUP BY flight ORDER BY total DESC, flight LIMIT 1),
steps AS (
  SELECT 1 AS step, 'month' AS level, month::VARCHAR AS worst, arrived, total FROM m
  UNION ALL SELECT 2, 'day', day::VARCHAR, arrived, total FROM d
  UNION ALL SELECT 3, 'origin', origin, arrived, total FROM o
  UNION ALL SELECT 4, 'carrier', carrier, arrived, total FROM c
  UNION ALL SELECT 5, 'flight', flight::VARCHAR, arrived, total FROM n)
SELECT level, worst, arrived, total AS sum_arr_delay,
  mean_text(total::BIGINT, arrived) AS mean_arr_delay
FROM steps ORDER BY step;
