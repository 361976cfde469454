// optimise.mjs MODULE RESULT [MODULE RESULT]...: makes each WebAssembly module smaller, as `wasm-opt -Oz` does.
// One process for many modules: Binaryen is WebAssembly too, and Node.js runs it slowly for the first seconds.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import binaryen from "binaryen";

// What browsers have understood for years. `Features.All` would also turn on encodings that they do not read yet.
const features = [
  "BulkMemory",
  "MutableGlobals",
  "Multivalue",
  "NontrappingFPToInt",
  "ReferenceTypes",
  "SignExt",
].reduce((all, name) => {
  if (!(name in binaryen.Features)) throw new Error(`Binaryen does not know the feature ${name}`);
  return all | binaryen.Features[name];
}, binaryen.Features.MVP);

// -Oz
binaryen.setOptimizeLevel(2);
binaryen.setShrinkLevel(2);
binaryen.setGenerateStackIR(true);
binaryen.setOptimizeStackIR(true);
binaryen.setDebugInfo(false);

function optimised(bytes) {
  const module = binaryen.readBinary(bytes, features);
  try {
    // once: a second round takes half as long again and saves less than 0.1 % of what browsers load
    module.optimize();
    // a third of a small module that many pages load; browsers skip both
    module.runPasses(["strip-target-features", "strip-producers"]);
    if (!module.validate()) throw new Error("the optimised module is not valid");
    return module.emitBinary();
  } finally {
    module.dispose();
  }
}

const files = process.argv.slice(2);
for (let at = 0; at < files.length; at += 2) {
  const [file, result] = files.slice(at, at + 2);
  try {
    const unfinished = `${result}.new`;
    writeFileSync(unfinished, optimised(readFileSync(file)));
    renameSync(unfinished, result);
  } catch (error) {
    console.error(`${file}: ${error.message ?? error}`);
    process.exit(1);
  }
}
