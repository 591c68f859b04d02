-- How long did the first request of each entry point take, and what took most of it?
-- = longest_nanos by service, release, entry
-- :service = '%'  services like this
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
select firsts.service, firsts.release, firsts.entry, runs, longest_nanos, mean_nanos, mean_of_all_nanos, largest_part
from (
    select service, release, entry, count(*) as runs, max(nanos) as longest_nanos,
      cast(round(avg(nanos)) as bigint) as mean_nanos, max_by(largest_part, nanos) as largest_part
    from request
    where number = 1 and service like :service and dt >= :from and dt < :until
    group by service, release, entry
  ) firsts
  join (
    select service, release, entry, cast(round(1.0 * sum(nanos) / sum(requests)) as bigint) as mean_of_all_nanos
    from request
    where number is null and requests > 0 and service like :service and dt >= :from and dt < :until
    group by service, release, entry
  ) sums on sums.service = firsts.service and sums.release = firsts.release and sums.entry = firsts.entry
order by longest_nanos desc, firsts.service, firsts.release, firsts.entry
limit :top
