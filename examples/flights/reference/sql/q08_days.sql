-- SPDX-License-Identifier: Apache-2.0
SELECT date_text(month, day) AS date, count(*) AS flights, count(*) FILTER (cancelled) AS cancelled,
  mean(dep_delay) AS mean_dep_delay
FROM flights GROUP BY month, day ORDER BY month, day;
