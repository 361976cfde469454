-- Keystone tokens, by session; `revocations` holds those to revoke by the second of the next try.

local function tokens_of(session, all)
  for _, id in ipairs(redis.call('SMEMBERS', key('session_tokens', session))) do
    local token = redis.call('HGETALL', key('token', id))
    if #token > 0 then
      table.insert(all, token)
    else
      redis.call('SREM', key('session_tokens', session), id)
    end
  end
end

-- store ID SESSION EXPIRES_AT NOW FIELD VALUE …: 1 when the session is live; else the token is due at once and it is 0
function actions.store()
  local id, session, ends, now = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
  local found = redis.call('HMGET', key('session', session), 'id', 'ended_at')
  if not found[1] then
    return NO_SESSION
  end
  put('token', id, ends, 6)
  local index = key('session_tokens', session)
  redis.call('SADD', index, id)
  keep_longer(index, ends, AFTER_END)
  if found[2] then
    redis.call('HSET', key('token', id), 'revoke_at', now)
    redis.call('ZADD', prefix .. 'revocations', now, id)
    return 0
  end
  return 1
end

-- of_session SESSION
function actions.of_session()
  local all = {}
  tokens_of(ARGV[2], all)
  return all
end

-- of_family ROOT: those of the session and its children
function actions.of_family()
  local all = {}
  tokens_of(ARGV[2], all)
  for _, child in ipairs(redis.call('SMEMBERS', key('children', ARGV[2]))) do
    tokens_of(child, all)
  end
  return all
end

-- of_user USER_ID: those of every session of the user; of an ended one they say so
function actions.of_user()
  local all = {}
  for _, session in ipairs(redis.call('SMEMBERS', key('user_sessions', ARGV[2]))) do
    local before = #all
    tokens_of(session, all)
    if not is_live(session) then
      for at = before + 1, #all do
        table.insert(all[at], 'session_ended')
        table.insert(all[at], '1')
      end
    end
  end
  return all
end

-- count_unfinished NOW: those that are due or have failed, and have not expired
function actions.count_unfinished()
  local count, now = 0, tonumber(ARGV[2])
  for _, id in ipairs(redis.call('ZRANGE', prefix .. 'revocations', 0, -1)) do
    local token = redis.call('HMGET', key('token', id), 'expires_at', 'revoke_at', 'revoke_attempts')
    if token[1] and tonumber(token[1]) > now and (tonumber(token[2]) <= now or tonumber(token[3]) > 0) then
      count = count + 1
    end
  end
  return count
end

-- due LIMIT NOW: the first whose time has come and that have not expired
function actions.due()
  local all = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'revocations', '-inf', ARGV[3])) do
    if #all >= tonumber(ARGV[2]) then
      break
    end
    local token = redis.call('HGETALL', key('token', id))
    if #token == 0 then
      redis.call('ZREM', prefix .. 'revocations', id)
    elseif tonumber(field('token', id, 'expires_at')) > tonumber(ARGV[3]) then
      table.insert(all, token)
    end
  end
  return all
end

-- set_roles ID ROLES
function actions.set_roles()
  if exists('token', ARGV[2]) then
    redis.call('HSET', key('token', ARGV[2]), 'roles', ARGV[3])
  end
  return 1
end

-- revoke_at ID AT FAILURES: when to try next, and how many tries have failed just now
function actions.revoke_at()
  if exists('token', ARGV[2]) then
    redis.call('HSET', key('token', ARGV[2]), 'revoke_at', ARGV[3])
    redis.call('HINCRBY', key('token', ARGV[2]), 'revoke_attempts', ARGV[4])
    redis.call('ZADD', prefix .. 'revocations', ARGV[3], ARGV[2])
  end
  return 1
end

-- claim ID ATTEMPTS UNTIL NOW: 0 when another replica has tried or is trying since it was read
function actions.claim()
  local found = redis.call('HMGET', key('token', ARGV[2]), 'revoke_attempts', 'revoke_at')
  if found[1] ~= ARGV[3] or not found[2] or tonumber(found[2]) > tonumber(ARGV[5]) then
    return 0
  end
  redis.call('HSET', key('token', ARGV[2]), 'revoke_at', ARGV[4])
  redis.call('ZADD', prefix .. 'revocations', ARGV[4], ARGV[2])
  return 1
end

function actions.forget()
  return drop_token(ARGV[2])
end

return actions[ARGV[1]]()
