# resolve_shapes: an all_to_all asks first how much comes; ids that a bag has, and those that go anywhere, are counted.
# run: resolve_shapes
# not run: a rank's program has no meaning without the others (test_ranks_compiled runs them)
module @m {
  graph @main(%ids: i32[N], %off: i64[B], %c: i64[2]) -> (i64[came], i64[2], f32[came2, 1]) {
    %0, %1 = bag_ids %ids, %off {operands = 1, rows = 5} : i64[B], i64[ids]
    %2, %3, %4, %5, %6 = deal %0, %1 {world = 2, starts = [0, 2], ranks = [1, 0], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %7, %8, %9, %10 = all_to_all %2, %3, %4, %5 {rank = 1, of = 77} : i64[came3], i64[2], i64[came], i64[2]
    %11 = cast %9 {to = f32} : f32[came]
    %12 = reshape %11 {to = [came, 1]} : f32[came, 1]
    %13 = reduce_scatter %12, %c {rank = 1} : f32[came2, 1]
    ret %9, %10, %13
  }
}
# expect:
module @m {
  symbol came {origin = "an extent that the model computes"}
  symbol came2 {origin = "an extent that the model computes"}
  symbol ids {origin = "an extent that the model computes"}
  symbol dealt {origin = "an extent that the model computes"}
  symbol came3 {origin = "an extent that the model computes"}
  graph @main(%ids: i32[N], %off: i64[B], %c: i64[2]) -> (i64[came], i64[2], f32[came2, 1]) {
    %0 = cast %ids {to = i64} : i64[N]
    %1 = measure %0, %off {function = "rank_bag_ids_count", params = [1, 0, 0, 0, 0, 0, 5, 0, 0, 0, N, B, 0, 0]} : i64[1]
    bind %1 {symbols = [ids]}
    %2, %3 = bag_ids %0, %off {operands = 1, rows = 5} : i64[B], i64[ids]
    %4 = measure %3 {function = "rank_deal_count", params = [0, ids, 0]} : i64[1]
    bind %4 {symbols = [dealt]}
    %5, %6, %7, %8, %9 = deal %2, %3 {world = 2, starts = [0, 2], ranks = [1, 0], bases = [0, 0]} : i64[2*B], i64[2], i64[dealt], i64[2], i64[ids]
    %10 = meet_counts %6, %8 {rank = 1, of = 77} : i64[8]
    %11 = slice %10 {starts = [0], sizes = [2]} : i64[2]
    bind %11 {symbols = [came3, came]}
    %12 = slice %10 {starts = [2], sizes = [2]} : i64[2]
    %13 = slice %10 {starts = [4], sizes = [2]} : i64[2]
    %14, %15 = meet_lists %5, %7, %6, %8, %10 {rank = 1} : i64[came3], i64[came]
    %16 = cast %15 {to = f32} : f32[came]
    %17 = reshape %16 {to = [came, 1]} : f32[came, 1]
    %18 = slice %c {starts = [1], sizes = [1]} : i64[1]
    bind %18 {symbols = [came2]}
    %19 = reduce_scatter %17, %c {rank = 1} : f32[came2, 1]
    ret %15, %13, %19
  }
}
