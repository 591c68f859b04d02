-- Which lines of your own code allocate most?
-- = bytes by service, release, place, line
-- :service = '%'  services like this
-- :release = '%'  releases like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, release, coalesce(class || '.' || method, '(no line)') as place, line, bytes, bytes_error, objects, runs
from (
    select service, release, place_id,
      cast(sum(bytes) as bigint) as bytes,
      cast(round(sqrt(sum(case when is_line_exact = 1 then 0.0 else error * error end))) as bigint) as bytes_error,
      cast(sum(objects) as bigint) as objects,
      count(distinct run_id) as runs
    -- Numbers are grouped faster than names.
    from alloc left join (
        select frame_id, min(frame_id) over (partition by class, method, line) as place_id
        from frame
      ) places on frame_id = line_id
    where service like :service and release like :release and dt >= :from and dt < :until
    group by service, release, place_id
  ) sums
  left join frame on frame_id = place_id
order by bytes desc, service, release, place, line
limit :top
