// The name that was probably meant instead of a misspelt one.

/** Returns the closest of some names, or undefined if none is close. */
export function closest(name, names) {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best;
  let least = limit + 1;
  for (const candidate of names) {
    const edits = distance(name.toLowerCase(), candidate.toLowerCase(), least);
    if (edits < least) [best, least] = [candidate, edits];
  }
  return best;
}

// Edits are insertions, deletions, replacements and swaps of two neighbours (optimal string alignment).
function distance(one, other, limit) {
  if (Math.abs(one.length - other.length) >= limit) return limit;
  let before = [];
  let last = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, last[j] + 1, row[j - 1] + 1);
      const swapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (swapped) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[other.length];
}
