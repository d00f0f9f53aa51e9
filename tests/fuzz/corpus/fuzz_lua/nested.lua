local function deep(n) if n == 0 then return 1 end return {deep(n - 1)} end
function f() return deep(70) end
