//! The network against plain formulas, with one layer of made-up weights.

use super::*;

type Rows = Vec<Vec<f64>>;

/// Numbers between -1 and 1 that look random.
fn noise(seed: usize, n: usize) -> Vec<f32> {
    let mut state = seed as u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn bytes(seed: usize, n: usize) -> Vec<i8> {
    noise(seed, n).iter().map(|x| (x * 127.0) as i8).collect()
}

fn matrix(seed: usize, n_in: usize, n_out: usize) -> Matrix {
    let scale = noise(seed + 1, n_out).iter().map(|x| 0.0015 + 0.0005 * x).collect();
    Matrix { bytes: bytes(seed, n_in * n_out), scale, bias: noise(seed + 2, n_out) }
}

fn matrices() -> [Matrix; 6] {
    let square = |seed| matrix(seed, DIMS, DIMS);
    [square(10), square(20), square(30), square(40), matrix(50, DIMS, HIDDEN), matrix(60, HIDDEN, DIMS)]
}

fn norms() -> [Norm; 3] {
    [70, 80, 90].map(|seed| Norm { gain: noise(seed, DIMS), bias: noise(seed + 1, DIMS) })
}

fn network(arithmetic: Arithmetic) -> Network {
    let [norm, output_norm, down_norm] = norms();
    let table = |seed, n_rows: usize| Table { bytes: bytes(seed, n_rows * DIMS), scale: vec![0.01; n_rows] };
    Network {
        words: table(100, 40),
        positions: table(110, 80),
        sentence: noise(120, DIMS),
        norm,
        layers: vec![Layer::new(matrices(), [output_norm, down_norm], arithmetic)],
    }
}

fn texts() -> [Vec<u32>; 3] {
    [(0..9).collect(), vec![7], (0..70).map(|at| at * 11 % 40).collect()]
}

fn times(rows: &[Vec<f64>], matrix: &Matrix) -> Rows {
    let n_out = matrix.scale.len();
    let cell = |row: &Vec<f64>, column: usize| {
        let weights = matrix.bytes.iter().skip(column).step_by(n_out);
        let sum: f64 = row.iter().zip(weights).map(|(x, byte)| x * f64::from(*byte)).sum();
        sum * f64::from(matrix.scale[column]) + f64::from(matrix.bias[column])
    };
    rows.iter().map(|row| (0..n_out).map(|column| cell(row, column)).collect()).collect()
}

fn normed(rows: &[Vec<f64>], others: &[Vec<f64>], norm: &Norm) -> Rows {
    let one = |(row, other): (&Vec<f64>, &Vec<f64>)| {
        let row: Vec<f64> = row.iter().zip(other).map(|(a, b)| a + b).collect();
        let mean = row.iter().sum::<f64>() / DIMS as f64;
        let deviation = (row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / DIMS as f64).sqrt();
        let cell = |at: usize| (row[at] - mean) / deviation * f64::from(norm.gain[at]) + f64::from(norm.bias[at]);
        (0..DIMS).map(cell).collect()
    };
    rows.iter().zip(others).map(one).collect()
}

/// Attention as in the paper, one pair of rows after the other.
fn attended(query: &[Vec<f64>], key: &[Vec<f64>], value: &[Vec<f64>]) -> Rows {
    let cell = |row: &Vec<f64>, column: usize| {
        let head = column / HEAD * HEAD..(column / HEAD + 1) * HEAD;
        let score = |key: &Vec<f64>| {
            let product: f64 = head.clone().map(|at| row[at] * key[at]).sum();
            (product / (HEAD as f64).sqrt()).exp()
        };
        let total: f64 = key.iter().map(score).sum();
        key.iter().zip(value).map(|(key, value)| score(key) * value[column]).sum::<f64>() / total
    };
    query.iter().map(|row| (0..DIMS).map(|column| cell(row, column)).collect()).collect()
}

/// The vector of a text by plain formulas.
fn plain(network: &Network, text: &[u32]) -> Vec<f32> {
    let [norm, output_norm, down_norm] = norms();
    let [query, key, value, output, up, down] = matrices();
    let zeros = vec![vec![0.0; DIMS]; text.len()];
    let embedded = text.iter().enumerate().map(|(position, piece)| {
        let parts = network.words.row(*piece as usize).zip(network.positions.row(position)).zip(&network.sentence);
        parts.map(|((a, b), c)| f64::from(a) + f64::from(b) + f64::from(*c)).collect()
    });
    let rows = normed(&embedded.collect::<Rows>(), &zeros, &norm);
    let seen = attended(&times(&rows, &query), &times(&rows, &key), &times(&rows, &value));
    let rows = normed(&rows, &times(&seen, &output), &output_norm);
    let mut hidden = times(&rows, &up);
    hidden.iter_mut().for_each(|row| row.iter_mut().for_each(|x| *x = *x / 2.0 * (1.0 + erf(*x / 2.0_f64.sqrt()))));
    let rows = normed(&rows, &times(&hidden, &down), &down_norm);
    let mut sum: Vec<f32> = (0..DIMS).map(|at| rows.iter().map(|row| row[at]).sum::<f64>() as f32).collect();
    normalize(&mut sum);
    sum
}

/// The integral by its definition.
fn erf(x: f64) -> f64 {
    let steps = 200;
    let width = x / f64::from(steps);
    let height = |step: i32| (-((f64::from(step) + 0.5) * width).powi(2)).exp();
    2.0 / std::f64::consts::PI.sqrt() * width * (0..steps).map(height).sum::<f64>()
}

fn similarity(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn the_vectors_are_those_of_the_plain_formulas() {
    let texts = texts();
    for (arithmetic, least) in [(Arithmetic::Floats, 0.999_99), (Arithmetic::of_this_processor(), 0.999)] {
        let network = network(arithmetic);
        let vectors = network.run(&texts.each_ref().map(Vec::as_slice)).unwrap();
        // The long text takes the plain formulas a second in a debug build.
        for (text, vector) in texts.iter().zip(&vectors).take(2) {
            let similar = similarity(vector, &plain(&network, text));
            assert!(similar > least, "{arithmetic:?}: {similar} for {} pieces", text.len());
        }
    }
}

#[test]
fn a_text_has_the_same_vector_alone_and_among_others() {
    let texts = texts();
    for arithmetic in [Arithmetic::Floats, Arithmetic::Bytes] {
        let network = network(arithmetic);
        let together = network.run(&texts.each_ref().map(Vec::as_slice)).unwrap();
        for (text, vector) in texts.iter().zip(&together) {
            let alone = network.run(&[text.as_slice()]).unwrap();
            assert!(similarity(&alone[0], vector) > 0.999_99, "{arithmetic:?}: {} pieces", text.len());
        }
    }
}
