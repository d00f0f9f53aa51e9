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
