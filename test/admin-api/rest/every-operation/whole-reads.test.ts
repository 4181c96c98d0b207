/** Every operation that reads refuses to answer with a list that damage may have shortened. */
import test from '#test'
import type { Range } from '#store/kv.ts'
import { ask, installationOf, requestOf } from '../fixture/one-of-everything.ts'

/** Returns the record family, such as `event`; families of the whole service begin with a slash, such as `/queue`. */
function familyOf(start: Uint8Array): string {
  const [place = '', family = ''] = Buffer.from(start).toString('latin1').split('\0')
  return place === '\x02' ? `/${family.slice(1)}` : family.slice(1)
}

test('reads: every GET operation requests complete ranges from the store', async (t) => {
  const installation = await installationOf(t)
  const { kv } = installation.database
  const range = kv.range.bind(kv)
  let asked: Range[] = []
  kv.range = (one) => {
    asked.push(one)
    return range(one)
  }
  const partial: string[] = []
  let walks = 0
  for (const operation of installation.walk.filter(({ method }) => method === 'GET')) {
    await installation.daemon.settled()
    asked = []
    await ask(installation.rest, operation, requestOf(installation, operation))
    walks += asked.length
    partial.push(...asked.filter(({ whole }) => !whole).map(({ start }) => `${operation.path}: ${familyOf(start)}`))
  }
  t.deepEqual([...new Set(partial)], [])
  t.true(walks > 50)
})
