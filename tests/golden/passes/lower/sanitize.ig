# Each load and store is done where it lies inside of its memory; sizes are params.
# run: sanitize
module @m {
  table @t : i8<rowwise f16>[2, 4] = inline(0x01020304003c000001020304003c0000)
  plan @main(%x: f32[B, 8]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    launch %x, @t, %0 {kernel = @runs, outs = 1, grid = 1, params = [B]}
    %1 = view %0 {offset = 3, strides = [8]} : &f32[B]
    launch %x, %1 {kernel = @walk, outs = 1, grid = 1, scratch = 64}
    %2 = alloc : &f32[B, 8]
    launch %x, @t, %2 {kernel = @runs, outs = 1, grid = 1, params = [B]}
    %3 = view %2 {offset = 8*B - 8, strides = [-8, 1]} : &f32[B, 4]
    launch %3, %1 {kernel = @walk, outs = 1, grid = 1, scratch = 64}
    ret %0
  }
  kernel @runs(%x: &f32, %t: &u8, %y: &f32, %B: i64) {
    %0 = const {value = 8} : i64
    %1 = load %x, %0 : f32<8>
    %2 = load %x, %0, %B : f32<8>
    %3 = iota : i64<4>
    %4 = load_at %x, %3 : f32<4>
    store %1, %y, %0
    store %2, %y, %0, %B
    %5 = offset %t, %0 : &u8
    %6 = reinterpret %5 : &f32
    %7 = load %6, %B : f32
    store %7, %y, %0
    %8 = buffer_at %x, %B : &f32
    %9 = load %8, %0 : f32
    store %9, %y, %B
    ret
  }
  kernel @walk(%x: &f32, %y: &f32) {
    %0 = local {count = 4} : &f32
    %1 = scratch {offset = 16} : &f32
    %2 = const {value = 0} : i64
    %3 = const {value = 4} : i64
    %4 = const {value = 1} : i64
    %5 = for %2, %3, %4, %x : &f32 (%i: i64, %b: &f32) {
      %6 = load %b, %i : f32
      store %6, %0, %i
      store %6, %1, %i
      %7 = offset %b, %3 : &f32
      yield %7
    }
    %8 = load %5, %2 : f32
    store %8, %y, %2
    ret
  }
}
# expect:
module @m {
  table @t : i8<rowwise f16>[2, 4] = inline(0x01020304003c000001020304003c0000)
  plan @main(%x: f32[B, 8]) -> (&f32[B, 8]) {
    %0 = alloc : &f32[B, 8]
    launch %x, @t, %0 {kernel = @runs, outs = 1, grid = 1, params = [B, 0, 0, 0, 32*B, 16, 32*B, 0], checks}
    %1 = view %0 {offset = 3, strides = [8]} : &f32[B]
    launch %x, %1 {kernel = @walk, outs = 1, grid = 1, params = [0, 0, 32*B, 32*min(B, 1)*max(0, B - 1) + 4*min(B, 1), 64], scratch = 64, checks}
    %2 = alloc : &f32[B, 8]
    launch %x, @t, %2 {kernel = @runs, outs = 1, grid = 1, params = [B, 0, 0, 0, 32*B, 16, 32*B, 0], checks}
    %3 = view %2 {offset = 8*B - 8, strides = [-8, 1]} : &f32[B, 4]
    launch %3, %1 {kernel = @walk, outs = 1, grid = 1, params = [32*max(0, B - 1), 0, 32*min(B, 1)*max(0, B - 1) + 16*min(B, 1), 32*min(B, 1)*max(0, B - 1) + 4*min(B, 1), 64], scratch = 64, checks}
    ret %0
  }
  kernel @runs(
      %x: &f32,
      %t: &u8,
      %y: &f32,
      %B: i64,
      %0: i64,
      %1: i64,
      %2: i64,
      %3: i64,
      %4: i64,
      %5: i64,
      %6: i64) {
    %7 = local {count = 2} : &i64
    %8 = local {count = 2} : &i64
    %9 = local {count = 2} : &i64
    %10 = const {value = i64[] 0} : i64
    %11 = const {value = i64[] 1} : i64
    store %10, %9, %11
    %12 = const {value = i64[] 2} : i64
    %13 = const {value = i64[] 4} : i64
    %14 = const {value = i64[] 8} : i64
    %15 = const {value = i64[] 32} : i64
    %16 = sub %3, %15 : i64
    %17 = const {value = i64[] 8589934592} : i64
    %18 = const {value = i64[] 4611686018427387904} : i64
    %19 = sub %3, %13 : i64
    %20 = sub %5, %15 : i64
    %21 = const {value = i64[] 4611686022722355200} : i64
    %22 = sub %4, %13 : i64
    %23 = sub %5, %13 : i64
    %24 = const {value = 8} : i64
    %25 = const {value = i64[] 32} : i64
    %26 = add %0, %25 : i64
    %27 = const {value = i64[] 32} : i64
    %28 = le %26, %16 : bool
    %29 = ge %26, %10 : bool
    %30 = and %29, %28 : bool
    %31 = const {value = i64[] 274877906944} : i64
    %32 = const {value = i64[] 4611686293305294848} : i64
    %33 = const {value = i64[] 4611686293305294848} : i64
    %34 = where %30, %10, %11 : i64
    store %33, %9, %34
    store %26, %8, %34
    store %3, %7, %34
    %35 = where %30, %14, %10 : i64
    %36 = load %x, %24, %35 : f32<8>
    %37 = const {value = i64[] 32} : i64
    %38 = add %0, %37 : i64
    %39 = min %B, %14 : i64
    %40 = max %39, %10 : i64
    %41 = mul %40, %13 : i64
    %42 = sub %3, %41 : i64
    %43 = le %38, %42 : bool
    %44 = ge %38, %10 : bool
    %45 = and %44, %43 : bool
    %46 = le %B, %10 : bool
    %47 = or %46, %45 : bool
    %48 = mul %41, %17 : i64
    %49 = add %18, %48 : i64
    %50 = where %47, %10, %11 : i64
    store %49, %9, %50
    store %38, %8, %50
    store %3, %7, %50
    %51 = where %47, %B, %10 : i64
    %52 = load %x, %24, %51 : f32<8>
    %53 = iota : i64<4>
    %54 = splat %13 : i64<4>
    %55 = mul %53, %54 : i64<4>
    %56 = splat %0 : i64<4>
    %57 = add %55, %56 : i64<4>
    %58 = hreduce %57 {op = min} : i64
    %59 = hreduce %57 {op = max} : i64
    %60 = lt %58, %10 : bool
    %61 = where %60, %58, %59 : i64
    %62 = le %59, %19 : bool
    %63 = ge %58, %10 : bool
    %64 = and %63, %62 : bool
    %65 = const {value = i64[] 34359738368} : i64
    %66 = const {value = i64[] 4611686052787126272} : i64
    %67 = const {value = i64[] 4611686052787126272} : i64
    %68 = where %64, %10, %11 : i64
    store %67, %9, %68
    store %61, %8, %68
    store %3, %7, %68
    %69 = if %64 : f32<4> {
      %70 = load_at %x, %53 : f32<4>
      yield %70
    } else {
      %71 = const {value = f32[] 0} : f32
      %72 = splat %71 : f32<4>
      yield %72
    }
    %73 = const {value = i64[] 32} : i64
    %74 = add %2, %73 : i64
    %75 = const {value = i64[] 32} : i64
    %76 = le %74, %20 : bool
    %77 = ge %74, %10 : bool
    %78 = and %77, %76 : bool
    %79 = const {value = i64[] 274877906944} : i64
    %80 = const {value = i64[] 4611686297600262144} : i64
    %81 = const {value = i64[] 4611686297600262146} : i64
    %82 = where %78, %10, %11 : i64
    store %81, %9, %82
    store %74, %8, %82
    store %5, %7, %82
    %83 = where %78, %14, %10 : i64
    store %36, %y, %24, %83
    %84 = const {value = i64[] 32} : i64
    %85 = add %2, %84 : i64
    %86 = min %B, %14 : i64
    %87 = max %86, %10 : i64
    %88 = mul %87, %13 : i64
    %89 = sub %5, %88 : i64
    %90 = le %85, %89 : bool
    %91 = ge %85, %10 : bool
    %92 = and %91, %90 : bool
    %93 = le %B, %10 : bool
    %94 = or %93, %92 : bool
    %95 = mul %88, %17 : i64
    %96 = add %21, %95 : i64
    %97 = add %96, %12 : i64
    %98 = where %94, %10, %11 : i64
    store %97, %9, %98
    store %85, %8, %98
    store %5, %7, %98
    %99 = where %94, %B, %10 : i64
    store %52, %y, %24, %99
    %100 = const {value = i64[] 8} : i64
    %101 = add %1, %100 : i64
    %102 = offset %t, %24 : &u8
    %103 = reinterpret %102 : &f32
    %104 = mul %B, %13 : i64
    %105 = add %101, %104 : i64
    %106 = const {value = i64[] 4} : i64
    %107 = le %105, %22 : bool
    %108 = ge %105, %10 : bool
    %109 = and %108, %107 : bool
    %110 = const {value = i64[] 34359738368} : i64
    %111 = const {value = i64[] 4611686052787126272} : i64
    %112 = const {value = i64[] 4611686052787126273} : i64
    %113 = where %109, %10, %11 : i64
    store %112, %9, %113
    store %105, %8, %113
    store %4, %7, %113
    %114 = where %109, %11, %10 : i64
    %115 = load %103, %B, %114 : f32
    %116 = const {value = i64[] 32} : i64
    %117 = add %2, %116 : i64
    %118 = const {value = i64[] 4} : i64
    %119 = le %117, %23 : bool
    %120 = ge %117, %10 : bool
    %121 = and %120, %119 : bool
    %122 = const {value = i64[] 34359738368} : i64
    %123 = const {value = i64[] 4611686057082093568} : i64
    %124 = const {value = i64[] 4611686057082093570} : i64
    %125 = where %121, %10, %11 : i64
    store %124, %9, %125
    store %117, %8, %125
    store %5, %7, %125
    %126 = where %121, %11, %10 : i64
    store %115, %y, %24, %126
    %127 = param_at %0, %B : i64
    %128 = param_at %3, %B : i64
    %129 = buffer_at %x, %B : &f32
    %130 = const {value = i64[] 32} : i64
    %131 = add %127, %130 : i64
    %132 = const {value = i64[] 4} : i64
    %133 = sub %128, %132 : i64
    %134 = le %131, %133 : bool
    %135 = ge %131, %10 : bool
    %136 = and %135, %134 : bool
    %137 = const {value = i64[] 34359738368} : i64
    %138 = const {value = i64[] 4611686052787126272} : i64
    %139 = add %138, %B : i64
    %140 = where %136, %10, %11 : i64
    store %139, %9, %140
    store %131, %8, %140
    store %128, %7, %140
    %141 = where %136, %11, %10 : i64
    %142 = load %129, %24, %141 : f32
    %143 = mul %B, %13 : i64
    %144 = add %2, %143 : i64
    %145 = const {value = i64[] 4} : i64
    %146 = le %144, %23 : bool
    %147 = ge %144, %10 : bool
    %148 = and %147, %146 : bool
    %149 = const {value = i64[] 34359738368} : i64
    %150 = const {value = i64[] 4611686057082093568} : i64
    %151 = const {value = i64[] 4611686057082093570} : i64
    %152 = where %148, %10, %11 : i64
    store %151, %9, %152
    store %144, %8, %152
    store %5, %7, %152
    %153 = where %148, %11, %10 : i64
    store %142, %y, %B, %153
    %154 = load %9, %11 : i64
    %155 = load %8, %11 : i64
    %156 = load %7, %11 : i64
    %157 = ne %154, %10 : bool
    if %157 {
      report %154, %155, %156
      yield
    } else {
      yield
    }
    ret
  }
  kernel @walk(
      %x: &f32,
      %y: &f32,
      %0: i64,
      %1: i64,
      %2: i64,
      %3: i64,
      %4: i64) {
    %5 = local {count = 2} : &i64
    %6 = local {count = 2} : &i64
    %7 = local {count = 2} : &i64
    %8 = const {value = i64[] 0} : i64
    %9 = const {value = i64[] 1} : i64
    store %8, %7, %9
    %10 = const {value = i64[] 16} : i64
    %11 = const {value = i64[] 4294967295} : i64
    %12 = const {value = i64[] 2} : i64
    %13 = const {value = i64[] 4294967294} : i64
    %14 = scratch {offset = 0} : &i16
    %15 = div %4, %12 : i64
    %16 = const {value = i16[] 32759} : i16
    for %8, %15, %9 (%17: i64) {
      store %16, %14, %17
      yield
    }
    %18 = const {value = i64[] 4} : i64
    %19 = const {value = i64[] 8589934592} : i64
    %20 = const {value = i64[] 4611686018427387904} : i64
    %21 = const {value = i64[] 4611686022722355200} : i64
    %22 = sub %4, %18 : i64
    %23 = sub %3, %18 : i64
    %24 = local {count = 4} : &f32
    %25 = const {value = i64[] 8} : i64
    %26 = const {value = i16[] 32759} : i16
    %27 = reinterpret %24 : &i16
    for %8, %25, %9 (%28: i64) {
      store %26, %27, %28
      yield
    }
    %29 = scratch {offset = 16} : &f32
    %30 = const {value = 0} : i64
    %31 = const {value = 4} : i64
    %32 = const {value = 1} : i64
    %33, %34, %35, %36 = for %30, %31, %32, %x, %0, %2, %8 : &f32, i64, i64, i64 (%i: i64, %b: &f32, %37: i64, %38: i64, %39: i64) {
      %40 = mul %i, %18 : i64
      %41 = add %37, %40 : i64
      %42 = const {value = i64[] 4} : i64
      %43 = sub %38, %42 : i64
      %44 = le %41, %43 : bool
      %45 = ge %41, %8 : bool
      %46 = and %45, %44 : bool
      %47 = const {value = i64[] 34359738368} : i64
      %48 = const {value = i64[] 4611686052787126272} : i64
      %49 = add %48, %39 : i64
      %50 = where %46, %8, %9 : i64
      store %49, %7, %50
      store %41, %6, %50
      store %38, %5, %50
      %51 = where %46, %9, %8 : i64
      %52 = load %b, %i, %51 : f32
      %53 = mul %i, %18 : i64
      %54 = const {value = i64[] 4} : i64
      %55 = const {value = i64[] 12} : i64
      %56 = le %53, %55 : bool
      %57 = ge %53, %8 : bool
      %58 = and %57, %56 : bool
      %59 = const {value = i64[] 34359738368} : i64
      %60 = const {value = i64[] 4611686057082093568} : i64
      %61 = const {value = i64[] 4611686061377060863} : i64
      %62 = where %58, %8, %9 : i64
      store %61, %7, %62
      store %53, %6, %62
      store %10, %5, %62
      %63 = where %58, %9, %8 : i64
      store %52, %24, %i, %63
      %64 = mul %i, %18 : i64
      %65 = add %10, %64 : i64
      %66 = const {value = i64[] 4} : i64
      %67 = le %65, %22 : bool
      %68 = ge %65, %8 : bool
      %69 = and %68, %67 : bool
      %70 = const {value = i64[] 34359738368} : i64
      %71 = const {value = i64[] 4611686057082093568} : i64
      %72 = const {value = i64[] 4611686061377060862} : i64
      %73 = where %69, %8, %9 : i64
      store %72, %7, %73
      store %65, %6, %73
      store %4, %5, %73
      %74 = where %69, %9, %8 : i64
      store %52, %29, %i, %74
      %75 = const {value = i64[] 16} : i64
      %76 = add %37, %75 : i64
      %77 = offset %b, %31 : &f32
      yield %77, %76, %38, %39
    }
    %78 = const {value = i64[] 0} : i64
    %79 = const {value = i64[] 4} : i64
    %80 = sub %35, %79 : i64
    %81 = le %34, %80 : bool
    %82 = ge %34, %8 : bool
    %83 = and %82, %81 : bool
    %84 = const {value = i64[] 34359738368} : i64
    %85 = const {value = i64[] 4611686052787126272} : i64
    %86 = add %85, %36 : i64
    %87 = where %83, %8, %9 : i64
    store %86, %7, %87
    store %34, %6, %87
    store %35, %5, %87
    %88 = where %83, %9, %8 : i64
    %89 = load %33, %30, %88 : f32
    %90 = const {value = i64[] 0} : i64
    %91 = const {value = i64[] 4} : i64
    %92 = le %1, %23 : bool
    %93 = ge %1, %8 : bool
    %94 = and %93, %92 : bool
    %95 = const {value = i64[] 34359738368} : i64
    %96 = const {value = i64[] 4611686057082093568} : i64
    %97 = const {value = i64[] 4611686057082093569} : i64
    %98 = where %94, %8, %9 : i64
    store %97, %7, %98
    store %1, %6, %98
    store %3, %5, %98
    %99 = where %94, %9, %8 : i64
    store %89, %y, %30, %99
    %100 = load %7, %9 : i64
    %101 = load %6, %9 : i64
    %102 = load %5, %9 : i64
    %103 = ne %100, %8 : bool
    if %103 {
      report %100, %101, %102
      yield
    } else {
      yield
    }
    ret
  }
}
