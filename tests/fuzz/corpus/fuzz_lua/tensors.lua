local ingot = require 'ingot'
function f(x, text)
  local y = ingot.tensor('f64', {3, 2}, x:totable())
  for i = 1, #x do x[i] = x[i] * 10 end
  local out = {}
  for word in text:gmatch('%a+') do out[#out + 1] = word:upper() end
  return y, x, x:dims(), x:dtype(), x:reshape({6}), out, {a = 1, [2] = 'b'}, f
end
