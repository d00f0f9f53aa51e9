# run:
module @a {
}
module @b {
}
# expect-error: 4:1: expected nothing behind the module, found 'module'
