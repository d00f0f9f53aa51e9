module @dlrm {
  weight @w0 : f32[512, 13] = splat(0.01)
  weight @b0 : f32[512] = splat(0.01)
  weight @w1 : f32[256, 512] = splat(0.01)
  weight @b1 : f32[256] = splat(0.01)
  weight @w2 : f32[64, 256] = splat(0.01)
  weight @b2 : f32[64] = splat(0.01)
  weight @w3 : f32[512, 415] = splat(0.01)
  weight @b3 : f32[512] = splat(0.01)
  weight @w4 : f32[256, 512] = splat(0.01)
  weight @b4 : f32[256] = splat(0.01)
  weight @w5 : f32[1, 256] = splat(0.01)
  weight @b5 : f32[1] = splat(0.01)
  weight @t0 : f32[100, 64] = splat(0.01)
  weight @t1 : f32[107, 64] = splat(0.01)
  weight @t2 : f32[169, 64] = splat(0.01)
  weight @t3 : f32[590, 64] = splat(0.01)
  weight @t4 : f32[100, 64] = splat(0.01)
  weight @t5 : f32[115, 64] = splat(0.01)
  weight @t6 : f32[219, 64] = splat(0.01)
  weight @t7 : f32[1031, 64] = splat(0.01)
  weight @t8 : f32[101, 64] = splat(0.01)
  weight @t9 : f32[129, 64] = splat(0.01)
  weight @t10 : f32[306, 64] = splat(0.01)
  weight @t11 : f32[2000, 64] = splat(0.01)
  weight @t12 : f32[104, 64] = splat(0.01)
  weight @t13 : f32[152, 64] = splat(0.01)
  weight @t14 : f32[464, 64] = splat(0.01)
  weight @t15 : f32[100, 64] = splat(0.01)
  weight @t16 : f32[110, 64] = splat(0.01)
  weight @t17 : f32[191, 64] = splat(0.01)
  weight @t18 : f32[770, 64] = splat(0.01)
  weight @t19 : f32[101, 64] = splat(0.01)
  weight @t20 : f32[121, 64] = splat(0.01)
  weight @t21 : f32[256, 64] = splat(0.01)
  weight @t22 : f32[1416, 64] = splat(0.01)
  weight @t23 : f32[102, 64] = splat(0.01)
  weight @t24 : f32[139, 64] = splat(0.01)
  weight @t25 : f32[372, 64] = splat(0.01)
  graph @main(%dense: f32[B, 13], %ids: i64[B, 26]) -> (f32[B, 1] "prob") {
    %0 = matmul %dense, @w0 {transpose_b} : f32[B, 512]
    %1 = add %0, @b0 : f32[B, 512]
    %2 = relu %1 : f32[B, 512]
    %3 = matmul %2, @w1 {transpose_b} : f32[B, 256]
    %4 = add %3, @b1 : f32[B, 256]
    %5 = relu %4 : f32[B, 256]
    %6 = matmul %5, @w2 {transpose_b} : f32[B, 64]
    %7 = add %6, @b2 : f32[B, 64]
    %8 = relu %7 : f32[B, 64]
    %9 = slice %ids {starts = [0, 0], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %10 = reshape %9 {to = [B]} : i64[B]
    %11 = slice %ids {starts = [0, 1], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %12 = reshape %11 {to = [B]} : i64[B]
    %13 = slice %ids {starts = [0, 2], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %14 = reshape %13 {to = [B]} : i64[B]
    %15 = slice %ids {starts = [0, 3], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %16 = reshape %15 {to = [B]} : i64[B]
    %17 = slice %ids {starts = [0, 4], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %18 = reshape %17 {to = [B]} : i64[B]
    %19 = slice %ids {starts = [0, 5], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %20 = reshape %19 {to = [B]} : i64[B]
    %21 = slice %ids {starts = [0, 6], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %22 = reshape %21 {to = [B]} : i64[B]
    %23 = slice %ids {starts = [0, 7], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %24 = reshape %23 {to = [B]} : i64[B]
    %25 = slice %ids {starts = [0, 8], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %26 = reshape %25 {to = [B]} : i64[B]
    %27 = slice %ids {starts = [0, 9], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %28 = reshape %27 {to = [B]} : i64[B]
    %29 = slice %ids {starts = [0, 10], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %30 = reshape %29 {to = [B]} : i64[B]
    %31 = slice %ids {starts = [0, 11], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %32 = reshape %31 {to = [B]} : i64[B]
    %33 = slice %ids {starts = [0, 12], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %34 = reshape %33 {to = [B]} : i64[B]
    %35 = slice %ids {starts = [0, 13], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %36 = reshape %35 {to = [B]} : i64[B]
    %37 = slice %ids {starts = [0, 14], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %38 = reshape %37 {to = [B]} : i64[B]
    %39 = slice %ids {starts = [0, 15], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %40 = reshape %39 {to = [B]} : i64[B]
    %41 = slice %ids {starts = [0, 16], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %42 = reshape %41 {to = [B]} : i64[B]
    %43 = slice %ids {starts = [0, 17], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %44 = reshape %43 {to = [B]} : i64[B]
    %45 = slice %ids {starts = [0, 18], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %46 = reshape %45 {to = [B]} : i64[B]
    %47 = slice %ids {starts = [0, 19], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %48 = reshape %47 {to = [B]} : i64[B]
    %49 = slice %ids {starts = [0, 20], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %50 = reshape %49 {to = [B]} : i64[B]
    %51 = slice %ids {starts = [0, 21], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %52 = reshape %51 {to = [B]} : i64[B]
    %53 = slice %ids {starts = [0, 22], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %54 = reshape %53 {to = [B]} : i64[B]
    %55 = slice %ids {starts = [0, 23], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %56 = reshape %55 {to = [B]} : i64[B]
    %57 = slice %ids {starts = [0, 24], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %58 = reshape %57 {to = [B]} : i64[B]
    %59 = slice %ids {starts = [0, 25], sizes = [B, 1], steps = [1, 1]} : i64[B, 1]
    %60 = reshape %59 {to = [B]} : i64[B]
    %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86 = bag @t0, %10, @t1, %12, @t2, %14, @t3, %16, @t4, %18, @t5, %20, @t6, %22, @t7, %24, @t8, %26, @t9, %28, @t10, %30, @t11, %32, @t12, %34, @t13, %36, @t14, %38, @t15, %40, @t16, %42, @t17, %44, @t18, %46, @t19, %48, @t20, %50, @t21, %52, @t22, %54, @t23, %56, @t24, %58, @t25, %60 {operands = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], pool = [none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none, none]} : f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64], f32[B, 64]
    %87 = concat %8, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86 {axis = 1} : f32[B, 1728]
    %88 = reshape %87 {to = [B, 27, 64]} : f32[B, 27, 64]
    %89 = interact %88 {pairs = [27, 54, 55, 81, 82, 83, 108, 109, 110, 111, 135, 136, 137, 138, 139, 162, 163, 164, 165, 166, 167, 189, 190, 191, 192, 193, 194, 195, 216, 217, 218, 219, 220, 221, 222, 223, 243, 244, 245, 246, 247, 248, 249, 250, 251, 270, 271, 272, 273, 274, 275, 276, 277, 278, 279, 297, 298, 299, 300, 301, 302, 303, 304, 305, 306, 307, 324, 325, 326, 327, 328, 329, 330, 331, 332, 333, 334, 335, 351, 352, 353, 354, 355, 356, 357, 358, 359, 360, 361, 362, 363, 378, 379, 380, 381, 382, 383, 384, 385, 386, 387, 388, 389, 390, 391, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 419, 432, 433, 434, 435, 436, 437, 438, 439, 440, 441, 442, 443, 444, 445, 446, 447, 459, 460, 461, 462, 463, 464, 465, 466, 467, 468, 469, 470, 471, 472, 473, 474, 475, 486, 487, 488, 489, 490, 491, 492, 493, 494, 495, 496, 497, 498, 499, 500, 501, 502, 503, 513, 514, 515, 516, 517, 518, 519, 520, 521, 522, 523, 524, 525, 526, 527, 528, 529, 530, 531, 540, 541, 542, 543, 544, 545, 546, 547, 548, 549, 550, 551, 552, 553, 554, 555, 556, 557, 558, 559, 567, 568, 569, 570, 571, 572, 573, 574, 575, 576, 577, 578, 579, 580, 581, 582, 583, 584, 585, 586, 587, 594, 595, 596, 597, 598, 599, 600, 601, 602, 603, 604, 605, 606, 607, 608, 609, 610, 611, 612, 613, 614, 615, 621, 622, 623, 624, 625, 626, 627, 628, 629, 630, 631, 632, 633, 634, 635, 636, 637, 638, 639, 640, 641, 642, 643, 648, 649, 650, 651, 652, 653, 654, 655, 656, 657, 658, 659, 660, 661, 662, 663, 664, 665, 666, 667, 668, 669, 670, 671, 675, 676, 677, 678, 679, 680, 681, 682, 683, 684, 685, 686, 687, 688, 689, 690, 691, 692, 693, 694, 695, 696, 697, 698, 699, 702, 703, 704, 705, 706, 707, 708, 709, 710, 711, 712, 713, 714, 715, 716, 717, 718, 719, 720, 721, 722, 723, 724, 725, 726, 727]} : f32[B, 351]
    %90 = concat %8, %89 {axis = 1} : f32[B, 415]
    %91 = matmul %90, @w3 {transpose_b} : f32[B, 512]
    %92 = add %91, @b3 : f32[B, 512]
    %93 = relu %92 : f32[B, 512]
    %94 = matmul %93, @w4 {transpose_b} : f32[B, 256]
    %95 = add %94, @b4 : f32[B, 256]
    %96 = relu %95 : f32[B, 256]
    %97 = matmul %96, @w5 {transpose_b} : f32[B, 1]
    %98 = add %97, @b5 : f32[B, 1]
    %99 = sigmoid %98 : f32[B, 1]
    ret %99
  }
}
