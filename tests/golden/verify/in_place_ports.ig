# A result stands in place of one argument of its type, and no other result does.
# run: verify
module @ports {
  graph @main(%x: f32[4], %y: f32[2, 4], %z: i32[4], %w: f32[5]) -> (f32[4], f32[4], f32[4], f32[4], f32[4], f32[4]) {
    ret %x, %x, %x, %x, %x, %x {in_place = [0, 0, 1, 2, 3, 4]}
  }
  graph @few(%x: f32[4]) -> (f32[4], f32[4]) {
    ret %x, %x {in_place = [0]}
  }
  graph @negative(%x: f32[4]) -> (f32[4]) {
    ret %x {in_place = [-2]}
  }
  private graph @part(%x: f32[4]) -> (f32[4]) {
    ret %x {in_place = [0]}
  }
  weight @s : f32[4] = splat(0)
  graph @state(%x: f32[4], %s: f32[4] = @s) -> (f32[4], f32[4]) {
    ret %x, %s {in_place = [1, 0]}
  }
}
# expect-error: 5:5: results 0 and 1 overlap: both stand in place of argument 0
# expect-error: 5:5: result 2 is f32[4], and no f32[2, 4] in whose place it could be
# expect-error: 5:5: result 3 is f32[4], and no i32[4] in whose place it could be
# expect-error: 5:5: result 4 is f32[4], and no f32[5] in whose place it could be
# expect-error: 5:5: result 5 cannot stand in place of argument 4
# expect-error: 8:5: in_place is a number for each result of an entry
# expect-error: 11:5: result 0 cannot stand in place of argument -2
# expect-error: 14:5: in_place is a number for each result of an entry
# expect-error: 18:5: result 0 cannot stand in place of argument 1
# expect-error: 18:5: result 1 cannot stand in place of argument 0
