//! Free blocks by class: bitmaps that say which classes have any, and a list for each.

use core::hint::select_unpredictable;

use super::class::{CLASSES, COLUMN_BITS, COLUMNS, Class, ROWS};
use super::node::{NONE, Node};

/// The heads of the classes' lists. The links are in the nodes.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Bit `r`: row `r` has a free block.
    rows: u64,
    /// Bit `c` of entry `r`: the class in row `r` and column `c` has a free block.
    columns: [u64; ROWS],
    heads: [u32; CLASSES],
}

impl Index {
    pub(super) const fn new() -> Self {
        const { assert!(COLUMNS == u64::BITS as usize && ROWS <= u64::BITS as usize) };
        Self {
            rows: 0,
            columns: [0; ROWS],
            heads: [NONE; CLASSES],
        }
    }

    /// The first class from `class` on that has a free block.
    #[inline(always)]
    pub(super) fn first_from(&self, class: Class) -> Option<Class> {
        let row = class.row();
        let here = self.columns.get(row)? & (u64::MAX << class.column());
        if here != 0 {
            return Some(Class::at(row, here.trailing_zeros()));
        }
        // A row's number is at most ROWS - 1, so the shift is below 64.
        let above = self.rows & (u64::MAX << (row + 1));
        if above == 0 {
            return None;
        }
        let row = above.trailing_zeros() as usize;
        Some(Class::at(row, self.columns[row].trailing_zeros()))
    }

    /// The last class that has a free block.
    pub(super) fn last(&self) -> Option<Class> {
        let row = self.rows.checked_ilog2()? as usize;
        Some(Class::at(row, self.columns[row].checked_ilog2()?))
    }

    /// The first block of a class, `NONE` if there is none.
    #[inline(always)]
    pub(super) fn head(&self, class: Class) -> u32 {
        self.heads[class.number()]
    }

    // Whether a class has other blocks, and whether a block has neighbours in its class,
    // cannot be predicted. So both functions below have no branch on it: a write to a
    // neighbour that is not there goes to the block itself.

    /// Puts a block in front of its class.
    #[inline(always)]
    pub(super) fn link<D>(&mut self, nodes: &mut [Node<D>], block: u32, class: Class) {
        let (row, column) = (class.row(), class.column());
        self.rows |= 1 << row;
        self.columns[row] |= 1 << column;
        let head = core::mem::replace(&mut self.heads[class.number()], block);
        nodes[neighbour_or(head, block)].previous = block;
        let node = &mut nodes[block as usize];
        (node.previous, node.next) = (NONE, head);
    }

    /// Takes a block out of its class.
    #[inline(always)]
    pub(super) fn unlink<D>(&mut self, nodes: &mut [Node<D>], block: u32, class: Class) {
        let Node { previous, next, .. } = nodes[block as usize];
        nodes[neighbour_or(next, block)].previous = previous;
        nodes[neighbour_or(previous, block)].next = next;
        let head = &mut self.heads[class.number()];
        *head = select_unpredictable(previous == NONE, next, *head);
        let (row, column) = (class.row(), class.column());
        let columns = &mut self.columns[row];
        *columns &= !(u64::from(*head == NONE) << column);
        self.rows &= !(u64::from(*columns == 0) << row);
    }

    /// Whether the bitmaps say of every class whether its list is empty.
    pub(super) fn agrees(&self) -> bool {
        (0..ROWS).all(|row| {
            let columns = self.columns[row];
            let of_row = &self.heads[row << COLUMN_BITS..][..COLUMNS];
            let filled =
                |(column, head): (usize, &u32)| (*head != NONE) == (columns >> column & 1 == 1);
            (self.rows >> row & 1 == 1) == (columns != 0) && of_row.iter().enumerate().all(filled)
        })
    }
}

/// Where to write for a neighbour: itself, or `block` if there is none.
#[inline(always)]
fn neighbour_or(neighbour: u32, block: u32) -> usize {
    select_unpredictable(neighbour == NONE, block, neighbour) as usize
}
