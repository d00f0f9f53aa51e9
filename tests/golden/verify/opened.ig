# Opened weights have known extents; what is prepared stands in the graph's own block.
# run: verify
module @opened {
  graph @late(%x: f32[4], %w: f32[N] {opened}) -> (f32[4]) {
    ret %x
  }
  private graph @part(%w: f32[4]) -> (f32[4]) {
    ret %w
  }
  plan @nested(%c: bool[], %w: f32[4] {opened}) {
    if %c {
      prepare {
        yield
      }
      yield
    } else {
      yield
    }
    commit
    prepare {
      yield
    }
    ret
  }
}
# expect-error: in 'late': argument 1 is f32[N], which is no opened weight's
# expect-error: 12:7: weights are prepared in the graph's own block
# expect-error: 20:5: behind commit there are launches alone
