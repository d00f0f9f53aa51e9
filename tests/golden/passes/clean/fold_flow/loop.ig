# fold_flow: a loop of constants, and rows that a loop collects; a loop that reads an input
# stays.
# run: fold_flow,dce
module @m {
  graph @main(%x: f32[2]) -> (f32[3, 2], f32[n], f32[2]) {
    %w = const {value = [1, 2]} : f32[2]
    %three = const {value = 3} : i64[]
    %true = const {value = true} : bool[]
    %0 = loop %three, %true {scans = 1} : f32[3, 2] (%i: i64[], %c: bool[]) {
      %1 = cast %i {to = f32} : f32[]
      %2 = add %w, %1 : f32[2]
      yield %c, %2
    }
    %none = seq_empty {of = f32} : seq<f32[1]>
    %3 = loop %three, %true, %none : seq<f32[1]> (%j: i64[], %d: bool[], %s: seq<f32[1]>) {
      %4 = cast %j {to = f32} : f32[]
      %5 = reshape %4 {to = [1]} : f32[1]
      %6 = seq_insert %s, %5 : seq<f32[1]>
      yield %d, %6
    }
    %7 = seq_concat %3 {axis = 0} : f32[n]
    %8 = loop %three, %true, %x : f32[2] (%k: i64[], %e: bool[], %y: f32[2]) {
      %9 = add %y, %w : f32[2]
      yield %e, %9
    }
    ret %0, %7, %8
  }
}
# expect:
module @m {
  graph @main(%x: f32[2]) -> (f32[3, 2], f32[3], f32[2]) {
    %0 = const {value = [1, 2]} : f32[2]
    %1 = const {value = 3} : i64[]
    %2 = const {value = true} : bool[]
    %3 = const {value = [1, 2, 2, 3, 3, 4]} : f32[3, 2]
    %4 = const {value = [0, 1, 2]} : f32[3]
    %5 = loop %1, %2, %x : f32[2] (%k: i64[], %e: bool[], %y: f32[2]) {
      %6 = add %y, %0 : f32[2]
      yield %e, %6
    }
    ret %3, %4, %5
  }
}
