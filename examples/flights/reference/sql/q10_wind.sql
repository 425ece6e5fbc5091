-- SPDX-License-Identifier: Apache-2.0
WITH banded AS (
  SELECT origin, dep_delay, CASE WHEN wind_knots < 5 THEN 0 WHEN wind_knots < 10 THEN 1
    WHEN wind_knots < 15 THEN 2 WHEN wind_knots < 20 THEN 3 WHEN wind_knots >= 20 THEN 4
    ELSE 5 END AS band
  FROM flights LEFT JOIN weather USING (origin, month, day, hour))
SELECT origin, ['0-4', '5-9', '10-14', '15-19', '20+', 'none'][band + 1] AS knots,
  count(*) AS flights, mean(dep_delay) AS mean_dep_delay
FROM banded GROUP BY origin, band ORDER BY origin, band;
