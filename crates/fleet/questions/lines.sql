-- Which lines of your own code allocate most?
-- = bytes by service, release, place, line
-- :service = '%'  services like this
-- :release = '%'  releases like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, release, coalesce(class || '.' || method, '(no line)') as place, line,
  cast(sum(bytes) as bigint) as bytes,
  cast(round(sqrt(sum(case when is_line_exact = 1 then 0.0 else error * error end))) as bigint) as bytes_error,
  cast(sum(objects) as bigint) as objects,
  count(distinct run_id) as runs
from alloc left join frame on frame_id = line_id
where service like :service and release like :release and dt >= :from and dt < :until
group by service, release, class, method, line
order by bytes desc, service, release, place, line
limit :top
