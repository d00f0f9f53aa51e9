# tile_by_expanding: a tile repeats by expanding; repeated once everywhere it is x.
# run: canonicalise
# not run: N is no extent of an input
module @m {
  graph @main(%x: f32[A, B]) -> (f32[2*A, 3*B], f32[A, N*B], f32[A, B]) {
    %0 = const {value = [2, 3]} : i64[2]
    %1 = tile %x, %0
    %2 = dims {values = [1, N]}
    %3 = tile %x, %2
    %4 = const {value = [1, 1]} : i64[2]
    %5 = tile %x, %4
    ret %1, %3, %5
  }
}
# expect:
module @m {
  graph @main(%x: f32[A, B]) -> (f32[2*A, 3*B], f32[A, B*N], f32[A, B]) {
    %0 = reshape %x {to = [1, A, 1, B]} : f32[1, A, 1, B]
    %1 = expand %0 {to = [2, A, 3, B]} : f32[2, A, 3, B]
    %2 = reshape %1 {to = [2*A, 3*B]} : f32[2*A, 3*B]
    %3 = reshape %x {to = [A, 1, B]} : f32[A, 1, B]
    %4 = expand %3 {to = [A, N, B]} : f32[A, N, B]
    %5 = reshape %4 {to = [A, B*N]} : f32[A, B*N]
    ret %2, %5, %x
  }
}
