-- SPDX-License-Identifier: Apache-2.0
SELECT (2013 - year) // 5 * 5 AS age_from, age_from + 4 AS age_to, count(*) AS flights,
  mean(dep_delay) AS mean_dep_delay, mean(arr_delay) AS mean_arr_delay
FROM flights JOIN planes USING (tailnum)
WHERE year IS NOT NULL GROUP BY age_from ORDER BY age_from;
