-- What do methods allocate more or less in a release than in the one before?
-- :before = ''  the release before
-- :after = ''  the release after
-- :service = '%'  services like this
-- :least = 5  changes of so many thousandths of the service's bytes at least
-- :from = '0000-00-00'  days from this one on
-- :until = '9999-99-99'  days before this one
-- :top = 20  rows
with runs as (
    select service, release, run_id, case when release = :after then 1 else 0 end as is_after,
      row_number() over (partition by service, release order by start_at, run_id) as number,
      count(*) over (partition by service, release) as count_of_release
    from run
    where service like :service and release in (:before, :after) and dt >= :from and dt < :until
  ),
  sides as (
    select service, cast(sum(1 - is_after) as double) as n_before, cast(sum(is_after) as double) as n_after,
      cast(sum(case when is_after = 1 and 3 * number > 2 * count_of_release then 1 else 0 end) as double) as n_late
    from runs
    group by service
    having sum(1 - is_after) >= 2 and sum(is_after) >= 2
  ),
  cells as (
    select runs.service, runs.run_id, is_after,
      case when is_after = 1 and 3 * number > 2 * count_of_release then 1 else 0 end as is_late,
      coalesce(place_id, 0) as place, class_id, cast(sum(bytes) as double) as bytes
    -- Numbers are grouped faster than names.
    from alloc join runs on runs.run_id = alloc.run_id left join (
        select frame_id, min(frame_id) over (partition by class, method) as place_id
        from frame
      ) places on frame_id = line_id
    group by runs.service, runs.run_id, is_after, number, count_of_release, place_id, class_id
  ),
  -- How busy a run was is the median of what its methods did, each beside its own mean. Bytes are those of a run as busy as the others.
  logs as (
    select service, run_id, ln(bytes) - avg(ln(bytes)) over (partition by service, place) as log_ratio,
      count(*) over (partition by service, place) as in_runs
    from (select service, run_id, place, sum(bytes) as bytes from cells group by service, run_id, place) places
    where bytes > 0
  ),
  busy as (
    select logs.service, run_id, exp(median(log_ratio)) as factor
    from logs join sides on sides.service = logs.service
    where in_runs = n_before + n_after
    group by logs.service, run_id
  ),
  levelled as (
    select cells.service, cells.run_id, is_after, is_late, place, class_id, bytes / factor as bytes
    from cells join busy on busy.service = cells.service and busy.run_id = cells.run_id
  ),
  means as (
    select of_run.service, place, n_before, n_after,
      sum(case when is_after = 0 then bytes else 0 end) / n_before as before_bytes,
      sum(case when is_after = 1 then bytes else 0 end) / n_after as after_bytes,
      sum(case when is_late = 1 then bytes else 0 end) / n_late as late_bytes,
      sum(case when is_after = 0 then bytes * bytes else 0 end) as before_squares,
      sum(case when is_after = 1 then bytes * bytes else 0 end) as after_squares
    from (
        select service, run_id, is_after, is_late, place, sum(bytes) as bytes
        from levelled
        group by service, run_id, is_after, is_late, place
      ) of_run
      join sides on sides.service = of_run.service
    group by of_run.service, place, n_before, n_after, n_late
  ),
  spreads as (
    select means.*, n_before + n_after - 2 as freedom, greatest(before_bytes, after_bytes) as larger,
      greatest(before_squares - n_before * before_bytes * before_bytes, 0.0)
        + greatest(after_squares - n_after * after_bytes * after_bytes, 0.0) as spread,
      sum((n_before * before_bytes + n_after * after_bytes) / (n_before + n_after)) over (partition by service) as all_bytes
    from means
  ),
  -- Few runs say little about a method's own variance. The usual one of its service counts like four runs more.
  usual as (
    select service, median(spread / freedom / (larger * larger)) as variance
    from spreads
    where before_bytes > 0 and after_bytes > 0
    group by service
  ),
  tested as (
    select spreads.*, freedom + 4 as all_freedom,
      (after_bytes - before_bytes) / sqrt(larger * larger * 1e-12
        + (spread + 4 * coalesce(variance, 0.0) * larger * larger) / (freedom + 4) * (1 / n_before + 1 / n_after)) as t
    from spreads left join usual on usual.service = spreads.service
    where larger > 0
  ),
  -- As many standard deviations (Wallace); chance alone gives one beyond the limit in one of a thousand questions.
  judged as (
    select tested.*,
      (8 * all_freedom + 1) / (8 * all_freedom + 3) * sqrt(all_freedom * ln(1 + t * t / all_freedom)) as z,
      sqrt(2 * ln(1000.0 * count(*) over ())) as limit_z
    from tested
  ),
  changed as (
    select * from judged where z > limit_z and 1000 * abs(after_bytes - before_bytes) >= :least * all_bytes
  ),
  by_class as (
    select levelled.service, place, class_id,
      sum(case when is_after = 1 then bytes / n_after else -bytes / n_before end) as difference
    from levelled join sides on sides.service = levelled.service
    group by levelled.service, place, class_id
  ),
  mostly as (
    select service, place, max_by(class_id, abs(difference)) as class_id, max_by(difference, abs(difference)) as difference
    from by_class
    group by service, place
  ),
  -- What methods that may have changed make more of a class, and less. What one gives, another may have taken.
  exchanged as (
    select by_class.service, class_id, sum(greatest(difference, 0.0)) as more, sum(greatest(-difference, 0.0)) as less
    from by_class join judged on judged.service = by_class.service and judged.place = by_class.place
    where z > 1
    group by by_class.service, class_id
  ),
  answered as (
    select changed.service, coalesce(frame.class || '.' || method, '(no line)') as place, name as mostly,
      cast(round(before_bytes) as bigint) as before_bytes, cast(round(after_bytes) as bigint) as after_bytes,
      cast(round(1000 * (after_bytes - before_bytes) / all_bytes) as bigint) as thousandths,
      cast(n_before as bigint) as runs_before, cast(n_after as bigint) as runs_after,
      case
        when abs(late_bytes - before_bytes) < abs(after_bytes - before_bytes) / 2 then 'went away'
        when case when difference > 0 then less else more end > abs(difference) / 2 then 'moved'
        when before_bytes = 0 then 'new'
        when after_bytes = 0 then 'gone'
        when after_bytes > before_bytes then 'rise'
        else 'fall'
      end as what
    from changed
      join mostly on mostly.service = changed.service and mostly.place = changed.place
      join exchanged on exchanged.service = changed.service and exchanged.class_id = mostly.class_id
      join class on class.class_id = mostly.class_id
      left join frame on frame.frame_id = changed.place
  )
select service, what, place, mostly, before_bytes, after_bytes, thousandths, runs_before, runs_after
from answered
order by case what when 'rise' then 0 when 'new' then 0 when 'moved' then 2 when 'went away' then 3 else 1 end,
  abs(after_bytes - before_bytes) desc, service, place
limit :top
