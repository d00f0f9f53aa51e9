# Every block ends in its terminator, and only there.
# run: verify
module @ends {
  graph @none() {
  }
  graph @relu(%x: f32[]) {
    %0 = relu %x
  }
  graph @yields(%x: f32[]) {
    yield %x
  }
  graph @twice(%x: f32[]) {
    ret %x
    ret %x
  }
  graph @branch(%c: bool[]) {
    if %c { ret } else { guard eq(A, 1) }
    ret
  }
}
# expect-error: in 'none': a block must end in ret
# expect-error: 7:10: a block must end in ret
# expect-error: 10:5: a block must end in ret
# expect-error: 13:5: ops follow the block's end
# expect-error: 17:13: a block must end in yield
# expect-error: 17:26: a block must end in yield
