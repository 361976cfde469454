-- What every group of scripts starts with. KEYS[1] is the prefix; the first argument says which process calls, for the
-- feed of changes, and is taken off: ARGV[1] is the action.
--
-- An entry is a hash at <prefix><kind>:<id>. What ends by itself is also in the sorted set `expiry`, by the second at which
-- it ends; the sweep deletes it then. Without a sweep, Redis drops it a day later by its own clock.
local prefix = KEYS[1]
local caller = ARGV[1]
local ARGV = { unpack(ARGV, 2) }
local actions = {}
local DAY = 86400
-- an ended session is kept for seven days, and one more for the sweep
local AFTER_END = 8 * DAY

local function key(kind, id)
  return prefix .. kind .. ':' .. id
end

local function seconds_left(ends)
  return math.max(0, tonumber(ends) - tonumber(redis.call('TIME')[1]))
end

local function keep(name, ends, margin)
  redis.call('EXPIRE', name, seconds_left(ends) + margin)
end

-- for an index that several entries share: its time is never made shorter
local function keep_longer(name, ends, margin)
  local left = seconds_left(ends) + margin
  if redis.call('TTL', name) < left then
    redis.call('EXPIRE', name, left)
  end
end

local function field(kind, id, name)
  return redis.call('HGET', key(kind, id), name)
end

local function exists(kind, id)
  return redis.call('EXISTS', key(kind, id)) == 1
end

-- the fields are those of ARGV from `first` on, each followed by its value
local function put(kind, id, ends, first)
  local name = key(kind, id)
  redis.call('HSET', name, unpack(ARGV, first))
  keep(name, ends, DAY)
  redis.call('ZADD', prefix .. 'expiry', ends, kind .. ':' .. id)
end

-- a name of an entry by which it is looked up: the keyed hash of a secret
local function point(kind, hash, target, ends)
  redis.call('SET', key(kind, hash), target)
  keep(key(kind, hash), ends, DAY)
end

local function drop(kind, id)
  redis.call('ZREM', prefix .. 'expiry', kind .. ':' .. id)
  return redis.call('DEL', key(kind, id))
end

-- what hangs on a session must not outlive it: the foreign key of the databases
local function known_session(id)
  return exists('session', id)
end
local NO_SESSION = redis.error_reply('NOSESSION there is no such session')

-- A server that lost its data must not look like a store in which nothing exists: nothing is read from it or written to
-- it until `portico migrate` has run.
if redis.call('EXISTS', prefix .. 'schema') == 0 then
  return redis.error_reply('NOSTORE nothing has been migrated here, or everything was lost')
end

-- The feed of changes, in the script that makes them: `changes` by position, and `feed`, the last position. Each change
-- names the position before it, so that a reader notices a gap; positions follow the clock, so that those of a server
-- that lost its last writes are not given out twice.
local function announce(session, kind, reason, now)
  local time = redis.call('TIME')
  local before = redis.call('GET', prefix .. 'feed') or '0'
  local position = math.max(tonumber(before) + 1, tonumber(time[1]) * 1000000 + tonumber(time[2]))
  position = string.format('%.0f', position)
  redis.call('SET', prefix .. 'feed', position)
  local change = { position, before, now, kind, reason, session, caller }
  redis.call('ZADD', prefix .. 'changes', position, table.concat(change, ':'))
  redis.call('EXPIRE', prefix .. 'changes', DAY)
end

local function drop_token(id)
  local session = field('token', id, 'session_id')
  if session then
    redis.call('SREM', key('session_tokens', session), id)
  end
  redis.call('ZREM', prefix .. 'revocations', id)
  return drop('token', id)
end

local function drop_flow(id)
  local hash = field('flow', id, 'secret_hash')
  if hash then
    redis.call('DEL', key('flow_secret', hash))
  end
  return drop('flow', id)
end

local function drop_form(id)
  local form = redis.call('HMGET', key('form', id), 'secret_hash', 'user_id')
  if form[1] then
    redis.call('DEL', key('form_secret', form[1]))
    redis.call('ZREM', key('user_forms', form[2]), id)
  end
  return drop('form', id)
end

local function drop_browser_session(hash)
  redis.call('ZREM', prefix .. 'browser_states', hash)
  return drop('browser_session', hash)
end

local function drop_device(hash)
  local user_code = field('device', hash, 'user_code_hash')
  if user_code then
    redis.call('DEL', key('device_user', user_code))
  end
  return drop('device', hash)
end

local function drop_credential(id)
  local of = redis.call('HMGET', key('credential', id), 'session_id', 'user_id')
  if of[1] then
    redis.call('SREM', key('session_credentials', of[1]), id)
    redis.call('SREM', key('user_credentials', of[2]), id)
  end
  redis.call('ZREM', prefix .. 'credentials', id)
  return drop('credential', id)
end

local function family(root)
  local ids = redis.call('SMEMBERS', key('children', root))
  table.insert(ids, 1, root)
  return ids
end

local function is_live(id)
  local found = redis.call('HMGET', key('session', id), 'id', 'ended_at')
  return found[1] and not found[2]
end

-- what a provider says now, for the live ones of a family; an empty profile changes none
local function set_provider(root, profile, expires_at)
  local count = 0
  for _, id in ipairs(family(root)) do
    if is_live(id) then
      local name = key('session', id)
      if profile ~= '' then
        redis.call('HSET', name, 'provider_profile', profile)
      end
      if expires_at == '' then
        redis.call('HDEL', name, 'provider_expires_at')
      else
        redis.call('HSET', name, 'provider_expires_at', expires_at)
      end
      count = count + 1
    end
  end
  return count
end

-- the sets of a provider's sessions: by its subject, and by its own session where it names one
local function provider_indexes(provider, subject, sid)
  local all = {}
  if provider and subject then
    table.insert(all, key('provider_subject', provider .. ':' .. subject))
  end
  if provider and sid then
    table.insert(all, key('provider_sid', provider .. ':' .. sid))
  end
  return all
end

-- after a change of its times: ends must be those of the entry
local function index_times(id)
  local times = redis.call('HMGET', key('session', id), 'idle_expires_at', 'absolute_expires_at', 'keystone_expires_at',
    'kind', 'secret_hash', 'parent', 'user_id', 'lower_name', 'provider', 'provider_subject', 'provider_sid')
  local ends = math.min(tonumber(times[1]), tonumber(times[2]), tonumber(times[3]))
  redis.call('ZADD', prefix .. 'live', ends, id)
  if times[4] == 'browser' then
    redis.call('ZADD', prefix .. 'browsers', times[1], id)
  end
  local latest = times[2]
  keep_longer(key('session', id), latest, AFTER_END)
  if times[5] then
    keep_longer(key('session_secret', times[5]), latest, AFTER_END)
  end
  if times[6] then
    keep_longer(key('children', times[6]), latest, AFTER_END)
  end
  keep_longer(key('user_sessions', times[7]), latest, AFTER_END)
  keep_longer(key('name_sessions', times[8]), latest, AFTER_END)
  for _, index in ipairs(provider_indexes(times[9], times[10], times[11])) do
    keep_longer(index, latest, AFTER_END)
  end
end
