-- SPDX-License-Identifier: Apache-2.0
WITH busiest AS (
  SELECT tailnum, count(*) AS flights, count(DISTINCT dest) AS destinations,
    sum(distance) AS sum_distance
  FROM flights WHERE tailnum IS NOT NULL
  GROUP BY tailnum ORDER BY flights DESC, tailnum LIMIT 20)
SELECT tailnum, manufacturer, year, flights, destinations, sum_distance
FROM busiest LEFT JOIN planes USING (tailnum) ORDER BY flights DESC, tailnum;
