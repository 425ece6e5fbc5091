-- SPDX-License-Identifier: Apache-2.0
SELECT date_text(month, day) AS date, sched_dep_time, carrier, flight, tailnum, origin, dest,
  dep_delay, arr_delay
FROM flights WHERE arr_delay IS NOT NULL
ORDER BY arr_delay DESC, month, day, sched_dep_time, carrier, flight, origin, dest LIMIT 20;
