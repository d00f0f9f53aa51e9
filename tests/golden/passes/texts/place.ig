# Addresses of texts are i64 to kernels; functions of the runtime read them, and find
# how many parts there are before there is room for them.
# target: cpu:v3
# run: whole_bytes,resolve_shapes,fuse,bufferise
module @texts {
  graph @main(%x: str[N], %at: i64[M]) -> (str[M, parts], bool[M]) {
    %0 = const {value = [44, 0]} : u8[2]
    %1 = gather %x, %at {axis = 0, negative = error}
    %2, %3 = text_split %1, %0 : str[M, parts], i64[M]
    %4 = text_eq %1, %1
    ret %2, %4
  }
}
# expect:
module @texts {
  symbol parts {origin = "an extent that the model computes"}
  weight @constant : u8[2] = [44, 0]
  plan @main(%x: str[N], %at: i64[M]) -> (&str[M, parts], &bool[M]) {
    %0 = alloc : &i64[N]
    host %x, %0 {function = "text_same", outs = 1, params = [N]}
    %1 = alloc : &i64[M]
    compute %0, %at, %1 {family = "gather", outs = 1} (%2: i64[N], %3: i64[M]) {
      %4 = gather %2, %3 {axis = 0, negative = error} : i64[M]
      yield %4
    }
    %5 = alloc : &i64[1]
    host %1, @constant, %5 {function = "text_split_count", outs = 1, params = [M, -1]}
    bind %5 {symbols = [parts]}
    %6 = alloc : &i64[M, parts]
    %7 = alloc : &i64[M]
    host %1, @constant, %6, %7 {function = "text_split", outs = 2, params = [M, -1, parts]}
    %8 = alloc : &bool[M]
    host %1, %1, %8 {function = "text_eq", outs = 1, params = [M]}
    %9 = alloc : &str[M, parts]
    host %6, %9 {function = "text_same", outs = 1, params = [M*parts]}
    ret %9, %8
  }
}
