function f() local t = {} t[1] = t return t end
