-- Sign-ins under way, saved forms and counters of failures.

-- start_flow ID SECRET_HASH EXPIRES_AT FIELD VALUE …
function actions.start_flow()
  put('flow', ARGV[2], ARGV[4], 5)
  point('flow_secret', ARGV[3], ARGV[2], ARGV[4])
  return 1
end

-- set_receipt ID FIELD VALUE …: nothing when the flow is gone
function actions.set_receipt()
  if exists('flow', ARGV[2]) then
    redis.call('HSET', key('flow', ARGV[2]), 'attempts', 0, unpack(ARGV, 3))
  end
  return 1
end

function actions.count_attempt()
  if not exists('flow', ARGV[2]) then
    return false
  end
  return redis.call('HINCRBY', key('flow', ARGV[2]), 'attempts', 1)
end

function actions.finish_flow()
  return drop_flow(ARGV[2])
end

-- save_form ID SECRET_HASH USER_ID CREATED_AT EXPIRES_AT MOST FIELD VALUE …
function actions.save_form()
  local id, user, ends = ARGV[2], ARGV[4], ARGV[6]
  put('form', id, ends, 8)
  point('form_secret', ARGV[3], id, ends)
  local index = key('user_forms', user)
  redis.call('ZADD', index, ARGV[5], id)
  keep_longer(index, ends, DAY)
  local surplus = redis.call('ZCARD', index) - tonumber(ARGV[7])
  for _, old in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    if surplus <= 0 then
      break
    end
    if old ~= id then
      drop_form(old)
      redis.call('ZREM', index, old)
      surplus = surplus - 1
    end
  end
  return 1
end

function actions.forget_form()
  return drop_form(ARGV[2])
end

-- of_secret KIND SECRET_HASH: the entry that the secret's hash points to
function actions.of_secret()
  local id = redis.call('GET', key(ARGV[2] .. '_secret', ARGV[3]))
  if not id then
    return {}
  end
  return redis.call('HGETALL', key(ARGV[2], id))
end

-- reserve SUBJECT_HASH NOW FORGOTTEN MOVES FREE EXPIRES_AT BEFORE…: whether there was room, the failures, and their time
function actions.reserve()
  local name = key('throttle', ARGV[2])
  local now, forgotten, free = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[6])
  local found = redis.call('HMGET', name, 'failures', 'window_started_at')
  local failures, at = tonumber(found[1] or 0), tonumber(found[2] or now)
  if not found[1] or at <= forgotten then
    failures, at = 0, now
  elseif failures >= free then
    local before = ARGV[8 + math.min(failures - free, #ARGV - 8)]
    if at > tonumber(before) then
      return { 0, failures, at }
    end
  end
  failures = failures + 1
  if ARGV[5] == '1' then
    at = now
  end
  redis.call('HSET', name, 'failures', failures, 'window_started_at', at)
  keep(name, ARGV[7], DAY)
  redis.call('ZADD', prefix .. 'expiry', ARGV[7], 'throttle:' .. ARGV[2])
  return { 1, failures, at }
end

-- give_back SUBJECT_HASH FAILURES AT REOPENED LATEST
function actions.give_back()
  local name = key('throttle', ARGV[2])
  local found = redis.call('HMGET', name, 'failures', 'window_started_at')
  local failures, at = tonumber(found[1] or 0), tonumber(found[2] or 0)
  if failures <= 0 or at < tonumber(ARGV[4]) or at > tonumber(ARGV[6]) then
    return 0
  end
  if failures == tonumber(ARGV[3]) and at == tonumber(ARGV[4]) then
    redis.call('HSET', name, 'window_started_at', ARGV[5])
  end
  redis.call('HINCRBY', name, 'failures', -1)
  return 1
end

function actions.succeeded()
  return drop('throttle', ARGV[2])
end

-- account_failed ACCOUNT_HASH KNOWN_BROWSER NOW: nothing for an account that has not signed in
function actions.account_failed()
  local name = key('account', ARGV[2])
  if not exists('account', ARGV[2]) then
    return 0
  end
  redis.call('HINCRBY', name, 'failures', 1)
  redis.call('HINCRBY', name, 'known_failures', ARGV[3])
  redis.call('HSET', name, 'last_failed_at', ARGV[4])
  return 1
end

-- account_signed_in ACCOUNT_HASH EXPIRES_AT FIELD VALUE …: the entry as it was
function actions.account_signed_in()
  local before = redis.call('HGETALL', key('account', ARGV[2]))
  put('account', ARGV[2], ARGV[3], 4)
  return before
end

return actions[ARGV[1]]()
