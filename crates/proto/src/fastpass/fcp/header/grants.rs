//! The slots that an allocation grants: one byte each, and 0, 1, 2, 4, 8 or 16 bits for the path, as many as the packet's
//! highest path needs.
//!
//! A grant's byte is `dg`: it goes to the d-th destination listed, d = 1 to 15, and is g = 0 to 15 slots after the grant before
//! it. If one of a packet's grants is later than that, all have two bytes: `dg gg`, up to 4095 slots after the one before.
//!
//! The first grant is of the base slot itself.

use super::super::grants::{Grants, GAP_BITS, MOST_GAP};
use super::super::message::{Path, MOST_GRANTS};
use super::bytes::{Reader, Writer};
use super::error::{DecodeError, EncodeError};

/// How the grants of a packet are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether a grant takes two bytes.
    far: bool,
    /// Bits that a path takes: 0 to 5 for 0, 1, 2, 4, 8, 16.
    width: u8,
}

/// The bit of [`Form::number`] that says whether a grant takes two bytes.
const FAR: u8 = 8;

impl Form {
    /// The shortest for these steps and paths.
    fn of(steps: &[u16], paths: &[Path]) -> Form {
        let highest = paths.iter().fold(0, |all, path| all | path);
        let width = match Path::BITS - highest.leading_zeros() {
            bits @ 0..3 => bits,
            3..5 => 3,
            5..9 => 4,
            _ => 5,
        };
        let gaps = steps.iter().fold(0, |all, step| all | step) & MOST_GAP as u16;
        Form { far: gaps > 15, width: width as u8 }
    }

    pub(super) fn of_grants(grants: &Grants) -> Form {
        Form::of(grants.steps(), grants.paths())
    }

    /// The form that the lowest four bits of a packet's ninth byte name.
    pub(super) fn from_number(number: u8) -> Option<Form> {
        let form = Form { far: number & FAR != 0, width: number & !FAR };
        (form.width <= 5).then_some(form)
    }

    pub(super) fn number(self) -> u8 {
        self.width | if self.far { FAR } else { 0 }
    }

    /// Bits of each path.
    fn path_bits(self) -> usize {
        1 << self.width >> 1
    }

    /// Returns the bytes of the steps of `grants` grants, and of their paths.
    fn parts(self, grants: usize) -> (usize, usize) {
        (grants << u32::from(self.far), (grants * self.path_bits()).div_ceil(8))
    }

    /// Returns the bytes of `grants` grants.
    pub(super) fn bytes(self, grants: usize) -> usize {
        let (steps, paths) = self.parts(grants);
        steps + paths
    }
}

/// Writes the grants in their shortest form, to destinations of a list of `listed`.
pub(super) fn put(to: &mut Writer, grants: &Grants, form: Form, listed: usize) -> Result<(), EncodeError> {
    let (steps, paths) = (grants.steps(), grants.paths());
    let beyond = (listed + 1) << GAP_BITS;
    if let Some(step) = steps.iter().find(|&&step| usize::from(step) >= beyond) {
        return Err(EncodeError::Destination(step >> GAP_BITS));
    }
    let (step_bytes, path_bytes) = form.parts(steps.len());
    let bytes = to.room(step_bytes);
    if form.far {
        for (bytes, step) in bytes.chunks_exact_mut(2).zip(steps) {
            bytes.copy_from_slice(&step.to_be_bytes());
        }
    } else {
        for (byte, step) in bytes.iter_mut().zip(steps) {
            *byte = (step >> 8) as u8 | *step as u8;
        }
    }
    put_paths(to.room(path_bytes), paths, form);
    Ok(())
}

/// Writes the paths, several a byte with the first in the highest bits.
fn put_paths(bytes: &mut [u8], paths: &[Path], form: Form) {
    match form.path_bits() {
        0 => {}
        1 => put_narrow::<1>(bytes, paths),
        2 => put_narrow::<2>(bytes, paths),
        4 => put_narrow::<4>(bytes, paths),
        8 => bytes.iter_mut().zip(paths).for_each(|(byte, path)| *byte = *path as u8),
        _ => {
            for (bytes, path) in bytes.chunks_exact_mut(2).zip(paths) {
                bytes.copy_from_slice(&path.to_be_bytes());
            }
        }
    }
}

/// Eight paths are `BITS` bytes.
fn put_narrow<const BITS: usize>(bytes: &mut [u8], paths: &[Path]) {
    let eights = paths.chunks_exact(8);
    let (whole, last) = bytes.split_at_mut(eights.len() * BITS);
    if !last.is_empty() {
        let mut eight = [0; 8];
        eight[..eights.remainder().len()].copy_from_slice(eights.remainder());
        last.copy_from_slice(&packed::<BITS>(&eight)[..last.len()]);
    }
    for (bytes, eight) in whole.chunks_exact_mut(BITS).zip(eights) {
        bytes.copy_from_slice(&packed::<BITS>(eight.try_into().expect("eight paths"))[..BITS]);
    }
}

/// Eight paths of `BITS` bits in the first `BITS` bytes.
#[inline]
fn packed<const BITS: usize>(paths: &[Path; 8]) -> [u8; 8] {
    let four = |i: usize| {
        let lanes = (0..4).fold(0, |all, lane| all | u64::from(paths[i + lane]) << (16 * lane));
        // Lane k of these four goes to 4 - k times `BITS` from the top of the lowest 16 bits; other products are below, or gone.
        let factor = (0..4).fold(0, |all, lane| all | 1 << (48 - 16 * lane + BITS * (3 - lane)));
        lanes.wrapping_mul(factor) >> 48
    };
    ((four(0) << (4 * BITS) | four(4)) << (64 - 8 * BITS)).to_be_bytes()
}

/// Reads grants, as many as there are places, to destinations of a list of `listed`; the first is of slot `base`. They and their
/// paths are the rest of the packet.
pub(super) fn take(
    from: &mut Reader,
    grants: &mut Grants,
    (count, form): (usize, Form),
    base: u64,
    listed: usize,
) -> Result<(), DecodeError> {
    let begin = from.at();
    let (step_bytes, path_bytes) = form.parts(count);
    let (bytes, paths) = (from.slice(step_bytes)?, from.slice(path_bytes)?);
    from.end()?;
    let unused = 8 * paths.len() - count * form.path_bits();
    if paths.last().is_some_and(|last| u32::from(*last) & ((1 << unused) - 1) != 0) {
        return Err(DecodeError::Reserved(from.at() - 1));
    }
    let (steps, all_paths) = grants.resized(count);
    take_paths(paths, all_paths, form);
    if form.far {
        for (step, bytes) in steps.iter_mut().zip(bytes.chunks_exact(2)) {
            *step = u16::from_be_bytes([bytes[0], bytes[1]]);
        }
    } else {
        for (step, byte) in steps.iter_mut().zip(bytes) {
            *step = u16::from(byte & 0xF0) << 8 | u16::from(byte & 0x0F);
        }
    }
    check(steps, &all_paths[..count], form, listed, begin)?;
    grants.first = base;
    // As many as 16 gaps add up to 16 bits.
    let sums =
        grants.steps().chunks(16).map(|some| some.iter().fold(0, |sum, step| sum + (step & MOST_GAP as u16)));
    grants.last = base.checked_add(sums.map(u64::from).sum()).ok_or(DecodeError::Slot(begin))?;
    Ok(())
}

/// Returns an error unless these steps and paths, the first of them at offset `begin`, are what a packet may have.
#[inline]
fn check(steps: &[u16], paths: &[Path], form: Form, listed: usize, begin: usize) -> Result<(), DecodeError> {
    let unlisted = |step: u16| step.wrapping_sub(1 << GAP_BITS) >= (listed as u16) << GAP_BITS;
    let offset = |place: usize| begin + (place << u32::from(form.far));
    if steps.iter().fold(false, |any, &step| any | unlisted(step)) {
        let place = steps.iter().position(|&step| unlisted(step)).unwrap_or(0);
        return Err(DecodeError::Destination(offset(place)));
    }
    if steps.first().is_some_and(|step| u64::from(*step) & MOST_GAP != 0) {
        return Err(DecodeError::Longer(begin));
    }
    if form == Form::of(steps, paths) {
        Ok(())
    } else {
        Err(DecodeError::Longer(8))
    }
}

/// Reads paths, some more than there are bytes for if these are not those of eight paths each.
fn take_paths(bytes: &[u8], paths: &mut [Path; MOST_GRANTS], form: Form) {
    match form.path_bits() {
        0 => paths.fill(0),
        1 => take_narrow::<1>(bytes, paths),
        2 => take_narrow::<2>(bytes, paths),
        4 => take_narrow::<4>(bytes, paths),
        8 => paths.iter_mut().zip(bytes).for_each(|(path, byte)| *path = Path::from(*byte)),
        _ => {
            for (path, bytes) in paths.iter_mut().zip(bytes.chunks_exact(2)) {
                *path = Path::from_be_bytes([bytes[0], bytes[1]]);
            }
        }
    }
}

/// Eight paths are `BITS` bytes.
fn take_narrow<const BITS: usize>(bytes: &[u8], paths: &mut [Path; MOST_GRANTS]) {
    // The lowest `BITS` bits of each lane of 16.
    let mask = (0..4).fold(0, |all, lane| all | ((1 << BITS) - 1) << (16 * lane));
    // Each lane gets the bits of four paths shifted so that its own come to stand at 3 times `BITS`.
    let factor = (0..4).fold(0_u64, |all, lane| all | 1 << ((16 + BITS) * lane));
    let spread = |whole: u64, eight: &mut [Path]| {
        for (four, bits) in
            eight.chunks_exact_mut(4).zip([whole >> (4 * BITS), whole & ((1 << (4 * BITS)) - 1)])
        {
            let lanes = bits.wrapping_mul(factor) >> (3 * BITS) & mask;
            for (lane, path) in four.iter_mut().enumerate() {
                *path = (lanes >> (16 * lane)) as Path;
            }
        }
    };
    let all = |bytes: &[u8]| bytes.iter().fold(0, |all, &byte| all << 8 | u64::from(byte));
    let (wholes, part) = (bytes.chunks_exact(BITS), bytes.chunks_exact(BITS).remainder());
    if !part.is_empty() {
        spread(all(part) << (8 * (BITS - part.len())), &mut paths[8 * wholes.len()..][..8]);
    }
    for (eight, bytes) in paths.chunks_exact_mut(8).zip(wholes) {
        spread(all(bytes), eight);
    }
}
