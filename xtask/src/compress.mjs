// compress.mjs FILE...: writes FILE.br and FILE.gz beside each file, as small as they become.
import { readFile, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

const brotli = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  },
};

async function compress(file) {
  const data = await readFile(file);
  await writeFile(`${file}.br`, await toBrotli(data, brotli));
  await writeFile(`${file}.gz`, await toGzip(data, { level: constants.Z_BEST_COMPRESSION }));
}

// at once: as many files as UV_THREADPOOL_SIZE are compressed at the same time
await Promise.all(process.argv.slice(2).map(compress));
