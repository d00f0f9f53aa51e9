# Encoded images: extents are what the file says, channels what the op does.
# run:
module @images {
  graph @main(%x: u8[N]) -> (u8[H, W, 3], u8[I, V, 3], u8[J, U, 1]) {
    %0 = image_decode %x : u8[H, W, 3]
    %1 = image_decode %x {order = bgr} : u8[I, V, 3]
    %2 = image_decode %x {order = gray} : u8[J, U, 1]
    ret %0, %1, %2
  }
}
