-- The state of browsers before and beside their identity sessions, under the keyed hash of an ID. The sorted set
-- `browser_states` has all of them by the second at which they end, for their number.

local function index(hash, ends)
  local name = prefix .. 'browser_states'
  redis.call('ZADD', name, ends, hash)
  keep_longer(name, ends, DAY)
end

-- create HASH EXPIRES_AT NOW MOST FIELD VALUE …: created, taken or full
function actions.create()
  local hash, ends = ARGV[2], ARGV[3]
  if exists('browser_session', hash) then
    return 'taken'
  end
  redis.call('ZREMRANGEBYSCORE', prefix .. 'browser_states', '-inf', ARGV[4])
  if redis.call('ZCARD', prefix .. 'browser_states') >= tonumber(ARGV[5]) then
    return 'full'
  end
  put('browser_session', hash, ends, 6)
  index(hash, ends)
  return 'created'
end

-- save HASH EXPIRES_AT NOW FIELD VALUE …: 1 when it was there
function actions.save()
  local hash, ends = ARGV[2], ARGV[3]
  local before = field('browser_session', hash, 'expires_at')
  if not before or tonumber(before) <= tonumber(ARGV[4]) then
    return 0
  end
  put('browser_session', hash, ends, 5)
  index(hash, ends)
  return 1
end

-- find HASH
function actions.find()
  return redis.call('HGETALL', key('browser_session', ARGV[2]))
end

-- delete HASH: 1 when it was there
function actions.delete()
  return drop_browser_session(ARGV[2])
end

return actions[ARGV[1]]()
