# Arguments are written behind commit, where a result stands in place, and not read again.
# run: verify
module @commits {
  plan @early(%x: f32[4], %y: f32[4]) -> (f32[4], &f32[4]) {
    %0 = alloc : &f32[4]
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    commit
    launch %y, %y {kernel = @copy, outs = 1, grid = 1}
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    launch %x, %0 {kernel = @copy, outs = 1, grid = 1}
    commit
    ret %x, %0 {in_place = [0, -1]}
  }
  plan @inside(%x: f32[4], %y: f32[4], %c: bool[]) -> (f32[4]) {
    if %c {
      commit
      yield
    } else {
      yield
    }
    launch %y, %x {kernel = @copy, outs = 1, grid = 1}
    ret %x {in_place = [0]}
  }
  plan @work(%x: f32[4], %y: i64[1]) -> (f32[4]) {
    commit
    bind %y {symbols = [n]}
    ret %x {in_place = [0]}
  }
  kernel @copy(%from: &f32, %to: &f32) {
    ret
  }
}
# expect-error: 6:5: destination 1 is written in place before commit
# expect-error: 8:5: destination 1 is no buffer of the plan
# expect-error: 10:5: operand 0 is read after it was written in place
# expect-error: 11:5: a plan commits once, in its own block
# expect-error: 16:7: a plan commits once, in its own block
# expect-error: 26:5: behind commit there are launches alone
