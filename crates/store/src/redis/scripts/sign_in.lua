-- Sign-ins under way, kept forms and counters of failures.

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

-- keep_form ID SECRET_HASH USER_ID CREATED_AT EXPIRES_AT MOST FIELD VALUE …
function actions.keep_form()
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

-- failed SUBJECT_HASH NOW WINDOW_STARTED_BEFORE EXPIRES_AT: how many failures in the running window
function actions.failed()
  local name = key('throttle', ARGV[2])
  local started = redis.call('HGET', name, 'window_started_at')
  if not started or tonumber(started) <= tonumber(ARGV[4]) then
    redis.call('HSET', name, 'failures', 1, 'window_started_at', ARGV[3])
    keep(name, ARGV[5], DAY)
    redis.call('ZADD', prefix .. 'expiry', ARGV[5], 'throttle:' .. ARGV[2])
    return 1
  end
  return redis.call('HINCRBY', name, 'failures', 1)
end

function actions.undecided()
  local failures = field('throttle', ARGV[2], 'failures')
  if failures and tonumber(failures) > 0 then
    redis.call('HINCRBY', key('throttle', ARGV[2]), 'failures', -1)
  end
  return 1
end

function actions.succeeded()
  return drop('throttle', ARGV[2])
end

return actions[ARGV[1]]()
