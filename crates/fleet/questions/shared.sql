-- Which methods of libraries are on the stacks of what several services allocate?
-- = bytes by place
-- :services = 2  in so many services at least
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
with on_stack as (
    select distinct stack_id, class, method
    from stack join frame on frame.frame_id = stack.frame_id
    where is_own = 0 and class <> ''
  ),
  -- Sums first, since a stack has many frames and runs have the same stacks.
  by_run as (
    select service, stack_id, run_id, sum(bytes) as bytes, sum(error * error) as squares
    from alloc
    where dt >= :from and dt < :until
    group by service, stack_id, run_id
  ),
  by_stack as (
    select service, stack_id, sum(bytes) as bytes, sum(squares) as squares
    from by_run
    group by service, stack_id
  ),
  places as (
    select class, method, class || '.' || method as place, count(distinct service) as services, sum(bytes) as all_bytes,
      sum(squares) as all_squares
    from by_stack join on_stack on on_stack.stack_id = by_stack.stack_id
    group by class, method
    having count(distinct service) >= :services
    order by all_bytes desc, place
    limit :top
  )
select place, services,
  cast(max(all_bytes) as bigint) as bytes,
  cast(round(sqrt(max(all_squares))) as bigint) as bytes_error,
  count(distinct run_id) as runs
from places
  join on_stack on on_stack.class = places.class and on_stack.method = places.method
  join by_run on by_run.stack_id = on_stack.stack_id
group by place, services
order by bytes desc, place
limit :top
