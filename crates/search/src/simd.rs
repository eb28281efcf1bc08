//! The two inner loops of vector search, compiled for several instruction sets. The best one is chosen at run time.

// The attribute expands to an `unsafe` call of a function with more instructions, after a check that the CPU has them.
#![allow(unsafe_code)]

use multiversion::multiversion;

/// For each code, the sum of the query's weights at the one bits of the code. The query has four bit planes, so a sum is
/// a count of common bits.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512vl+avx512vpopcntdq+popcnt",
    "x86_64+avx2+popcnt",
    "x86_64+popcnt"
))]
pub(super) fn masked_sums<const WORDS: usize>(codes: &[u64], planes: &[[u64; WORDS]; 4], sums: &mut [u32]) {
    for (code, sum) in codes.chunks_exact(WORDS).zip(sums) {
        let mut counts = [0u64; 4];
        for (word, bits) in code.iter().enumerate() {
            for (count, plane) in counts.iter_mut().zip(planes) {
                *count += u64::from((bits & plane[word]).count_ones());
            }
        }
        *sum = (counts[0] + 2 * counts[1] + 4 * counts[2] + 8 * counts[3]) as u32;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma"))]
pub(super) fn dot(query: &[f32], cells: &[i16]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0f32; LANES];
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (cells, cells_rest) = cells.as_chunks::<LANES>();
    for (query, cells) in query.iter().zip(cells) {
        for lane in 0..LANES {
            sums[lane] += query[lane] * f32::from(cells[lane]);
        }
    }
    let rest: f32 = query_rest.iter().zip(cells_rest).map(|(x, y)| x * f32::from(*y)).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_equal_those_of_the_plain_formula() {
        let codes: Vec<u64> = (1..=24u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let planes: [[u64; 8]; 4] =
            std::array::from_fn(|p| std::array::from_fn(|w| codes[(p * 5 + w) % 24].rotate_left(7)));
        let mut sums = [0; 3];
        masked_sums::<8>(&codes, &planes, &mut sums);
        for (code, sum) in codes.chunks(8).zip(sums) {
            let bit = |word: &[u64], at: usize| (word[at / 64] >> (at % 64)) as u32 & 1;
            let plain: u32 =
                (0..512).map(|at| bit(code, at) * (0..4).map(|p| bit(&planes[p], at) << p).sum::<u32>()).sum();
            assert_eq!(sum, plain);
        }
        let query: Vec<f32> = (0..37).map(|n| n as f32 * 0.25 - 3.0).collect();
        let cells: Vec<i16> = (0..37).map(|n| n * 7 - 100).collect();
        let plain: f32 = query.iter().zip(&cells).map(|(x, y)| x * f32::from(*y)).sum();
        assert!((dot(&query, &cells) - plain).abs() < 0.5);
    }
}
