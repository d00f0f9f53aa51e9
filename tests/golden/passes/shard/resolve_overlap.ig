# resolve_shapes: exchanges that overlap begin where they stand, and are waited for in front of the first op that needs what comes; all end at the end. What is known to come is not asked for.
# run: resolve_shapes
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  graph @main(%l: i64[N], %x: f32[M, 2], %c: i64[2], %d: i64[2]) -> (i64[came], f32[came2, 2], f32[M, 2], f32[came3, 2], i64[2]) {
    %0, %1 = all_to_all %l, %c {rank = 1, of = 77, overlaps} : i64[came], i64[2]
    %2 = relu %x : f32[M, 2]
    %3 = reduce_scatter %2, %c {rank = 1, overlaps} : f32[came2, 2]
    %4 = neg %0 : i64[came]
    %5, %6 = all_to_all %x, %d, %1 {rank = 1, overlaps, known} : f32[came3, 2], i64[2]
    %7 = neg %3 : f32[came2, 2]
    ret %4, %7, %2, %5, %6
  }
}
# expect:
module @m {
  symbol came {origin = "an extent that the model computes"}
  symbol came2 {origin = "an extent that the model computes"}
  symbol came3 {origin = "an extent that the model computes"}
  graph @main(%l: i64[N], %x: f32[M, 2], %c: i64[2], %d: i64[2]) -> (i64[came], f32[came2, 2], f32[M, 2], f32[came3, 2], i64[2]) {
    %0 = meet_counts %c {rank = 1, of = 77} : i64[5]
    %1 = slice %0 {starts = [0], sizes = [1]} : i64[1]
    bind %1 {symbols = [came]}
    %2 = slice %0 {starts = [1], sizes = [2]} : i64[2]
    %3 = meet_start %l, %c, %0 {rank = 1} : i64[1]
    %4 = relu %x : f32[M, 2]
    %5 = slice %c {starts = [1], sizes = [1]} : i64[1]
    bind %5 {symbols = [came2]}
    %6 = meet_start %4, %c {rank = 1} : i64[1]
    %7 = meet_lists %l, %c, %0, %3 {rank = 1} : i64[came]
    %8 = neg %7 : i64[came]
    %9 = reduce %2 {axes = [0], keep} : i64[1]
    %10 = const {value = 0} : i64[]
    %11 = expand %10 {to = [2]} : i64[2]
    %12 = concat %9, %2, %11 {axis = 0} : i64[5]
    %13 = slice %12 {starts = [0], sizes = [1]} : i64[1]
    bind %13 {symbols = [came3]}
    %14 = slice %12 {starts = [1], sizes = [2]} : i64[2]
    %15 = meet_start %x, %d, %12 {rank = 1} : i64[1]
    %16 = reduce_scatter %4, %c, %6 {rank = 1} : f32[came2, 2]
    %17 = neg %16 : f32[came2, 2]
    %18 = meet_lists %x, %d, %12, %15 {rank = 1} : f32[came3, 2]
    meet_end %3, %l
    meet_end %6, %4
    meet_end %15, %x
    ret %8, %17, %4, %18, %14
  }
}
