-- Which lines of your own code take most CPU time?
-- = nanos by service, release, place, line
-- :service = '%'  services like this
-- :release = '%'  releases like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, release, case when class = '' then method else class || '.' || method end as place, line,
  cast(sum(nanos) as bigint) as nanos,
  cast(round(sqrt(sum(error * error))) as bigint) as nanos_error,
  cast(sum(samples) as bigint) as samples,
  count(distinct run_id) as runs
from cpu left join frame on frame_id = line_id
where clock = 'cpu' and service like :service and release like :release and dt >= :from and dt < :until
group by service, release, class, method, line
order by nanos desc, service, release, place, line
limit :top
