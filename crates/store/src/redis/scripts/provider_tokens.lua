-- The tokens of OIDC providers, one entry a session under its root, and the lease by which one replica refreshes them.
-- `provider_revocations` holds those of ended sessions by the second of the next try to revoke.

-- store SESSION NOW FIELD VALUE …
function actions.store()
  local session = ARGV[2]
  if not known_session(session) then
    return NO_SESSION
  end
  local name = key('provider_token', session)
  redis.call('HSET', name, unpack(ARGV, 4))
  -- as long as the session, which takes it along
  redis.call('EXPIRE', name, redis.call('TTL', key('session', session)))
  if not is_live(session) then
    redis.call('ZADD', prefix .. 'provider_revocations', ARGV[3], session)
  end
  return 1
end

-- lease SESSION HOLDER UNTIL NOW (milliseconds): whether it is the holder's now, and the tokens
function actions.lease()
  local session = ARGV[2]
  local name = key('provider_token', session)
  local until_then = redis.call('HGET', name, 'lease_until_millis')
  local free = not until_then or tonumber(until_then) <= tonumber(ARGV[5])
  local yours = 0
  if free and exists('provider_token', session) and is_live(session) then
    redis.call('HSET', name, 'lease_holder', ARGV[3], 'lease_until_millis', ARGV[4])
    yours = 1
  end
  return { yours, redis.call('HGETALL', name) }
end

-- replace SESSION VERSION PROFILE EXPIRES_AT NOW FIELD VALUE …: 0 when the version is another one by now
function actions.replace()
  local session = ARGV[2]
  local name = key('provider_token', session)
  if redis.call('HGET', name, 'version') ~= ARGV[3] then
    return 0
  end
  redis.call('HSET', name, unpack(ARGV, 7))
  redis.call('HINCRBY', name, 'version', 1)
  redis.call('HDEL', name, 'lease_holder', 'lease_until_millis')
  redis.call('EXPIRE', name, redis.call('TTL', key('session', session)))
  set_provider(session, ARGV[4], ARGV[5])
  announce(session, 'changed', '', ARGV[6])
  return 1
end

-- release SESSION HOLDER
function actions.release()
  local name = key('provider_token', ARGV[2])
  if redis.call('HGET', name, 'lease_holder') == ARGV[3] then
    redis.call('HDEL', name, 'lease_holder', 'lease_until_millis')
  end
  return 1
end

-- ended LIMIT NOW: those of ended sessions that are due
function actions.ended()
  local index = prefix .. 'provider_revocations'
  local all = {}
  for _, session in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', ARGV[3], 'LIMIT', 0, ARGV[2])) do
    local tokens = redis.call('HGETALL', key('provider_token', session))
    if #tokens > 0 then
      table.insert(all, tokens)
    else
      redis.call('ZREM', index, session)
    end
  end
  return all
end

-- failed SESSION NEXT
function actions.failed()
  if exists('provider_token', ARGV[2]) then
    redis.call('HSET', key('provider_token', ARGV[2]), 'revoke_at', ARGV[3])
    redis.call('HINCRBY', key('provider_token', ARGV[2]), 'revoke_attempts', 1)
    redis.call('ZADD', prefix .. 'provider_revocations', 'XX', ARGV[3], ARGV[2])
  end
  return 1
end

-- forget SESSION
function actions.forget()
  redis.call('ZREM', prefix .. 'provider_revocations', ARGV[2])
  return redis.call('DEL', key('provider_token', ARGV[2]))
end

return actions[ARGV[1]]()
