use super::*;

/// Vectors in loose clusters, like those of texts. Deterministic.
fn clustered(n: usize, dims: usize) -> Vec<Vec<f32>> {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    let centres: Vec<Vec<f32>> = (0..40).map(|_| (0..dims).map(|_| random()).collect()).collect();
    (0..n)
        .map(|at| {
            let mut vector: Vec<f32> = centres[at % 40].iter().map(|c| 0.4 + c + 1.5 * random()).collect();
            crate::embed::normalize(&mut vector);
            vector
        })
        .collect()
}

fn all(n: usize) -> Bits {
    let mut bits = Bits::none(n as u32);
    (0..n as u32).for_each(|slot| bits.insert(slot));
    bits
}

fn exact(vectors: &[Vec<f32>], query: &[f32], n: usize) -> Vec<Slot> {
    let similarity = |vector: &Vec<f32>| -> f32 { vector.iter().zip(query).map(|(x, y)| x * y).sum() };
    let mut scored: Vec<(f32, Slot)> = vectors.iter().map(similarity).zip(0..).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().take(n).map(|(_, slot)| slot).collect()
}

#[test]
fn the_nearest_vectors_equal_those_of_an_exact_scan_for_every_dimension() {
    for dims in [256, 640] {
        let dir = tempfile::tempdir().unwrap();
        let data = clustered(1200, dims);
        let vectors = Vectors::open(&dir.path().join("v"), dims, 0).unwrap();
        data.chunks(500).for_each(|chunk| assert!(vectors.append(chunk).is_ok()));
        let mut n_right = 0;
        for query in data.iter().step_by(120) {
            let near = vectors.nearest(query, 25, &all(1200)).unwrap();
            let found: Vec<Slot> = near[..10].iter().map(|near| near.slot).collect();
            n_right += exact(&data, query, 10).iter().filter(|slot| found.contains(slot)).count();
            assert!((near[0].similarity - 1.0).abs() < 1e-3, "a vector is nearest to itself");
        }
        assert!(n_right >= 98, "{n_right} of 100 at {dims} dimensions");
    }
}

#[test]
fn only_allowed_vectors_are_found() {
    let dir = tempfile::tempdir().unwrap();
    let data = clustered(500, 256);
    let vectors = Vectors::open(&dir.path().join("v"), 256, 0).unwrap();
    vectors.append(&data).unwrap();
    let mut allowed = Bits::none(500);
    [3, 77, 400].into_iter().for_each(|slot| allowed.insert(slot));
    let mut found: Vec<Slot> = vectors.nearest(&data[9], 10, &allowed).unwrap().iter().map(|n| n.slot).collect();
    found.sort();
    assert_eq!(found, [3, 77, 400]);
    assert_eq!(allowed.sample(100), [3, 77, 400]);
}

#[test]
fn an_unfinished_write_is_ignored_and_a_truncated_file_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("v");
    let data = clustered(20, 256);
    Vectors::open(&path, 256, 0).unwrap().append(&data).unwrap();
    let vectors = Vectors::open(&path, 256, 15).unwrap();
    assert_eq!(vectors.len(), 15);
    assert_eq!(vectors.append(&data[..1]).unwrap(), 15);
    let near = vectors.similarities(&data[0], &[0, 15]).unwrap();
    assert_eq!(near[0].similarity, near[1].similarity);
    assert!(Vectors::open(&path, 256, 21).is_err());
}

/// Searches run on the threads of rayon, and so does the coding of new vectors. A lock that is held meanwhile stops
/// both for ever.
#[test]
fn searches_and_additions_at_the_same_time_come_to_their_end() {
    let dir = tempfile::tempdir().unwrap();
    let data = clustered(4000, 256);
    let vectors = Arc::new(Vectors::open(&dir.path().join("v"), 256, 0).unwrap());
    vectors.append(&data[..800]).unwrap();
    let (ended, all_ended) = std::sync::mpsc::channel();
    for (slot, query) in (0..8).zip(data.clone()) {
        let (vectors, ended) = (vectors.clone(), ended.clone());
        std::thread::spawn(move || {
            let nearest = || vectors.nearest(&query, 10, &all(800)).unwrap()[0].slot;
            (0..400).for_each(|_| assert_eq!(rayon::join(nearest, nearest), (slot, slot)));
            ended.send(()).unwrap();
        });
    }
    std::thread::spawn(move || {
        data[800..].chunks(8).for_each(|chunk| assert!(vectors.append(chunk).is_ok()));
        ended.send(()).unwrap();
    });
    for _ in 0..9 {
        all_ended.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    }
}
