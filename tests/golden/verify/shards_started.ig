# What is started is waited for with what starting it gave, and ends with all of its lists.
# run: infer
module @shards {
  graph @main(%x: f32[N, 2], %n: i64[2], %m: i64[3]) {
    %35, %36 = all_to_all %x, %n, %m {rank = 0, known}
    %37 = meet_start %x, %n {rank = 0}
    %38 = meet_start %x, %n, %n {rank = 0}
    %39 = meet_start %x, %n {rank = 3}
    %40 = reduce_scatter %x, %n, %n {rank = 0}
    %41 = reduce_scatter %x, %n, %37 {rank = 0}
    meet_end %n, %x
    meet_end %37, %x, %x
    ret
  }
}
# expect-error: 5:16: operand 2 is i64[3], expected one count for each rank
# expect-error: 7:11: operand 2 is i64[2], expected what meet_counts finds
# expect-error: 8:11: there is no rank 3 in a world of 2
# expect-error: 9:11: operand 2 is i64[2], expected what meet_start gives
# expect-error: 11:5: operand 0 is i64[2], expected what meet_start gives
# expect-error: 12:5: 3 operands, expected the 1 lists that were started
