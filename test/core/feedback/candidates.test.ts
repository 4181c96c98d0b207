/** Messages that a report may match: read once for all reports of a batch, with limited memory. */
import test from '#test'
import { Candidates } from '#core/feedback/apply/candidates.ts'
import type { Database } from '#store/database.ts'

test('Candidates caches an address until it has read a hundred others', async (t) => {
  let reads = 0
  const kv = {
    async *range() {
      reads++
      yield* []
    },
  }
  const candidates = new Candidates({ kv } as unknown as Database, 'org_1', [], 1_000_000)
  const ask = (n: number): Promise<unknown> => candidates.to(`user${n}@example.net`)
  await ask(0)
  await candidates.to('USER0@EXAMPLE.NET')
  t.is(reads, 1)
  for (let n = 1; n <= 100; n++) await ask(n)
  t.is(reads, 101)
  await ask(100)
  t.is(reads, 101)
  await ask(0)
  t.is(reads, 102)
})
