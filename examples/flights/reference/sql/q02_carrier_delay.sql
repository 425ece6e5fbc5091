-- SPDX-License-Identifier: Apache-2.0
SELECT carrier, count(*) AS flights, count(arr_delay) AS arrived, mean(arr_delay) AS mean_arr_delay,
  quantile_disc(arr_delay, 0.5) AS median_arr_delay, quantile_disc(arr_delay, 0.9) AS p90_arr_delay
FROM flights GROUP BY carrier ORDER BY carrier;
