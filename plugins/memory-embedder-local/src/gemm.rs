use pulp::{Arch, Simd, WithSimd};

/// Columns per panel: two registers of AVX-512, four of AVX2, eight of NEON.
const PANEL: usize = 32;

/// The right side of a product, laid out for it: rows of weights, or keys, or columns of values.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packed {
    depth: usize,
    columns: usize,
    /// Panels of 32 columns, one depth after the other; the last panel is filled up with zeros.
    data: Vec<f32>,
}

impl Packed {
    /// Lays out `rows`, each of which becomes a column of the product.
    pub(crate) fn fill<'a>(
        &mut self,
        depth: usize,
        rows: impl ExactSizeIterator<Item = &'a [f32]>,
    ) {
        self.resize(depth, rows.len());
        let mut rows = rows;
        for panel in self.data.chunks_exact_mut((PANEL * depth).max(1)) {
            let (slots, _) = panel.as_chunks_mut::<PANEL>();
            for (column_idx, row) in rows.by_ref().take(PANEL).enumerate() {
                for (slot, value) in slots.iter_mut().zip(row) {
                    if let Some(slot) = slot.get_mut(column_idx) {
                        *slot = *value;
                    }
                }
            }
        }
    }

    /// Lays out a matrix whose columns become columns of the product: `rows` has one item per depth.
    pub(crate) fn fill_transposed<'a>(
        &mut self,
        columns: usize,
        rows: impl ExactSizeIterator<Item = &'a [f32]>,
    ) {
        let depth = rows.len();
        self.resize(depth, columns);
        for (depth_idx, row) in rows.enumerate() {
            let panels = self.data.chunks_exact_mut((PANEL * depth).max(1));
            for (panel, values) in panels.zip(row.chunks(PANEL)) {
                let (slots, _) = panel.as_chunks_mut::<PANEL>();
                if let Some(slots) = slots.get_mut(depth_idx) {
                    slots
                        .iter_mut()
                        .zip(values)
                        .for_each(|(slot, value)| *slot = *value);
                }
            }
        }
    }

    fn resize(&mut self, depth: usize, columns: usize) {
        self.depth = depth;
        self.columns = columns;
        self.data.clear();
        self.data
            .resize(columns.div_ceil(PANEL) * PANEL * depth, 0.0);
    }
}

/// `out = a · b`, row by row. A row's numbers do not depend on the rows beside it, bit by bit.
pub(crate) struct Product<'a> {
    /// Rows whose first `depth` numbers count.
    pub(crate) a: &'a [f32],
    /// From the start of a row to the start of the next.
    pub(crate) a_stride: usize,
    pub(crate) b: &'a Packed,
    pub(crate) out: &'a mut [f32],
    pub(crate) out_stride: usize,
    /// Memory to work in.
    pub(crate) scratch: &'a mut Vec<f32>,
}

impl Product<'_> {
    pub(crate) fn run(self, arch: Arch) {
        arch.dispatch(self);
    }
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only what is inlined into the dispatch is compiled for the wide registers"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        // Rows per block times vectors per panel: as many sums as there are registers to hold them.
        match S::F32_LANES {
            16 => multiply::<S, 12, 2>(simd, self),
            8 => multiply::<S, 3, 4>(simd, self),
            4 => multiply::<S, 3, 8>(simd, self),
            _ => multiply::<S, 1, 32>(simd, self),
        }
    }
}

#[expect(clippy::inline_always, reason = "as `with_simd`")]
#[inline(always)]
fn multiply<S: Simd, const ROWS: usize, const VECTORS: usize>(simd: S, product: Product<'_>) {
    let Product {
        a,
        a_stride,
        b,
        out,
        out_stride,
        scratch,
    } = product;
    let depth = b.depth;
    if depth == 0 || a_stride == 0 || out_stride == 0 {
        return;
    }
    // Blocks of rows lie one depth after the other, like the panels.
    let n_blocks = a.len().div_ceil(a_stride * ROWS);
    scratch.clear();
    scratch.resize(n_blocks * ROWS * depth, 0.0);
    let blocks = scratch.chunks_exact_mut(ROWS * depth);
    for (block, rows) in blocks.zip(a.chunks(a_stride * ROWS)) {
        for (row_idx, row) in rows.chunks(a_stride).enumerate() {
            for (slots, value) in block.as_chunks_mut::<ROWS>().0.iter_mut().zip(row) {
                if let Some(slot) = slots.get_mut(row_idx) {
                    *slot = *value;
                }
            }
        }
    }
    for (panel_idx, panel) in b.data.chunks_exact(PANEL * depth).enumerate() {
        let first = panel_idx * PANEL;
        let weights: &[S::f32s] = bytemuck::cast_slice(panel);
        let (weights, _) = weights.as_chunks::<VECTORS>();
        let blocks = scratch.chunks_exact(ROWS * depth);
        for (block, rows) in blocks.zip(out.chunks_mut(out_stride * ROWS)) {
            let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
            for (values, weights) in block.as_chunks::<ROWS>().0.iter().zip(weights) {
                for (sums, value) in sums.iter_mut().zip(values) {
                    let value = simd.splat_f32s(*value);
                    for (sum, weight) in sums.iter_mut().zip(weights) {
                        *sum = simd.mul_add_e_f32s(value, *weight, *sum);
                    }
                }
            }
            for (sums, row) in sums.iter().zip(rows.chunks_mut(out_stride)) {
                let sums: &[f32] = bytemuck::cast_slice(sums);
                let row = row.iter_mut().take(b.columns).skip(first);
                row.zip(sums).for_each(|(slot, sum)| *slot = *sum);
            }
        }
    }
}
