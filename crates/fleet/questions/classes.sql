-- Of which classes are most bytes allocated?
-- = bytes by service, release, class
-- :service = '%'  services like this
-- :release = '%'  releases like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select service, release, name as class, bytes, bytes_error, objects, runs
from (
    select service, release, class_id,
      cast(sum(bytes) as bigint) as bytes,
      cast(round(sqrt(sum(case when is_exact = 1 then 0.0 else error * error end))) as bigint) as bytes_error,
      cast(sum(objects) as bigint) as objects,
      count(distinct run_id) as runs
    from alloc
    where service like :service and release like :release and dt >= :from and dt < :until
    group by service, release, class_id
  ) sums
  join class on class.class_id = sums.class_id
order by bytes desc, service, release, class
limit :top
