-- Which methods of libraries are on the stacks of what several services allocate?
-- = bytes by place
-- :services = 2  in so many services at least
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select class || '.' || method as place,
  count(distinct service) as services,
  cast(sum(bytes) as bigint) as bytes,
  cast(round(sqrt(sum(error * error))) as bigint) as bytes_error,
  count(distinct run_id) as runs
from alloc join (
    select distinct stack_id, class, method
    from stack join frame on frame.frame_id = stack.frame_id
    where is_own = 0 and class <> ''
  ) on_stack on on_stack.stack_id = alloc.stack_id
where dt >= :from and dt < :until
group by class, method
having count(distinct service) >= :services
order by bytes desc, place
limit :top
