/** Rows of a range in steps, so that the records of a step are read at once. */
import type { Entry } from './kv.ts'

/** Entries in steps of `sizeNow()`, and whether any follow. */
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
