// compress.mjs FILE...: writes FILE.br and FILE.gz beside each file, as small as they become.
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const brotli = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
};

/** In bits; 0 is the compressor's own choice. None is best for all files: the results differ by up to half a percent. */
const blockSizes = [0, 22];
/** In bytes. Of smaller files, half a percent is not worth the time. */
const largeFile = 1 << 20;

async function smallest(data) {
  const sizes = data.length < largeFile ? blockSizes.slice(0, 1) : blockSizes;
  const results = sizes.map((size) => toBrotli(data, { params: { ...brotli, [constants.BROTLI_PARAM_LGBLOCK]: size } }));
  return (await Promise.all(results)).reduce((best, other) => (other.length < best.length ? other : best));
}

async function compress(file) {
  const data = await readFile(file);
  await writeFile(`${file}.br`, await smallest(data));
  await writeFile(`${file}.gz`, await toGzip(data, { level: constants.Z_BEST_COMPRESSION }));
}

// at once: as many files as UV_THREADPOOL_SIZE are compressed at the same time
await Promise.all(process.argv.slice(2).map(compress));
