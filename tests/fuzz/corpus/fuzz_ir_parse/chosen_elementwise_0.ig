module @elementwise {
  graph @main(%x: f32[B, 4], %y: f32[4], %p: bool[B, 4], %i: i32[4]) -> (f32[B, 4], bool[B, 4], i32[4], f16[B, 4], u32[B, 4]) {
    %0 = neg %x
    %1 = abs %0
    %2 = sign %1
    %3 = sqrt %2
    %4 = rsqrt %3
    %5 = recip %4
    %6 = exp %5
    %7 = log %6
    %8 = log1p %7
    %9 = sin %8
    %10 = cos %9
    %11 = tanh %10
    %12 = erf %11
    %13 = sigmoid %12
    %14 = relu %13
    %15 = softplus %14
    %16 = floor %15
    %17 = ceil %16
    %18 = round %17
    %19 = trunc %18
    %20 = add %19, %y
    %21 = sub %20, %y
    %22 = mul %21, %y
    %23 = div %22, %y
    %24 = mod %23, %y
    %25 = pow %24, %y
    %26 = min %25, %y
    %27 = max %26, %y
    %28 = mod %27, %y {truncate}
    %29 = eq %28, %y
    %30 = and %p, %29
    %31 = ne %28, %y
    %32 = xor %30, %31
    %33 = lt %28, %y
    %34 = or %32, %33
    %35 = le %28, %y
    %36 = and %34, %35
    %37 = gt %28, %y
    %38 = xor %36, %37
    %39 = ge %28, %y
    %40 = or %38, %39
    %41 = isnan %28
    %42 = isinf %28 {skip_positive, skip_negative = false}
    %43 = and %41, %42
    %44 = or %43, %40
    %45 = not %44
    %46 = xor %45, %40
    %47 = where %46, %28, %y
    %48 = cast %47 {to = f16, saturate}
    %49 = shl %i, %i
    %50 = shr %49, %i
    %51 = bitcast %28 {to = u32}
    ret %47, %46, %50, %48, %51
  }
}
