-- The application credentials of sessions that stay signed in; `credentials` holds those of live sessions by their end.

-- whether a session has a token for a project that outlives `before`
local function has_token(session, project, before)
  for _, id in ipairs(redis.call('SMEMBERS', key('session_tokens', session))) do
    local token = redis.call('HMGET', key('token', id), 'project_id', 'revoke_at', 'expires_at')
    if token[1] == project and not token[2] and tonumber(token[3]) > tonumber(before) then
      return true
    end
  end
  return false
end

local function all_of(index)
  local all = {}
  for _, id in ipairs(redis.call('SMEMBERS', index)) do
    local credential = redis.call('HGETALL', key('credential', id))
    if #credential > 0 then
      table.insert(all, credential)
    else
      redis.call('SREM', index, id)
    end
  end
  return all
end

-- store ID SESSION USER_ID EXPIRES_AT KEPT_UNTIL NOW PROJECTS PROJECT_ID SECRET FIELD VALUE …: 0 when the session has
-- ended meanwhile; the secret is left out then
function actions.store()
  local id, session, user, ends, kept, now = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
  local live = 0
  for _, one in ipairs(family(session)) do
    if is_live(one) then
      redis.call('HSET', key('session', one), 'keystone_expires_at', ends, 'projects', ARGV[8], 'last_project', ARGV[9])
      index_times(one)
      live = 1
    end
  end
  put('credential', id, kept, 11)
  for _, index in ipairs({ key('session_credentials', session), key('user_credentials', user) }) do
    redis.call('SADD', index, id)
    keep_longer(index, kept, DAY)
  end
  if live == 0 then
    redis.call('HSET', key('credential', id), 'ended_at', now)
    return 0
  end
  redis.call('HSET', key('credential', id), 'secret_sealed', ARGV[10])
  redis.call('ZADD', prefix .. 'credentials', ends, id)
  announce(session, 'changed', '', now)
  return 1
end

-- of_session SESSION: live and left over ones
function actions.of_session()
  return all_of(key('session_credentials', ARGV[2]))
end

-- of_user USER_ID: live and left over ones
function actions.of_user()
  return all_of(key('user_credentials', ARGV[2]))
end

-- due BEFORE NOW LIMIT: those of live sessions without a token that outlives BEFORE, which no replica is fetching
function actions.due()
  local all = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'credentials', '(' .. ARGV[2], '+inf')) do
    if #all >= tonumber(ARGV[4]) then
      break
    end
    local found = redis.call('HMGET', key('credential', id), 'session_id', 'project_id', 'claimed_until')
    if not found[1] then
      redis.call('ZREM', prefix .. 'credentials', id)
    else
      local now = tonumber(ARGV[3])
      local free = not found[3] or tonumber(found[3]) <= now
      local idle = field('session', found[1], 'idle_expires_at')
      local used = is_live(found[1]) and tonumber(idle) > now
      if free and used and not has_token(found[1], found[2], ARGV[2]) then
        table.insert(all, redis.call('HGETALL', key('credential', id)))
      end
    end
  end
  return all
end

-- claim ID UNTIL NOW: 0 when another replica is at it, or the session has ended
function actions.claim()
  local name = key('credential', ARGV[2])
  local found = redis.call('HMGET', name, 'id', 'ended_at', 'claimed_until')
  if not found[1] or found[2] or (found[3] and tonumber(found[3]) > tonumber(ARGV[4])) then
    return 0
  end
  redis.call('HSET', name, 'claimed_until', ARGV[3])
  return 1
end

-- fetched ID SESSION METHODS NOW
function actions.fetched()
  redis.call('HDEL', key('credential', ARGV[2]), 'claimed_until')
  for _, one in ipairs(family(ARGV[3])) do
    if is_live(one) then
      redis.call('HSET', key('session', one), 'auth_methods', ARGV[4])
    end
  end
  announce(ARGV[3], 'changed', '', ARGV[5])
  return 1
end

-- forget ID
function actions.forget()
  return drop_credential(ARGV[2])
end

return actions[ARGV[1]]()
