-- SPDX-License-Identifier: Apache-2.0
SELECT manufacturer, count(DISTINCT tailnum) AS planes, count(*) AS flights,
  mean(arr_delay) AS mean_arr_delay, quantile_disc(arr_delay, 0.9) AS p90_arr_delay
FROM flights JOIN planes USING (tailnum)
GROUP BY manufacturer ORDER BY flights DESC, manufacturer LIMIT 10;
