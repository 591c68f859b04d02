-- Which lines of your own code take most CPU time?
-- = nanos by service, release, place, line
-- :service = '%'  services like this
-- :release = '%'  releases like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, release, case when class = '' then method else class || '.' || method end as place, line, nanos,
  nanos_error, samples, runs
from (
    select service, release, place_id,
      cast(sum(nanos) as bigint) as nanos,
      cast(round(sqrt(sum(error * error))) as bigint) as nanos_error,
      cast(sum(samples) as bigint) as samples,
      count(distinct run_id) as runs
    -- Numbers are grouped faster than names.
    from cpu left join (
        select frame_id, min(frame_id) over (partition by class, method, line) as place_id
        from frame
      ) places on frame_id = line_id
    where clock = 'cpu' and service like :service and release like :release and dt >= :from and dt < :until
    group by service, release, place_id
  ) sums
  left join frame on frame_id = place_id
order by nanos desc, service, release, place, line
limit :top
