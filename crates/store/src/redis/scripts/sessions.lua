-- Sessions. Indexes: `live` by the second at which a session runs out, `browsers` by the idle end of live browser sessions,
-- `ended` by the end; the children of a session, the sessions of a user ID and of a user name in lower case.

local function provider_tokens_due(session, at)
  if exists('provider_token', session) and not redis.call('ZSCORE', prefix .. 'provider_revocations', session) then
    redis.call('HSET', key('provider_token', session), 'revoke_at', at)
    redis.call('ZADD', prefix .. 'provider_revocations', at, session)
  end
end

local function due(session, at)
  for _, token in ipairs(redis.call('SMEMBERS', key('session_tokens', session))) do
    local found = redis.call('HMGET', key('token', token), 'id', 'revoke_at')
    if not found[1] then
      redis.call('SREM', key('session_tokens', session), token)
    elseif not found[2] or tonumber(found[2]) > tonumber(at) then
      redis.call('HSET', key('token', token), 'revoke_at', at)
      redis.call('ZADD', prefix .. 'revocations', at, token)
    end
  end
end

-- the secret of an application credential is destroyed; the entry stays until Keystone has it no more
local function end_credentials(session, now)
  for _, id in ipairs(redis.call('SMEMBERS', key('session_credentials', session))) do
    local name = key('credential', id)
    if exists('credential', id) and not redis.call('HGET', name, 'ended_at') then
      redis.call('HDEL', name, 'secret_sealed')
      redis.call('HSET', name, 'ended_at', now)
      redis.call('ZREM', prefix .. 'credentials', id)
    end
  end
end

-- whether the time of a live session has passed
local function has_run_out(id, now)
  if not is_live(id) then
    return false
  end
  local times = redis.call('HMGET', key('session', id), 'idle_expires_at', 'absolute_expires_at', 'keystone_expires_at')
  return math.min(tonumber(times[1]), tonumber(times[2]), tonumber(times[3])) <= tonumber(now)
end

-- insert ID PARENT USER_ID LOWER_NAME SECRET_HASH POINTER FIELD VALUE …: 0 when the parent has ended meanwhile
function actions.insert()
  local id, parent, user, name, hash, pointer = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7]
  if parent ~= '' then
    if not is_live(parent) then
      return 0
    end
    redis.call('SADD', key('children', parent), id)
  end
  redis.call('HSET', key('session', id), unpack(ARGV, 8))
  redis.call('SADD', key('user_sessions', user), id)
  redis.call('SADD', key('name_sessions', name), id)
  if hash ~= '' then
    redis.call('SET', key('session_secret', hash), pointer)
  end
  if parent == '' then
    local of = redis.call('HMGET', key('session', id), 'provider', 'provider_subject', 'provider_sid')
    for _, index in ipairs(provider_indexes(of[1], of[2], of[3])) do
      redis.call('SADD', index, id)
    end
  end
  index_times(id)
  return 1
end

-- find SECRET_HASH: the pointer and the session; nil for none, an error when this is no store at all
function actions.find()
  local pointer = redis.call('GET', key('session_secret', ARGV[2]))
  if not pointer then
    return false
  end
  local id = string.match(pointer, '^[^.]+')
  return { pointer, redis.call('HGETALL', key('session', id)) }
end

-- get ID
function actions.get()
  return redis.call('HGETALL', key('session', ARGV[2]))
end

-- live_of_user USER_ID: those that have not ended
function actions.live_of_user()
  local all = {}
  for _, id in ipairs(redis.call('SMEMBERS', key('user_sessions', ARGV[2]))) do
    if is_live(id) then
      table.insert(all, redis.call('HGETALL', key('session', id)))
    end
  end
  return all
end

-- named USER_ID LOWER_NAME …: those that have not ended of a user ID or one of the names
function actions.named()
  local indexes = { key('user_sessions', ARGV[2]) }
  for at = 3, #ARGV do
    table.insert(indexes, key('name_sessions', ARGV[at]))
  end
  local all = {}
  for _, id in ipairs(redis.call('SUNION', unpack(indexes))) do
    if is_live(id) then
      table.insert(all, redis.call('HGETALL', key('session', id)))
    end
  end
  return all
end

-- count_by_kind KIND … NOW: how many live sessions there are of each kind
function actions.count_by_kind()
  local now = ARGV[#ARGV]
  local counts, all = {}, {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'live', '(' .. now, '+inf')) do
    local kind = field('session', id, 'kind')
    if kind then
      counts[kind] = (counts[kind] or 0) + 1
    end
  end
  for at = 2, #ARGV - 1 do
    table.insert(all, counts[ARGV[at]] or 0)
  end
  return all
end

-- of_provider PROVIDER SUBJECT SID: live browser sessions of the one or the other; what is empty counts for none
function actions.of_provider()
  local subject = ARGV[3] ~= '' and ARGV[3]
  local sid = ARGV[4] ~= '' and ARGV[4]
  local indexes = provider_indexes(ARGV[2], subject, sid)
  local all = {}
  if #indexes == 0 then
    return all
  end
  for _, id in ipairs(redis.call('SUNION', unpack(indexes))) do
    if is_live(id) then
      table.insert(all, redis.call('HGETALL', key('session', id)))
    end
  end
  return all
end

-- set_provider ROOT PROFILE EXPIRES_AT NOW: how many of the family are live; EXPIRES_AT may be empty
function actions.set_provider()
  local count = set_provider(ARGV[2], ARGV[3], ARGV[4])
  announce(ARGV[2], 'changed', '', ARGV[5])
  return count
end

-- set_family ROOT FIELD VALUE: for the session and its children, ended or not
function actions.set_family()
  for _, id in ipairs(family(ARGV[2])) do
    if exists('session', id) then
      redis.call('HSET', key('session', id), ARGV[3], ARGV[4])
    end
  end
  return 1
end

-- change_family ROOT NOW FIELD VALUE …: the same, and all replicas are notified
function actions.change_family()
  for _, id in ipairs(family(ARGV[2])) do
    if exists('session', id) then
      redis.call('HSET', key('session', id), unpack(ARGV, 4))
    end
  end
  announce(ARGV[2], 'changed', '', ARGV[3])
  return 1
end

-- renew_tokens ROOT NOW FIELD VALUE …: how many of the family are live; they continue with other tokens
function actions.renew_tokens()
  local count = 0
  for _, id in ipairs(family(ARGV[2])) do
    if is_live(id) then
      redis.call('HSET', key('session', id), unpack(ARGV, 4))
      index_times(id)
      count = count + 1
    end
  end
  announce(ARGV[2], 'renewed', '', ARGV[3])
  return count
end

-- touch ID FAMILY IDLE_EXPIRES_AT NOW
function actions.touch()
  local id, touched = ARGV[2], 0
  for _, one in ipairs(family(ARGV[3])) do
    local name = key('session', one)
    local kind = redis.call('HGET', name, 'kind')
    if is_live(one) and (one == ARGV[3] or kind ~= 'cli') then
      local absolute = redis.call('HGET', name, 'absolute_expires_at')
      local idle = ARGV[4]
      if tonumber(absolute) < tonumber(idle) then
        idle = absolute
      end
      redis.call('HSET', name, 'idle_expires_at', idle)
      if one == id then
        redis.call('HSET', name, 'last_seen_at', ARGV[5])
      end
      index_times(one)
      touched = touched + 1
    end
  end
  return touched
end

-- renew ROOT SECRET_HASH POINTER NOW FIELD VALUE …: 0 when the session has ended
function actions.renew()
  local root, hash = ARGV[2], ARGV[3]
  if not is_live(root) then
    return 0
  end
  local old = field('session', root, 'secret_hash')
  if old then
    redis.call('DEL', key('session_secret', old))
  end
  redis.call('SET', key('session_secret', hash), ARGV[4])
  redis.call('HSET', key('session', root), 'secret_hash', hash)
  for _, id in ipairs(family(root)) do
    if is_live(id) then
      redis.call('HSET', key('session', id), unpack(ARGV, 6))
      index_times(id)
    end
  end
  announce(root, 'renewed', '', ARGV[5])
  return 1
end

-- end ID REASON REASON_OF_CHILDREN NOW ONLY_EXPIRED: ID, kind and user ID of each that was live
actions['end'] = function()
  local id, now = ARGV[2], ARGV[5]
  local all = {}
  -- it was used meanwhile, at another replica for example
  if ARGV[6] == '1' and not has_run_out(id, now) then
    return all
  end
  for _, one in ipairs(family(id)) do
    local name = key('session', one)
    if is_live(one) then
      local reason = one == id and ARGV[3] or ARGV[4]
      redis.call('HSET', name, 'ended_at', now, 'end_reason', reason)
      redis.call('ZREM', prefix .. 'live', one)
      redis.call('ZREM', prefix .. 'browsers', one)
      redis.call('ZADD', prefix .. 'ended', now, one)
      local found = redis.call('HMGET', name, 'kind', 'user_id')
      table.insert(all, { one, found[1], found[2] })
    end
    due(one, now)
    provider_tokens_due(one, now)
  end
  end_credentials(id, now)
  if #all > 0 then
    announce(id, 'ended', ARGV[3], now)
  end
  return all
end

-- expired NOW: the live sessions whose time has passed, browser sessions first
function actions.expired()
  local roots, children = {}, {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'live', '-inf', ARGV[2])) do
    if not exists('session', id) then
      redis.call('ZREM', prefix .. 'live', id)
      redis.call('ZREM', prefix .. 'browsers', id)
    elseif field('session', id, 'parent') then
      table.insert(children, id)
    else
      table.insert(roots, id)
    end
  end
  for _, id in ipairs(children) do
    table.insert(roots, id)
  end
  return roots
end

-- delete_ended BEFORE LIMIT: how many sessions were deleted, with all that hangs on them
function actions.delete_ended()
  local deleted = 0
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'ended', '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])) do
    local found = redis.call('HMGET', key('session', id), 'parent', 'user_id', 'lower_name', 'secret_hash',
      'provider', 'provider_subject', 'provider_sid')
    for _, token in ipairs(redis.call('SMEMBERS', key('session_tokens', id))) do
      deleted = deleted + drop_token(token)
    end
    if found[1] then
      redis.call('SREM', key('children', found[1]), id)
    end
    if found[2] then
      redis.call('SREM', key('user_sessions', found[2]), id)
      redis.call('SREM', key('name_sessions', found[3]), id)
    end
    if found[4] then
      redis.call('DEL', key('session_secret', found[4]))
    end
    for _, index in ipairs(provider_indexes(found[5], found[6], found[7])) do
      redis.call('SREM', index, id)
    end
    redis.call('ZREM', prefix .. 'provider_revocations', id)
    deleted = deleted + redis.call('DEL', key('provider_token', id))
    redis.call('ZREM', prefix .. 'ended', id)
    deleted = deleted + redis.call('DEL', key('session', id), key('session_tokens', id), key('children', id))
  end
  return deleted
end

return actions[ARGV[1]]()
