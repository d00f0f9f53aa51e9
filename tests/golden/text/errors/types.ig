# Types: those given must be what the operands give.
# run:
module @types {
  graph @main(%x: f32[B, 4], %y: f32[5], %z: f33[2], %w: f32[2]) {
  }
  graph @second(%x: f32[B, 4], %y: f32[5], %c: bool[]) -> (f32[B, 3], f32[]) {
    %0 = relu %x : f32[B, 5]
    %1 = relu %x : f16[B, 4]
    %2 = add %x, %y
    %3 = if %c { yield %x } else { yield %x }
    %4 = relu %x : f32[B, 4], f32[B, 4]
    %5 = matmul %y, %x : f32[4
    %6 = relu %x : f32<0>[2]
    %7 = relu %x : f32[-1]
    %8 = relu %x : f32<rowwise f64>[2, 2]
    %9 = relu %x : i8<rowwise f16>[2]
    %10 = relu %x : seq<f32[2]
    %11 = relu %x : f32<70000>
    %12 = transpose %x {perm = [0, 0]}
    %13 = transpose %x
    ret %x, %x
  }
}
# expect-error: 4:46: expected a type, found 'f33'
# expect-error: 7:10: result 0 of relu is f32[B, 4], not f32[B, 5]
# expect-error: 8:10: result 0 of relu is f32[B, 4], not f16[B, 4]
# expect-error: 9:10: operand 1 is f32[5], which does not broadcast with f32[B, 4]
# expect-error: 10:10: the result types of if must be given
# expect-error: 11:10: relu has more types than results
# expect-error: 13:5: expected ',' or ']', found '%6'
# expect-error: 13:24: a vector has 1 to 65535 lanes
# expect-error: 14:24: an extent is never negative
# expect-error: 15:32: expected f32, f16, float, stride or '>', found 'f64'
# expect-error: 16:35: a table has two extents: rows and their length
# expect-error: 18:5: expected '>', found '%11'
# expect-error: 18:25: a vector has 1 to 65535 lanes
# expect-error: 19:11: the axes given are not a permutation: entry 1 is 0
# expect-error: 20:11: transpose needs attribute 'perm'
# expect-error: 6:56: result 0 is not of the type that ret returns
