/** Reads rows of a range in steps, so that the records of a step can be read at once. */
import type { Entry } from './kv.ts'

/** Yields entries in steps of `sizeNow()`, with a flag for further entries. */
export async function* inSteps(
  entries: AsyncIterable<Entry>,
  sizeNow: () => number,
): AsyncGenerator<{ step: readonly Entry[]; hasMore: boolean }> {
  let step: Entry[] = []
  for await (const entry of entries) {
    if (step.length > 0 && step.length >= sizeNow()) {
      yield { step, hasMore: true }
      step = []
    }
    step.push(entry)
  }
  if (step.length > 0) yield { step, hasMore: false }
}
