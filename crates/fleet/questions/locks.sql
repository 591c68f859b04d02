-- Which locks cost most, and where were their owners?
-- = nanos by service, lock_name, waits_at, waits_at_line, owner, owned_at, owned_at_line
-- :service = '%'  services like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, coalesce(lock_name, name, '(unknown)') as lock_name,
  waiting.class || '.' || waiting.method as waits_at, waiting.line as waits_at_line,
  owner, owning.class || '.' || owning.method as owned_at, owning.line as owned_at_line,
  cast(sum(nanos) as bigint) as nanos,
  cast(round(sqrt(sum(error * error))) as bigint) as nanos_error,
  cast(sum(waits) as bigint) as waits,
  max(longest_nanos) as longest_nanos,
  count(distinct run_id) as runs
from lock_wait
  left join class on class.class_id = lock_wait.class_id
  left join frame waiting on waiting.frame_id = line_id
  left join frame owning on owning.frame_id = owner_line_id
where is_contended = 1 and service like :service and dt >= :from and dt < :until
group by service, lock_name, name, waiting.class, waiting.method, waiting.line, owner, owning.class, owning.method,
  owning.line
order by nanos desc, service, lock_name, waits_at, waits_at_line, owner, owned_at, owned_at_line
limit :top
