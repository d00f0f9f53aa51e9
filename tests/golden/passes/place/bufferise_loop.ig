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
  symbol rows {origin = "a number of trips or elements of a loop"}
  symbol next {origin = "a number of trips or elements of a loop"}
  plan @main(
      %n: i64[],
      %c: bool[],
      %x: f32[4],
      %y: f32[4],
      %z: f32[1]) -> (&f32[4] "a", &f32[4] "b", &f32[m] "c", &f32[t, 4] "d") {
    %0 = alloc : &bool
    compute %c, %0 {family = "copy", outs = 1} (%1: bool[]) {
      yield %1
    }
    %2 = alloc : &f32[4]
    compute %x, %2 {family = "copy", outs = 1} (%3: f32[4]) {
      yield %3
    }
    %4 = alloc : &f32[4]
    compute %y, %4 {family = "copy", outs = 1} (%5: f32[4]) {
      yield %5
    }
    let {symbol = k, value = 1}
    %6 = alloc : &f32[k]
    %7 = view %6 {offset = 0, strides = [1]} : &f32[1]
    compute %z, %7 {family = "copy", outs = 1} (%8: f32[1]) {
      yield %8
    }
    let {symbol = rows, value = 0}
    %9 = alloc : &f32[rows, 4]
    %10 = alloc : &i64
    store_dims %10 {values = [0]}
    loop %n, %0 {trip = trip} (%11: i64[], %12: bool[]) {
      %13 = alloc : &i64
      store_dims %13 {values = [trip]}
      %14 = alloc : &f32[4]
      compute %2, %4, %14 {family = "map", outs = 1} (%15: f32[4], %16: f32[4]) {
        %17 = add %15, %16 : f32[4]
        yield %17
      }
      %18 = alloc : &f32[k + 1]
      %19 = view %18 {offset = 0, strides = [1]} : &f32[k]
      compute %6, %19 {family = "copy", outs = 1} (%20: f32[k]) {
        yield %20
      }
      %21 = view %18 {offset = k, strides = [1]} : &f32[1]
      compute %z, %21 {family = "copy", outs = 1} (%22: f32[1]) {
        yield %22
      }
      let {symbol = rows, value = trip + 1}
      %23 = view %9 {offset = 4*trip, strides = [1]} : &f32[4]
      compute %14, %23 {family = "copy", outs = 1} (%24: f32[4]) {
        yield %24
      }
      %25 = alloc : &f32[4]
      compute %4, %25 {family = "copy", outs = 1} (%26: f32[4]) {
        yield %26
      }
      %27 = alloc : &f32[4]
      compute %2, %27 {family = "copy", outs = 1} (%28: f32[4]) {
        yield %28
      }
      let {symbol = next, value = k + 1}
      %29 = alloc : &f32[next]
      compute %18, %29 {family = "copy", outs = 1} (%30: f32[k + 1]) {
        yield %30
      }
      let {symbol = k, value = next}
      compute %25, %2 {family = "copy", outs = 1} (%31: f32[4]) {
        yield %31
      }
      compute %27, %4 {family = "copy", outs = 1} (%32: f32[4]) {
        yield %32
      }
      %33 = view %6 {offset = 0, strides = [1]} : &f32[next]
      compute %29, %33 {family = "copy", outs = 1} (%34: f32[next]) {
        yield %34
      }
      store_dims %10 {values = [trip + 1]}
      yield %0
    }
    let {symbol = m, value = k}
    %35 = view %10 {offset = 0, strides = [1]} : &i64[1]
    bind %35 {symbols = [t]}
    %36 = alloc : &f32[m]
    %37 = view %6 {offset = 0, strides = [1]} : &f32[m]
    compute %37, %36 {family = "copy", outs = 1} (%38: f32[m]) {
      yield %38
    }
    %39 = alloc : &f32[t, 4]
    %40 = view %9 {offset = 0, strides = [4, 1]} : &f32[t, 4]
    compute %40, %39 {family = "copy", outs = 1} (%41: f32[t, 4]) {
      yield %41
    }
    ret %2, %4, %36, %39
  }
}
