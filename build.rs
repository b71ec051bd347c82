//! Sets the linker flags of a Node addon; the core alone needs none.

fn main() {
    #[cfg(feature = "node")]
    napi_build::setup();
}
