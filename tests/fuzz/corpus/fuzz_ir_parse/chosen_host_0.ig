module @host {
  graph @main(%x: f32[N, 4], %s: seq<f32[M, 4]>, %o: opt<seq<f32[K]>>, %n: i64[]) -> (seq<f32[P, 4]>, f32[Q, 4], i64[], f32[U, 4]) {
    %0 = seq_empty {of = f32} : seq<f32[P, 4]>
    %1 = seq_make %x, %x
    %2 = seq_insert %1, %x
    %3 = seq_insert %2, %x, %n
    %4 = seq_erase %3, %n
    %5 = seq_erase %4
    %6 = seq_at %5, %n : f32[Q, 4]
    %7 = seq_length %5
    %8 = seq_concat %5 {axis = 0} : f32[U, 4]
    %9 = seq_concat %5 {axis = 0, stack}
    %10 = split_to_seq %x {axis = 0, keep}
    %11 = split_to_seq %x, %n {axis = 0, keep = false}
    ret %0, %6, %7, %8
  }
}
