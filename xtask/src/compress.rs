//! Files as the server sends them to browsers that understand brotli or gzip.
use anyhow::Result;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Sizes of the input blocks that are tried, as powers of two; 0 is the encoder's own choice. Which is best
/// differs from module to module by up to half a percent.
const BLOCK_SIZES: [i32; 3] = [0, 19, 20];

/// Writes `<file>.br` and `<file>.gz` beside the file; gives the brotli size.
pub fn beside(path: &Path) -> Result<u64> {
    let data = fs::read(path)?;
    let named = |suffix: &str| PathBuf::from(format!("{}.{suffix}", path.display()));

    let mut gzip =
        flate2::write::GzEncoder::new(fs::File::create(named("gz"))?, flate2::Compression::best());
    gzip.write_all(&data)?;
    gzip.finish()?;

    let compressed = smallest(&data)?;
    fs::write(named("br"), &compressed)?;
    Ok(compressed.len() as u64)
}

fn smallest(data: &[u8]) -> Result<Vec<u8>> {
    let mut best: Option<Vec<u8>> = None;
    for lgblock in BLOCK_SIZES {
        let parameters = brotli::enc::BrotliEncoderParams {
            quality: 11,
            lgwin: 24,
            lgblock,
            ..Default::default()
        };
        let mut out = Vec::new();
        brotli::BrotliCompress(&mut &*data, &mut out, &parameters)?;
        if best.as_ref().is_none_or(|best| out.len() < best.len()) {
            best = Some(out);
        }
    }
    Ok(best.unwrap_or_default())
}
