//! Tensor maps of each kind, and one of other memory.

use cupola_managers::pool::PoolConfig;
use cupola_managers::tensor::{Im2col, Im2colWide, TensorFormat, TensorMap, Tiling, WideColumn};
use cupola_testing::Stage;
use cupola_testing::sweep::Outcome;

/// Each call that writes a map once.
pub(crate) fn tensor_maps(stage: &Stage) -> Outcome {
    let context = stage.context()?;
    let stream = context.streams().create(Default::default())?;
    let pool = context.memory_pool(PoolConfig::limit(8 << 20))?;
    let bytes = pool.zeros::<u8>(1 << 16, &stream)?;
    let view = bytes.view();
    let tiling = Tiling::new([128, 16], [128, 4]).format(TensorFormat::U4Align16);
    let map = TensorMap::tiled(&context, view, tiling)?;
    TensorMap::im2col(&context, view, Im2col::new([64, 16, 16, 2], 64, 32))?;
    let wide = Im2colWide::new([128, 16, 16], 128, WideColumn::W128);
    TensorMap::im2col_wide(&context, view, wide)?;
    assert_eq!(map.of(&context, view)?.as_raw(), map.as_raw());
    Ok(())
}
