-- Codes and tokens that clients present: entries under the keyed hash of what is presented.

-- put KIND HASH EXPIRES_AT SESSION FIELD VALUE …
function actions.put()
  if not known_session(ARGV[5]) then
    return NO_SESSION
  end
  put(ARGV[2], ARGV[3], ARGV[4], 6)
  return 1
end

-- put_free KIND HASH EXPIRES_AT FIELD VALUE …: of no session
function actions.put_free()
  put(ARGV[2], ARGV[3], ARGV[4], 5)
  return 1
end

-- drop KIND HASH: 1 when it was there
function actions.drop()
  return drop(ARGV[2], ARGV[3])
end

-- take KIND HASH: what was there and is gone now
function actions.take()
  local found = redis.call('HGETALL', key(ARGV[2], ARGV[3]))
  drop(ARGV[2], ARGV[3])
  return found
end

-- mark KIND ID EXPIRES_AT: 1 the first time
function actions.mark()
  local kind, id, ends = ARGV[2], ARGV[3], ARGV[4]
  if exists(kind, id) then
    return 0
  end
  redis.call('HSET', key(kind, id), 'expires_at', ends)
  keep(key(kind, id), ends, DAY)
  redis.call('ZADD', prefix .. 'expiry', ends, kind .. ':' .. id)
  return 1
end

-- rotate HASH NOW GRACE SUCCESSOR_HASH FIELD VALUE … (of the successor): rotated, reused or unknown
function actions.rotate()
  local hash, now, grace, successor = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), ARGV[5]
  local name = key('refresh', hash)
  local found = redis.call('HMGET', name, 'expires_at', 'rotated_at', 'successor_hash')
  if not found[1] or now >= tonumber(found[1]) then
    return 'unknown'
  end
  if not found[2] then
    redis.call('HSET', name, 'rotated_at', now, 'successor_hash', successor)
  else
    local lost = found[3]
    -- a mark without a successor: the token itself was lost on the way and has been given up for another
    if not lost or now - tonumber(found[2]) > grace then
      return 'reused'
    end
    -- a client that presents the lost successor gets the error for reuse: it has no successor of its own
    local other = redis.call('HMGET', key('refresh', lost), 'expires_at', 'rotated_at')
    if not other[1] or other[2] then
      return 'reused'
    end
    redis.call('HSET', key('refresh', lost), 'rotated_at', now)
    redis.call('HSET', name, 'successor_hash', successor)
  end
  put('refresh', successor, found[1], 6)
  return 'rotated'
end

return actions[ARGV[1]]()
