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
  symbol most_trips {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %e: i64[1],
      %x: f32[9],
      %z: f32[]) -> (&f32, &f32[t, k]) {
    %0 = view %n {offset = 0, strides = [1]} : &i64[1]
    bind %0 {symbols = [most_trips]}
    %1 = alloc : &bool
    compute %c, %1 {family = "copy", outs = 1} (%2: bool[]) {
      yield %2
    }
    %3 = alloc : &f32
    compute %z, %3 {family = "copy", outs = 1} (%4: f32[]) {
      yield %4
    }
    let {symbol = k, value = 0}
    %5 = alloc : &f32[most_trips, k]
    %6 = alloc : &i64
    store_dims %6 {values = [0]}
    loop %n, %1 {trip = trip} (%7: i64[], %8: bool[]) {
      %9 = alloc : &i64
      store_dims %9 {values = [trip]}
      bind %e {symbols = [m]}
      %10 = view %x {offset = 0, strides = [1]} : &f32[m]
      %11 = alloc : &f32[m]
      compute %10, %3, %11 {family = "map", outs = 1} (%12: f32[m], %13: f32[]) {
        %14 = add %12, %13 : f32[m]
        yield %14
      }
      guard eq(k*min(trip, 1), m*min(trip, 1)) "what a loop collects changes its extents"
      let {symbol = k, value = m}
      %15 = view %5 {offset = k*trip, strides = [1]} : &f32[k]
      compute %11, %15 {family = "copy", outs = 1} (%16: f32[m]) {
        yield %16
      }
      store_dims %6 {values = [trip + 1]}
      yield %1
    }
    %17 = view %6 {offset = 0, strides = [1]} : &i64[1]
    bind %17 {symbols = [t]}
    %18 = alloc : &f32[t, k]
    %19 = view %5 {offset = 0, strides = [k, 1]} : &f32[t, k]
    compute %19, %18 {family = "copy", outs = 1} (%20: f32[t, k]) {
      yield %20
    }
    ret %3, %18
  }
}
