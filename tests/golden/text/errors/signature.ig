# Broken signatures and states are told where they stand.
# run:
module @broken {
  weight @n : i64[] = 0
  graph @a(%x: f32[3]) as forward(x: f33[3]) -> tensor { ret %x }
  graph @b(%x: f32[3]) as forward(x tensor) -> tensor { ret %x }
  graph @c(%x: f32[3]) as forward(x: tensor) { ret %x }
  graph @d(%x: f32[3]) as forward(x: tensor) -> tensor after x: 3 { ret %x }
  graph @e(%n: i64[] = @n, %x: f32[3]) { ret %x, %n }
  graph @f(%n: i64[] = 3) { ret %n }
  graph @g(%x: f32[3]) as forward(x: kjt(keys=[])) -> tensor { ret %x }
}
# expect-error: 5:41: the signature: 'f33' is no type and no value
# expect-error: 6:37: the signature: expected ':' behind the name of an argument
# expect-error: 7:46: the signature: expected '->' and the result
# expect-error: 8:67: the signature: expected tensors that the call changes
# expect-error: 9:38: expected '=' and what the state begins with, found ')'
# expect-error: 10:24: expected a weight, @name, found '3'
# expect-error: 11:50: the signature: kjt has the fields keys values lengths weights, in this order
