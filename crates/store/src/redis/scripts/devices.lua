-- Device codes (RFC 8628), under the hash of the device code; `device_user` leads there from the user code.

local function undecided(hash, now)
  local found = redis.call('HMGET', key('device', hash), 'status', 'expires_at')
  return found[1] == 'pending' and tonumber(found[2]) > tonumber(now)
end

-- start HASH USER_CODE_HASH EXPIRES_AT FIELD VALUE …: 0 when the user code is taken
function actions.start()
  if exists('device_user', ARGV[3]) then
    return 0
  end
  put('device', ARGV[2], ARGV[4], 5)
  point('device_user', ARGV[3], ARGV[2], ARGV[4])
  return 1
end

-- find USER_CODE_HASH NOW: the device code's hash and the undecided request
function actions.find()
  local hash = redis.call('GET', key('device_user', ARGV[2]))
  if not hash or not undecided(hash, ARGV[3]) then
    return false
  end
  return { hash, redis.call('HGETALL', key('device', hash)) }
end

-- decide HASH NOW SESSION FIELD VALUE …: 0 when it is decided or too late; SESSION is empty for a denial
function actions.decide()
  if not undecided(ARGV[2], ARGV[3]) then
    return 0
  end
  if ARGV[4] ~= '' and not known_session(ARGV[4]) then
    return NO_SESSION
  end
  redis.call('HSET', key('device', ARGV[2]), unpack(ARGV, 5))
  return 1
end

-- poll HASH NOW SLOWER: the decided request, which is gone then, or a word
function actions.poll()
  local hash, now = ARGV[2], tonumber(ARGV[3])
  local name = key('device', hash)
  local found = redis.call('HMGET', name, 'status', 'expires_at', 'poll_interval', 'last_polled_at')
  if not found[1] then
    return { 'expired', {} }
  end
  if found[1] ~= 'pending' then
    local request = redis.call('HGETALL', name)
    drop_device(hash)
    return { 'decided', request }
  end
  if now >= tonumber(found[2]) then
    return { 'expired', {} }
  end
  local hurried = found[4] and now - tonumber(found[4]) < tonumber(found[3])
  redis.call('HSET', name, 'last_polled_at', now)
  if hurried then
    redis.call('HINCRBY', name, 'poll_interval', ARGV[4])
    return { 'slow_down', {} }
  end
  return { 'pending', {} }
end

return actions[ARGV[1]]()
