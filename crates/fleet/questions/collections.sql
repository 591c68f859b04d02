-- How long do collections stop each service and release?
-- = pause_nanos by service, release
-- :service = '%'  services like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select recorded.service, recorded.release, runs, collections, pause_nanos, longest_nanos,
  cast(round(1000000 * (1.0 * pause_nanos / length_nanos)) as bigint) as millionths_of_time,
  most_used_bytes
from (
    select service, release, count(*) as runs, cast(sum(length_nanos) as bigint) as length_nanos
    from run
    where service like :service and dt >= :from and dt < :until
    group by service, release
  ) recorded
  join (
    select service, release, cast(sum(collections) as bigint) as collections,
      cast(sum(pause_nanos) as bigint) as pause_nanos, max(pause_nanos) as longest_nanos,
      max(used_bytes) as most_used_bytes
    from gc
    where service like :service and dt >= :from and dt < :until
    group by service, release
  ) stopped on stopped.service = recorded.service and stopped.release = recorded.release
where length_nanos > 0
order by pause_nanos desc, recorded.service, recorded.release
limit :top
