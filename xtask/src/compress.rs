//! Files as the server sends them to browsers that understand brotli or gzip.
use anyhow::Result;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

/// Writes `<file>.br` and `<file>.gz` beside the file; gives the brotli size.
pub fn beside(path: &Path) -> Result<u64> {
    let data = fs::read(path)?;
    let named = |suffix: &str| PathBuf::from(format!("{}.{suffix}", path.display()));

    let mut gzip =
        flate2::write::GzEncoder::new(fs::File::create(named("gz"))?, flate2::Compression::best());
    gzip.write_all(&data)?;
    gzip.finish()?;

    let parameters = brotli::enc::BrotliEncoderParams {
        quality: 11,
        lgwin: 24,
        ..Default::default()
    };
    let mut out = fs::File::create(named("br"))?;
    brotli::BrotliCompress(&mut data.as_slice(), &mut out, &parameters)?;
    Ok(out.metadata()?.len())
}
