-- How complete are the numbers, and why not?
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 100  rows
select coverage.service, coverage.release, coverage.engine, coalesce(reason, '') as reason,
  count(*) as runs,
  cast(sum(is_whole) as bigint) as whole_runs,
  cast(sum(seen) as bigint) as seen,
  cast(sum(accounted) as bigint) as accounted
from coverage join run on run.run_id = coverage.run_id
where coverage.engine in ('allocations', 'cpu') and coverage.dt >= :from and coverage.dt < :until
group by coverage.service, coverage.release, coverage.engine, reason
order by coverage.service, coverage.release, coverage.engine, reason
limit :top
