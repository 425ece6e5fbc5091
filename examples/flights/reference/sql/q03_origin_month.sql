-- SPDX-License-Identifier: Apache-2.0
SELECT origin, month, count(*) AS flights, count(dep_delay) AS departed,
  mean(dep_delay) AS mean_dep_delay
FROM flights GROUP BY origin, month ORDER BY origin, month;
