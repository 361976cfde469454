-- The audit log. Entries are hashes `event:<id>`. Those with a place in the chain are in `audit_sequence` and, by user,
-- project and session, in `audit_of_*`, all by sequence number; `audit_chain` is the chain's head. Those that a version
-- without the chain has written are in `audit` by milliseconds (and in that version's `audit_user` and `audit_session`)
-- until they join.

local FIELDS = { 'sequence', 'hash', 'start_sequence', 'start_hash', 'seal' }
local INDEXES = { user_id = 'audit_of_user', project_id = 'audit_of_project', session_id = 'audit_of_session' }

-- whether the head is still as its reader found it
local function is_head(first)
  local head = redis.call('HMGET', prefix .. 'audit_chain', unpack(FIELDS))
  for i, value in ipairs(FIELDS) do
    if (head[i] or '') ~= ARGV[first + i - 1] then
      return false
    end
  end
  return true
end

local function set_head(first)
  for i, name in ipairs(FIELDS) do
    redis.call('HSET', prefix .. 'audit_chain', name, ARGV[first + i - 1])
  end
end

-- head
function actions.head()
  return redis.call('HMGET', prefix .. 'audit_chain', unpack(FIELDS))
end

-- write FOUND… (5) NEW… (5) {ID SEQUENCE COUNT FIELD VALUE …}…: 1, or 0 when the head has moved meanwhile
function actions.write()
  if not is_head(2) then
    return 0
  end
  local at = 12
  while ARGV[at] do
    local id, sequence, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
    redis.call('HSET', key('event', id), unpack(ARGV, at + 3, at + 2 + count))
    redis.call('ZADD', prefix .. 'audit_sequence', sequence, id)
    for name, index in pairs(INDEXES) do
      local value = field('event', id, name)
      if value then
        redis.call('ZADD', key(index, value), sequence, id)
      end
    end
    if redis.call('ZREM', prefix .. 'audit', id) == 1 then
      local of = redis.call('HMGET', key('event', id), 'user_id', 'session_id')
      if of[1] then
        redis.call('ZREM', key('audit_user', of[1]), id)
      end
      if of[2] then
        redis.call('ZREM', key('audit_session', of[2]), id)
      end
    end
    at = at + 3 + count
  end
  set_head(7)
  return 1
end

local function entries(ids)
  local all = {}
  for _, id in ipairs(ids) do
    table.insert(all, redis.call('HGETALL', key('event', id)))
  end
  return all
end

-- unchained LIMIT: the oldest entries without a place; what has lost its entry is forgotten
function actions.unchained()
  local all = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', prefix .. 'audit', '-inf', '+inf', 'LIMIT', 0, ARGV[2])) do
    if exists('event', id) then
      table.insert(all, redis.call('HGETALL', key('event', id)))
    else
      redis.call('ZREM', prefix .. 'audit', id)
    end
  end
  return all
end

-- newest_first INDEX MIN MAX LIMIT and oldest_first: between two sequence numbers, neither of them included. An entry
-- that is not there is an empty one.
function actions.newest_first()
  return entries(redis.call('ZREVRANGEBYSCORE', prefix .. ARGV[2], ARGV[4], ARGV[3], 'LIMIT', 0, ARGV[5]))
end

function actions.oldest_first()
  return entries(redis.call('ZRANGEBYSCORE', prefix .. ARGV[2], ARGV[3], ARGV[4], 'LIMIT', 0, ARGV[5]))
end

-- outside START: how many have no place, and how many lie ahead of the start
function actions.outside()
  return { redis.call('ZCARD', prefix .. 'audit'), redis.call('ZCOUNT', prefix .. 'audit_sequence', '-inf', ARGV[2]) }
end

-- trim FOUND… (5) NEW… (5) LAST: 1 and how many entries up to LAST were deleted, or 0 when the head has moved meanwhile
function actions.trim()
  if not is_head(2) then
    return { 0, 0 }
  end
  local ids = redis.call('ZRANGEBYSCORE', prefix .. 'audit_sequence', '-inf', ARGV[12])
  for _, id in ipairs(ids) do
    for name, index in pairs(INDEXES) do
      local value = field('event', id, name)
      if value then
        redis.call('ZREM', key(index, value), id)
      end
    end
    redis.call('ZREM', prefix .. 'audit_sequence', id)
    redis.call('DEL', key('event', id))
  end
  set_head(7)
  return { 1, #ids }
end

return actions[ARGV[1]]()
