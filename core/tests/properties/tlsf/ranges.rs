//! What a heap manages: where it goes on after it was cut off, what its storage needs, and
//! whose names it takes.

use cupola_core::Tlsf;
use cupola_core::tlsf::{Node, RangeError, Stale};

fn heap() -> Tlsf<Vec<Node>> {
    Tlsf::new(vec![Node::default(); 100], ())
}

/// Without it a heap that was cut down to nothing could grow again at address 0, which is
/// not its own.
#[test]
fn a_heap_grows_again_where_it_was_cut() {
    let mut heap = heap();
    assert_eq!(heap.end(), 0);
    heap.add_range(1 << 40, 4096, ()).unwrap();
    assert_eq!(heap.truncate(1 << 40), Ok(4096));
    assert_eq!((heap.end(), heap.blocks().len()), (1 << 40, 0));
    let name = heap.extend(64, ()).unwrap();
    assert_eq!(heap.piece(name).unwrap().offset, 1 << 40);
    // A cut above the end moves nothing.
    assert_eq!(heap.truncate(1 << 50), Ok(0));
    assert_eq!(heap.end(), (1 << 40) + 64);
}

/// Without it what is added to the highest range after it was cut off could become part of
/// the one below.
#[test]
fn the_range_below_does_not_grow_for_one_that_was_cut_off() {
    let mut heap = heap();
    heap.add_range(0, 100, ()).unwrap();
    heap.add_range(1000, 100, ()).unwrap();
    assert_eq!(heap.truncate(1000), Ok(100));
    let name = heap.extend(50, ()).unwrap();
    let piece = heap.piece(name).unwrap();
    assert_eq!((piece.offset, piece.size), (1000, 50));
    // A range added below leaves the end where it is; an allocation in the way refuses.
    heap.add_range(500, 100, ()).unwrap();
    assert_eq!(heap.end(), 1050);
    heap.allocate_at(540, 10, ()).unwrap();
    assert_eq!(heap.truncate(545), Err(RangeError::InUse));
    assert_eq!(heap.end(), 1050);
    assert_eq!(heap.truncate(560), Ok(90));
    assert_eq!(heap.end(), 560);
}

/// Without it a name could be thought stale that is not, or reach what came after a cut.
#[test]
fn a_block_that_is_cut_keeps_its_name_until_it_is_gone() {
    let mut heap = heap();
    let name = heap.add_range(64, 128, ()).unwrap();
    heap.truncate(128).unwrap();
    assert_eq!(heap.piece(name).map(|piece| piece.size), Some(64));
    heap.truncate(64).unwrap();
    assert_eq!(heap.piece(name), None);
    let again = heap.extend(64, ()).unwrap();
    assert_ne!(again, name);
    assert_eq!(heap.piece(name), None);
}

/// Without it a heap that was full once could never move to a smaller storage.
#[test]
fn an_empty_heap_moves_to_a_small_storage() {
    let mut heap = heap();
    heap.add_range(0, 100, ()).unwrap();
    let blocks: Vec<_> = (0..50).map(|_| heap.allocate(1, 1, ()).unwrap()).collect();
    for block in blocks {
        heap.free(block, ()).unwrap();
    }
    // One block is left, and 51 nodes were in use: they keep their places.
    assert_eq!(heap.blocks().len(), 1);
    assert!(heap.replace_nodes(vec![Node::default(); 50]).is_err());
    assert!(heap.replace_nodes(vec![Node::default(); 51]).is_ok());
    heap.truncate(0).unwrap();
    assert!(heap.replace_nodes(vec![Node::default(); 2]).is_ok());
    assert_eq!((heap.spare_nodes(), heap.check()), (2, Ok(())));
    heap.extend(100, ()).unwrap();
    heap.allocate(10, 1, ()).unwrap();
    assert_eq!((heap.spare_nodes(), heap.check()), (0, Ok(())));
}

/// Without it the name of a block in one heap could free another one's in its twin, where
/// offset, size, node and serial are the same; or one from before a heap was made anew.
#[test]
fn heaps_of_different_numbers_refuse_each_others_names() {
    let nodes = || vec![Node::default(); 10];
    let twin = |nodes: Vec<Node>, number| {
        let mut heap = Tlsf::<_>::numbered(nodes, (), number);
        let whole = heap.add_range(0, 100, ()).unwrap();
        let block = heap.allocate(10, 1, ()).unwrap();
        (heap, whole, block)
    };
    let (mut one, one_rest, one_block) = twin(nodes(), 1);
    let (two, two_rest, two_block) = twin(nodes(), 2);
    assert_eq!(one_block.offset(), two_block.offset());
    assert_eq!(one.free(two_block, ()), Err(Stale));
    assert_eq!(one.data(two_block), Err(Stale));
    assert_eq!(one.set_data(two_block, ()), Err(Stale));
    assert_eq!(one.piece(two_rest), None);
    assert_eq!(one.set_piece_data(two_rest, ()), Err(Stale));
    assert_eq!(one.coalesce(two_rest), Err(Stale));
    assert_eq!(one.piece(one_rest), two.piece(two_rest));

    // The second's nodes in a third heap, and the names from before.
    let (mut three, _, block) = twin(two.into_parts().0, 3);
    assert_eq!(three.free(two_block, ()), Err(Stale));
    assert_eq!(three.piece(two_rest), None);
    // Every way to a name gives the heap's own.
    assert_eq!(three.block_at(0), Some(block));
    let name = three.free(block, ()).unwrap();
    assert_eq!(three.piece(name).map(|piece| piece.size), Some(100));
    assert_eq!(one.free(one_block, ()).map(|_| ()), Ok(()));
}
