# bufferise: the first trip says how long the rows are that a loop collects.
# run: fuse,bufferise
# then: lower
# values: e below 9
# values: n below 5
module @m {
  graph @main(%n: i64[], %c: bool[], %e: i64[1], %x: f32[9], %z: f32[]) -> (f32[], f32[t, k]) {
    %0, %1 = loop %n, %c, %z {scans = 1} : f32[], f32[t, k] (%i: i64[], %g: bool[], %s: f32[]) {
      bind %e {symbols = [m]}
      %2 = slice %x {starts = [0], sizes = [m]} : f32[m]
      %3 = add %2, %s : f32[m]
      yield %g, %s, %3
    }
    ret %0, %1
  }
}
# expect:
module @m {
  symbol trip {origin = "a number of trips or elements of a loop"}
  symbol rows {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %e: i64[1],
      %x: f32[9],
      %z: f32[]) -> (&f32, &f32[t, k]) {
    %0 = alloc : &bool
    compute %c, %0 {family = "copy", outs = 1} (%1: bool[]) {
      yield %1
    }
    %2 = alloc : &f32
    compute %z, %2 {family = "copy", outs = 1} (%3: f32[]) {
      yield %3
    }
    let {symbol = rows, value = 0}
    let {symbol = k, value = 0}
    %4 = alloc : &f32[rows, k]
    %5 = alloc : &i64
    store_dims %5 {values = [0]}
    loop %n, %0 {trip = trip} (%6: i64[], %7: bool[]) {
      %8 = alloc : &i64
      store_dims %8 {values = [trip]}
      bind %e {symbols = [m]}
      %9 = view %x {offset = 0, strides = [1]} : &f32[m]
      %10 = alloc : &f32[m]
      compute %9, %2, %10 {family = "map", outs = 1} (%11: f32[m], %12: f32[]) {
        %13 = add %11, %12 : f32[m]
        yield %13
      }
      let {symbol = rows, value = trip + 1}
      guard eq(k*min(trip, 1), m*min(trip, 1)) "what a loop collects changes its extents"
      let {symbol = k, value = m}
      %14 = view %4 {offset = k*trip, strides = [1]} : &f32[k]
      compute %10, %14 {family = "copy", outs = 1} (%15: f32[m]) {
        yield %15
      }
      store_dims %5 {values = [trip + 1]}
      yield %0
    }
    %16 = view %5 {offset = 0, strides = [1]} : &i64[1]
    bind %16 {symbols = [t]}
    %17 = alloc : &f32[t, k]
    %18 = view %4 {offset = 0, strides = [k, 1]} : &f32[t, k]
    compute %18, %17 {family = "copy", outs = 1} (%19: f32[t, k]) {
      yield %19
    }
    ret %2, %17
  }
}
