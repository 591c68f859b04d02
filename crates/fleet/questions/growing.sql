-- What survives collections and grows on most hosts?
-- = survived_bytes by service, class, place, line
-- :share = 50  on so many percent of the hosts of its service at least
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select grown.service, name as class, coalesce(frame.class || '.' || method, '(no line)') as place, line, hosts_growing,
  hosts, survived_bytes, bytes_error
from (
    select service, class_id, line_id, count(distinct host) as hosts_growing,
      cast(sum(survived_bytes) as bigint) as survived_bytes,
      cast(round(sqrt(sum(error * error))) as bigint) as bytes_error
    from live
    where is_growing = 1 and dt >= :from and dt < :until
    group by service, class_id, line_id
  ) grown
  join (
    select service, count(distinct host) as hosts
    from run
    where dt >= :from and dt < :until
    group by service
  ) all_hosts on all_hosts.service = grown.service
  join class on class.class_id = grown.class_id
  left join frame on frame_id = line_id
where 100 * hosts_growing >= :share * hosts
order by survived_bytes desc, grown.service, class, place, line
limit :top
