# canonicalise: an if goes although the value that stands for it has an extent of its own.
# run: canonicalise
module @m {
  graph @main(%x: f32[N], %at: i64[1]) -> (f32[k]) {
    %no = const {value = false} : bool[]
    %one = const {value = [1]} : i64[1]
    %0 = if %no : f32[k] {
      %1 = slice %x, %one, %at : f32[a]
      yield %1
    } else {
      %2 = slice %x, %at, %one : f32[b]
      yield %2
    }
    %3 = relu %0 : f32[k]
    ret %3
  }
}
# expect:
module @m {
  graph @main(%x: f32[N], %at: i64[1]) -> (f32[b]) {
    %0 = const {value = [1]} : i64[1]
    %1 = slice %x, %at, %0 : f32[b]
    %2 = relu %1 : f32[b]
    ret %2
  }
}
