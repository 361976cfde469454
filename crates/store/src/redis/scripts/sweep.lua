-- Clearing away what has run out.

local drops = {
  token = drop_token,
  flow = drop_flow,
  form = drop_form,
  device = drop_device,
  credential = drop_credential,
  browser_session = drop_browser_session,
}

-- expired NOW LIMIT: how many ends were looked at, and how many entries were deleted
function actions.expired()
  local names = redis.call('ZRANGEBYSCORE', prefix .. 'expiry', '-inf', ARGV[2], 'LIMIT', 0, ARGV[3])
  local deleted = 0
  for _, name in ipairs(names) do
    local kind, id = string.match(name, '^([^:]+):(.*)$')
    if drops[kind] then
      deleted = deleted + drops[kind](id)
    else
      deleted = deleted + drop(kind, id)
    end
    redis.call('ZREM', prefix .. 'expiry', name)
  end
  return { #names, deleted }
end

return actions[ARGV[1]]()
