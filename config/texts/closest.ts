/** Finds the known name nearest to a mistyped one by edit distance. */
import { editDistance } from './edit-distance.ts'

const farthest = 3

/** Returns the known name with the fewest typing mistakes; undefined above three mistakes, or above one mistake for every three letters. */
export const closest = (name: string, known: readonly string[]): string | undefined =>
  nearest(name, known, { most: Math.min(farthest, Math.floor(name.length / 3)), fold: (text) => text.toLowerCase() })

/** Returns the first known name that is nearest after both are folded; undefined if all differ by more than `most` mistakes. */
export function nearest(
  name: string,
  known: readonly string[],
  { most, fold }: { readonly most: number; readonly fold: (text: string) => string },
): string | undefined {
  const folded = fold(name)
  const steps = known.map((candidate) => editDistance(folded, fold(candidate), most) ?? Infinity)
  const fewest = Math.min(...steps)
  return fewest === Infinity ? undefined : known[steps.indexOf(fewest)]
}
