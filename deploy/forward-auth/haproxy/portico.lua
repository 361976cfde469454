-- Sends each request to Portico for authorization (http-request lua.portico): sets the variable
-- txn.portico_allowed and the identity headers of the request, or sends Portico's response to the
-- client. Without either it is an outage, for which the configuration has a page.
local portico = os.getenv("PORTICO") or error("PORTICO is not set")

-- headers that the app receives and that no client may set
local identity = {
  "x-auth-request-user", "x-auth-request-preferred-username", "x-auth-request-email",
  "x-auth-request-groups", "portico-assertion", "authorization", "cookie",
}
-- headers of one connection (RFC 9110, section 7.6.1), and those that HAProxy writes itself
local hop_by_hop = {
  ["connection"] = true, ["keep-alive"] = true, ["transfer-encoding"] = true,
  ["content-length"] = true, ["upgrade"] = true, ["te"] = true, ["trailer"] = true,
  ["expect"] = true, ["proxy-connection"] = true,
}

local function answer(txn, status, headers, body)
  local reply = txn:reply({ status = status })
  for name, values in pairs(headers) do
    if not hop_by_hop[name] then
      for _, value in pairs(values) do reply:add_header(name, value) end
    end
  end
  reply:set_body(body or "")
  txn:done(reply)
end

core.register_action("portico", { "http-req" }, function(txn)
  local headers = {}
  for name, values in pairs(txn.http:req_get_headers()) do
    if not hop_by_hop[name] then
      headers[name] = {}
      for _, value in pairs(values) do table.insert(headers[name], value) end
    end
  end
  headers["x-forwarded-uri"] = { txn.sf:pathq() }
  headers["x-forwarded-method"] = { txn.sf:method() }
  headers["sec-portico-forward-auth"] = { "1" }

  local client = core.httpclient()
  local asked, response = pcall(client.get, client, {
    url = portico .. "/oauth2/auth/redirect", headers = headers, timeout = 10000,
  })
  if not asked or not response or not response.headers then return end
  -- HAProxy returns 503 itself if Portico does not respond; every response of Portico has this header
  if not response.headers["x-request-id"] then return end
  if response.status ~= 200 then
    return answer(txn, response.status, response.headers, response.body)
  end
  for _, name in ipairs(identity) do
    txn.http:req_del_header(name)
    for _, value in pairs(response.headers[name] or {}) do
      if value ~= "" then txn.http:req_add_header(name, value) end
    end
  end
  txn:set_var("txn.portico_allowed", "yes")
end, 0)
