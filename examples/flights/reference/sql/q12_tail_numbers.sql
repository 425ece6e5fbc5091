-- SPDX-License-Identifier: Apache-2.0
SELECT count(DISTINCT tailnum) AS tail_numbers,
  count(DISTINCT tailnum) FILTER (tailnum IN (SELECT tailnum FROM planes)) AS in_planes,
  count(tailnum) AS flights_with, count(*) - count(tailnum) AS flights_without
FROM flights;
