-- The audit log: `audit` by milliseconds, and the same of each user and each session.

-- append ID AT_MILLIS USER_ID SESSION_ID FIELD VALUE …
function actions.append()
  local id, at = ARGV[2], ARGV[3]
  redis.call('HSET', key('event', id), unpack(ARGV, 6))
  redis.call('ZADD', prefix .. 'audit', at, id)
  if ARGV[4] ~= '' then
    redis.call('ZADD', key('audit_user', ARGV[4]), at, id)
  end
  if ARGV[5] ~= '' then
    redis.call('ZADD', key('audit_session', ARGV[5]), at, id)
  end
  return 1
end

-- list INDEX SINCE LIMIT: the newest first; LIMIT -1 for all
function actions.list()
  local all = {}
  local ids = redis.call('ZREVRANGEBYSCORE', prefix .. ARGV[2], '+inf', ARGV[3], 'LIMIT', 0, ARGV[4])
  for _, id in ipairs(ids) do
    table.insert(all, redis.call('HGETALL', key('event', id)))
  end
  return all
end

-- delete BEFORE LIMIT: how many events were deleted
function actions.delete()
  local ids = redis.call('ZRANGEBYSCORE', prefix .. 'audit', '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
  for _, id in ipairs(ids) do
    local found = redis.call('HMGET', key('event', id), 'user_id', 'session_id')
    if found[1] then
      redis.call('ZREM', key('audit_user', found[1]), id)
    end
    if found[2] then
      redis.call('ZREM', key('audit_session', found[2]), id)
    end
    redis.call('ZREM', prefix .. 'audit', id)
    redis.call('DEL', key('event', id))
  end
  return #ids
end

return actions[ARGV[1]]()
