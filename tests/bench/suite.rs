use crate::table::Table;
pub fn measure(_: &mut Table) {}
pub fn runner() -> i32 {
    0
}
