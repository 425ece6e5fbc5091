-- SPDX-License-Identifier: Apache-2.0
-- The tables, with the types stated; $flights is a list with the flights file once per repetition.
CREATE TABLE flights AS
SELECT *, sched_dep_time // 100 AS hour, dep_delay IS NULL AS cancelled
FROM read_csv($flights, auto_detect = false, header = true, delim = ',', quote = '', escape = '',
  nullstr = '', compression = 'gzip', columns = {
    'month': 'TINYINT', 'day': 'TINYINT', 'sched_dep_time': 'SMALLINT', 'dep_delay': 'SMALLINT',
    'arr_delay': 'SMALLINT', 'carrier': 'VARCHAR', 'flight': 'SMALLINT', 'tailnum': 'VARCHAR',
    'origin': 'VARCHAR', 'dest': 'VARCHAR', 'air_time': 'SMALLINT', 'distance': 'SMALLINT'});

CREATE TABLE airlines AS
FROM read_csv($airlines, auto_detect = false, header = true, delim = ',', quote = '', escape = '',
  nullstr = '', compression = 'gzip', columns = {'carrier': 'VARCHAR', 'name': 'VARCHAR'});

CREATE TABLE planes AS
FROM read_csv($planes, auto_detect = false, header = true, delim = ',', quote = '', escape = '',
  nullstr = '', compression = 'gzip', columns = {
    'tailnum': 'VARCHAR', 'year': 'SMALLINT', 'manufacturer': 'VARCHAR'});

CREATE TABLE weather AS
FROM read_csv($weather, auto_detect = false, header = true, delim = ',', quote = '', escape = '',
  nullstr = '', compression = 'gzip', columns = {
    'origin': 'VARCHAR', 'month': 'TINYINT', 'day': 'TINYINT', 'hour': 'TINYINT',
    'visib': 'DECIMAL(5, 2)', 'wind_knots': 'SMALLINT'});

-- QUERIES.md, "Means": the text of total / n with two decimals, from integers only.
CREATE MACRO hundredths(total, n) AS (200 * abs(total)::BIGINT + n) // (2 * n);
CREATE MACRO mean_text(total, n) AS CASE WHEN n > 0 THEN
  (CASE WHEN total < 0 AND hundredths(total, n) > 0 THEN '-' ELSE '' END)
  || (hundredths(total, n) // 100) || '.' || lpad((hundredths(total, n) % 100)::VARCHAR, 2, '0')
END;
CREATE MACRO mean(x) AS mean_text(sum(x)::BIGINT, count(x));
CREATE MACRO percent(part, whole) AS mean_text(100 * part, whole);
CREATE MACRO date_text(month, day) AS
  '2013-' || lpad(month::VARCHAR, 2, '0') || '-' || lpad(day::VARCHAR, 2, '0');
