# fold: results of more than 64 KiB are not folded.
# run: fold,dce
module @m {
  graph @main() -> (f32[2, 3], f32[128, 129]) {
    %0 = const {value = 1.5} : f32[]
    %1 = expand %0 {to = [2, 3]}
    %2 = expand %0 {to = [128, 129]}
    ret %1, %2
  }
}
# expect:
module @m {
  graph @main() -> (f32[2, 3], f32[128, 129]) {
    %0 = const {value = 1.5} : f32[]
    %1 = const {value = [1.5, 1.5, 1.5, 1.5, 1.5, 1.5]} : f32[2, 3]
    %2 = expand %0 {to = [128, 129]} : f32[128, 129]
    ret %1, %2
  }
}
