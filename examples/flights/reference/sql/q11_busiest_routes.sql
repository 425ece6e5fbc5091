-- SPDX-License-Identifier: Apache-2.0
WITH routes AS (
  SELECT origin, dest, count(*) AS flights FROM flights
  GROUP BY origin, dest ORDER BY flights DESC, origin, dest LIMIT 10),
legs AS (
  SELECT f.* FROM flights f SEMI JOIN routes USING (origin, dest)),
stats AS (
  SELECT origin, dest, quantile_disc(air_time, 0.5) AS median_air_time,
    quantile_disc(arr_delay, 0.9) AS p90_arr_delay
  FROM legs GROUP BY origin, dest),
days AS (
  SELECT origin, dest, month, day, count(arr_delay) AS arrived, sum(arr_delay) AS total
  FROM legs WHERE arr_delay IS NOT NULL GROUP BY origin, dest, month, day),
worst AS (
  SELECT * FROM days
  QUALIFY row_number() OVER (PARTITION BY origin, dest ORDER BY total DESC, month, day) = 1)
SELECT origin, dest, flights, median_air_time, p90_arr_delay, date_text(month, day) AS worst_date,
  arrived AS worst_arrived, total AS worst_sum_arr_delay,
  mean_text(total::BIGINT, arrived) AS worst_mean_arr_delay
FROM routes JOIN stats USING (origin, dest) JOIN worst USING (origin, dest)
ORDER BY flights DESC, origin, dest;
