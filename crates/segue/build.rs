//! The page is built into the binary, so a new page means a new binary.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
}
