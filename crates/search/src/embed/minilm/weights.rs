//! The tensors of an ONNX file by name. The graph of the file is not read, because the network is written in Rust.

use std::collections::HashMap;

use anyhow::{Context, ensure};

const INT8: u64 = 3;
const FLOAT: u64 = 1;

pub(super) struct Tensors<'f> {
    by_name: HashMap<&'f [u8], Tensor<'f>>,
}

#[derive(Default)]
struct Tensor<'f> {
    element: u64,
    bytes: &'f [u8],
}

impl<'f> Tensors<'f> {
    pub(super) fn read(file: &'f [u8]) -> anyhow::Result<Self> {
        const GRAPH: u64 = 7;
        const INITIALIZER: u64 = 5;
        let mut by_name = HashMap::new();
        for (_, graph) in fields(file)?.into_iter().filter(|(field, _)| *field == GRAPH) {
            for (_, tensor) in fields(graph.bytes())?.into_iter().filter(|(field, _)| *field == INITIALIZER) {
                let (name, tensor) = tensor_of(tensor.bytes())?;
                by_name.insert(name, tensor);
            }
        }
        Ok(Self { by_name })
    }

    pub(super) fn bytes(&self, name: &str, n: usize) -> anyhow::Result<Vec<i8>> {
        Ok(self.cells(name, INT8, n)?.iter().map(|byte| *byte as i8).collect())
    }

    pub(super) fn floats(&self, name: &str, n: usize) -> anyhow::Result<Vec<f32>> {
        let (cells, _) = self.cells(name, FLOAT, 4 * n)?.as_chunks::<4>();
        Ok(cells.iter().map(|cell| f32::from_le_bytes(*cell)).collect())
    }

    fn cells(&self, name: &str, element: u64, n_bytes: usize) -> anyhow::Result<&'f [u8]> {
        let tensor = self.by_name.get(name.as_bytes()).with_context(|| format!("the model has no tensor {name}"))?;
        let (found, n_found) = (tensor.element, tensor.bytes.len());
        ensure!(
            found == element && n_found == n_bytes,
            "the tensor {name} has {n_found} bytes of type {found} in place of {n_bytes} of type {element}"
        );
        Ok(tensor.bytes)
    }
}

fn tensor_of(message: &[u8]) -> anyhow::Result<(&[u8], Tensor<'_>)> {
    let (mut name, mut tensor) = (&[][..], Tensor::default());
    for (field, value) in fields(message)? {
        match (field, value) {
            (2, Value::Number(element)) => tensor.element = element,
            (8, Value::Bytes(bytes)) => name = bytes,
            (9, Value::Bytes(bytes)) => tensor.bytes = bytes,
            _ => {}
        }
    }
    Ok((name, tensor))
}

/// A field of a protobuf message.
enum Value<'f> {
    Number(u64),
    Bytes(&'f [u8]),
}

impl<'f> Value<'f> {
    fn bytes(&self) -> &'f [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => &[],
        }
    }
}

fn fields(mut message: &[u8]) -> anyhow::Result<Vec<(u64, Value<'_>)>> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = number(&mut message)?;
        let value = match tag & 7 {
            0 => Value::Number(number(&mut message)?),
            1 => Value::Bytes(take(&mut message, 8)?),
            2 => {
                let n = number(&mut message)?;
                Value::Bytes(take(&mut message, usize::try_from(n)?)?)
            }
            5 => Value::Bytes(take(&mut message, 4)?),
            other => anyhow::bail!("the model has a field of the unknown type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    Ok(fields)
}

fn take<'f>(message: &mut &'f [u8], n: usize) -> anyhow::Result<&'f [u8]> {
    let (taken, rest) = message.split_at_checked(n).context("the model ends within a field")?;
    *message = rest;
    Ok(taken)
}

/// Seven bits a byte, the lowest first. The last byte is below 128.
fn number(message: &mut &[u8]) -> anyhow::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(message, 1)?[0];
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(number);
        }
    }
    anyhow::bail!("the model has a number of more than 64 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        [&[(number << 3) | 2, content.len() as u8 | 128, (content.len() >> 7) as u8][..], content].concat()
    }

    #[test]
    fn tensors_are_found_by_name_with_their_type_and_length() {
        let floats = [&[0x10, 1][..], &field(8, b"bias"), &field(9, &[0, 0, 128, 63, 0, 0, 0, 192])].concat();
        let bytes = [&[0x10, 3][..], &field(8, b"weights"), &field(9, &[1, 255, 128])].concat();
        let file = [vec![0x08, 9], field(7, &[field(5, &floats), field(5, &bytes)].concat())].concat();
        let tensors = Tensors::read(&file).unwrap();
        assert_eq!(tensors.floats("bias", 2).unwrap(), [1.0, -2.0]);
        assert_eq!(tensors.bytes("weights", 3).unwrap(), [1, -1, -128]);
        for error in [tensors.floats("bias", 3), tensors.floats("weights", 3), tensors.floats("gain", 2)] {
            assert!(error.is_err());
        }
        for end in [1, 4, file.len() - 1] {
            assert!(Tensors::read(&file[..end]).is_err(), "{end} bytes");
        }
    }
}
