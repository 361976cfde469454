-- The feed of changes, for every replica to follow.

-- position: where the feed ends
function actions.position()
  return redis.call('GET', prefix .. 'feed') or '0'
end

-- since POSITION LIMIT: where the feed ends, and the changes after a position
function actions.since()
  local last = redis.call('GET', prefix .. 'feed') or '0'
  return { last, redis.call('ZRANGEBYSCORE', prefix .. 'changes', '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3]) }
end

-- announce SESSION KIND REASON NOW
function actions.announce()
  announce(ARGV[2], ARGV[3], ARGV[4], ARGV[5])
  return 1
end

-- forget BEFORE LIMIT: how many old changes were deleted
function actions.forget()
  local deleted = 0
  for _, change in ipairs(redis.call('ZRANGE', prefix .. 'changes', 0, ARGV[3] - 1)) do
    local at = string.match(change, '^%d+:%d+:(%d+):')
    if at and tonumber(at) > tonumber(ARGV[2]) then
      break
    end
    deleted = deleted + redis.call('ZREM', prefix .. 'changes', change)
  end
  return deleted
end

return actions[ARGV[1]]()
