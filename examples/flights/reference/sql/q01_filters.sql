-- SPDX-License-Identifier: Apache-2.0
SELECT 'long_late' AS filter, count(*) AS flights, sum(dep_delay) AS sum_dep_delay,
  sum(arr_delay) AS sum_arr_delay, sum(air_time) AS sum_air_time, sum(distance) AS sum_distance
FROM flights WHERE distance >= 1000 AND arr_delay >= 60
UNION ALL
SELECT 'early_jfk', count(*), sum(dep_delay), sum(arr_delay), sum(air_time), sum(distance)
FROM flights WHERE origin = 'JFK' AND hour < 8 AND dep_delay <= 0
ORDER BY filter DESC;
