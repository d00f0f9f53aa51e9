# Parts of a table cover it once, on ranks that there are; counts are one a rank.
# run: infer
module @shards {
  weight @a : f32[4, 2] = splat(1)
  graph @main(%x: f32[N, 2], %n: i64[2], %m: i64[3], %k: f32[N, M], %i: i64[N]) {
    %0 = shard @a {world = 2, rank = 2}
    %1 = shard @a {world = 2, rank = 0, parts = [0, 0, 2, 0, 2, 1, 2, 1, 0, 2]}
    %2 = shard @a {world = 2, rank = 0, parts = [0, 0, 3, 0, 2, 1, 2, 2, 0, 2]}
    %3 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0, 3]}
    %4 = shard @a {world = 2, rank = 0, parts = [2, 0, 4, 0, 2]}
    %5 = shard @a {world = 2, rank = 0, parts = [0, 0, 4, 0]}
    %6 = shard %x {world = 2, rank = 0}
    %7, %8, %9, %10 = all_to_all %x, %n, %x, %m {rank = 0}
    %11 = reduce_scatter %i, %n {rank = 0}
    %12, %13 = all_to_all %k, %n {rank = 0}
    %14, %15, %16, %17, %18 = deal %i, %i {world = 2, starts = [1], ranks = [0], bases = [0]}
    %19, %20 = bag_ids %i, %i, %x {operands = 5, rows = 4}
    %21, %22 = all_to_all %x, %n {rank = 2}
    %23 = meet_counts %n, %m {rank = 0}
    %24, %25 = meet_lists %x, %x, %n, %n, %n {rank = 1}
    %26, %27 = meet_lists %x, %x, %n, %n, %x, %n {rank = 1}
    %28 = shard @a {world = 2, rank = 0, wire = u8}
    %29 = shard @a {world = 2, rank = 0, chunks = 17}
    %30, %31, %32 = all_to_all %x, %n, %x {rank = 0}
    %33, %34 = all_to_all %x, %n, %x, %n {rank = 0, known}
    ret
  }
}
# expect-error: 6:10: there is no rank 2 in a world of 2
# expect-error: 7:10: 2 of the table's elements are in no part
# expect-error: 8:10: parts 0 and 1 have elements in common
# expect-error: 9:10: part 0 is not inside of 4 rows of 2
# expect-error: 10:10: part 0: there is no rank 2 among 2
# expect-error: 11:10: 'parts' has 4 numbers, expected 5 for each of at most 4096 parts
# expect-error: 12:10: operand 0 is f32[N, 2], expected a weight or table [rows, dim]
# expect-error: 13:23: operand 3 is i64[3], expected one count for each rank
# expect-error: 14:11: operand 0 is i64[N], expected floating-point elements
# expect-error: 15:16: operand 0 is f32[N, M], expected only its first extent to differ from rank to rank
# expect-error: 16:31: shard 0: row 1 on, at rank 0, cannot be
# expect-error: 17:16: it wants 3 operands and 3 results, not 3 and 2
# expect-error: 18:16: there is no rank 2 in a world of 2
# expect-error: 19:11: operand 1 is i64[3], expected one count for each rank
# expect-error: 20:16: operand 4 is i64[2], expected what meet_counts finds
# expect-error: 21:16: operand 4 is f32[N, 2], expected rank 1
# expect-error: 22:11: rows cannot travel as 'u8'
# expect-error: 23:11: the batch does not go in 17 chunks; 1 to 16 do
# expect-error: 24:21: 3 operands are no pairs
# expect-error: 25:16: 4 operands are no triples
