-- SPDX-License-Identifier: Apache-2.0
WITH banded AS (
  SELECT cancelled, dep_delay, CASE WHEN visib < 1 THEN 0 WHEN visib < 3 THEN 1
    WHEN visib < 10 THEN 2 WHEN visib >= 10 THEN 3 ELSE 4 END AS band
  FROM flights LEFT JOIN weather USING (origin, month, day, hour))
SELECT ['0-1', '1-3', '3-10', '10+', 'none'][band + 1] AS miles, count(*) AS flights,
  count(*) FILTER (cancelled) AS cancelled,
  percent(count(*) FILTER (cancelled), count(*)) AS cancelled_percent,
  mean(dep_delay) AS mean_dep_delay, quantile_disc(dep_delay, 0.9) AS p90_dep_delay
FROM banded GROUP BY band ORDER BY band;
