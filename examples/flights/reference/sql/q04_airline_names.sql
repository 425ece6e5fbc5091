-- SPDX-License-Identifier: Apache-2.0
SELECT name, count(*) AS flights, count(*) FILTER (cancelled) AS cancelled,
  percent(count(*) FILTER (cancelled), count(*)) AS cancelled_percent,
  mean(dep_delay) AS mean_dep_delay, sum(distance) AS sum_distance
FROM flights JOIN airlines USING (carrier) GROUP BY name ORDER BY flights DESC, name;
