function f(x, text)
  local t = {5, 3, 8}
  table.sort(t, function(a, b) return a > b end)
  table.insert(t, 1, 9)
  table.move(t, 1, 2, 3)
  local s = table.concat(t, ',') .. string.format('%5.2f %q %s', 1 / 3, text, #t)
  local ok, why = pcall(error, {code = 1})
  local m = setmetatable({}, {__index = function(_, k) return k end, __len = function() return 4 end,
    __close = function() end, __concat = function() return 'c' end})
  do local c <close> = setmetatable({}, {__close = function() end}) end
  for p, c in utf8.codes('h\u{e9}') do s = s .. c end
  s = s:gsub('%d', '<%0>'):rep(2, '-')
  return s, ok, why, m[1], #m, m .. 'x', select('#', table.unpack(t)), math.tointeger(3.0),
    string.pack('<i4', 7), ('x'):byte(), s:find('-', 1, true), load('return 1 + 1')()
end
