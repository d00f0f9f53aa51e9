# bufferise: carried values that change places, one that grows, and rows of a result.
# run: fuse,bufferise
# then: lower
module @m {
  graph @main(%n: i64[], %c: bool[], %x: f32[4], %y: f32[4], %z: f32[1]) -> (f32[4] "a", f32[4] "b", f32[m] "c", f32[t, 4] "d") {
    %0, %1, %2, %3 = loop %n, %c, %x, %y, %z {scans = 1} : f32[4], f32[4], f32[m], f32[t, 4] (%i: i64[], %go: bool[], %p: f32[4], %q: f32[4], %r: f32[k]) {
      %4 = add %p, %q : f32[4]
      %5 = concat %r, %z {axis = 0} : f32[k + 1]
      yield %go, %q, %p, %5, %4
    }
    ret %0, %1, %2, %3
  }
}
# expect:
module @m {
  symbol trip {origin = "a number of trips or elements of a loop"}
  symbol most_trips {origin = "a number of trips or elements of a loop"}
  symbol next {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %x: f32[4],
      %y: f32[4],
      %z: f32[1]) -> (&f32[4] "a", &f32[4] "b", &f32[m] "c", &f32[t, 4] "d") {
    %0 = view %n {offset = 0, strides = [1]} : &i64[1]
    bind %0 {symbols = [most_trips]}
    %1 = alloc : &bool
    compute %c, %1 {family = "copy", outs = 1} (%2: bool[]) {
      yield %2
    }
    %3 = alloc : &f32[4]
    compute %x, %3 {family = "copy", outs = 1} (%4: f32[4]) {
      yield %4
    }
    %5 = alloc : &f32[4]
    compute %y, %5 {family = "copy", outs = 1} (%6: f32[4]) {
      yield %6
    }
    let {symbol = k, value = 1}
    %7 = alloc : &f32[k]
    %8 = view %7 {offset = 0, strides = [1]} : &f32[1]
    compute %z, %8 {family = "copy", outs = 1} (%9: f32[1]) {
      yield %9
    }
    %10 = alloc : &f32[most_trips, 4]
    %11 = alloc : &i64
    store_dims %11 {values = [0]}
    loop %n, %1 {trip = trip} (%12: i64[], %13: bool[]) {
      %14 = alloc : &i64
      store_dims %14 {values = [trip]}
      %15 = alloc : &f32[4]
      compute %3, %5, %15 {family = "map", outs = 1} (%16: f32[4], %17: f32[4]) {
        %18 = add %16, %17 : f32[4]
        yield %18
      }
      %19 = alloc : &f32[k + 1]
      %20 = view %19 {offset = 0, strides = [1]} : &f32[k]
      compute %7, %20 {family = "copy", outs = 1} (%21: f32[k]) {
        yield %21
      }
      %22 = view %19 {offset = k, strides = [1]} : &f32[1]
      compute %z, %22 {family = "copy", outs = 1} (%23: f32[1]) {
        yield %23
      }
      %24 = view %10 {offset = 4*trip, strides = [1]} : &f32[4]
      compute %15, %24 {family = "copy", outs = 1} (%25: f32[4]) {
        yield %25
      }
      %26 = alloc : &f32[4]
      compute %5, %26 {family = "copy", outs = 1} (%27: f32[4]) {
        yield %27
      }
      %28 = alloc : &f32[4]
      compute %3, %28 {family = "copy", outs = 1} (%29: f32[4]) {
        yield %29
      }
      let {symbol = next, value = k + 1}
      %30 = alloc : &f32[next]
      compute %19, %30 {family = "copy", outs = 1} (%31: f32[k + 1]) {
        yield %31
      }
      let {symbol = k, value = next}
      compute %26, %3 {family = "copy", outs = 1} (%32: f32[4]) {
        yield %32
      }
      compute %28, %5 {family = "copy", outs = 1} (%33: f32[4]) {
        yield %33
      }
      %34 = view %7 {offset = 0, strides = [1]} : &f32[next]
      compute %30, %34 {family = "copy", outs = 1} (%35: f32[next]) {
        yield %35
      }
      store_dims %11 {values = [trip + 1]}
      yield %1
    }
    let {symbol = m, value = k}
    %36 = view %11 {offset = 0, strides = [1]} : &i64[1]
    bind %36 {symbols = [t]}
    %37 = alloc : &f32[m]
    %38 = view %7 {offset = 0, strides = [1]} : &f32[m]
    compute %38, %37 {family = "copy", outs = 1} (%39: f32[m]) {
      yield %39
    }
    %40 = alloc : &f32[t, 4]
    %41 = view %10 {offset = 0, strides = [4, 1]} : &f32[t, 4]
    compute %41, %40 {family = "copy", outs = 1} (%42: f32[t, 4]) {
      yield %42
    }
    ret %3, %5, %37, %40
  }
}
