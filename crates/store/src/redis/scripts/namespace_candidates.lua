-- Namespaces in which a subject may have rights: a sorted set a subject, by the second at which a candidate expires.

-- add SUBJECT CLUSTER/NAMESPACE EXPIRES_AT MOST
function actions.add()
  local name = key('namespaces', ARGV[2])
  redis.call('ZADD', name, ARGV[4], ARGV[3])
  redis.call('ZREMRANGEBYRANK', name, 0, -1 - tonumber(ARGV[5]))
  keep(name, ARGV[4], DAY)
  return 1
end

-- of NOW SUBJECT …: the candidates of all subjects; one may be there several times
function actions.of()
  local all = {}
  for at = 3, #ARGV do
    local found = redis.call('ZRANGEBYSCORE', key('namespaces', ARGV[at]), '(' .. ARGV[2], '+inf')
    for _, candidate in ipairs(found) do
      table.insert(all, candidate)
    end
  end
  return all
end

return actions[ARGV[1]]()
