/** How long the database may be away is measured by no clock that anybody sets. */
import test from 'ava'
import { StoreUnavailable } from '#store/kv.ts'
import { Servers } from '#store/postgresql/servers.ts'

test.serial('a clock that is set forward while the database is away ends no patience', async (t) => {
  const now = Date.now
  t.teardown(() => (Date.now = now))
  let tries = 0
  const work = async (): Promise<string> => {
    if (++tries === 3) return 'there'
    Date.now = () => now() + tries * 3_600_000
    throw new StoreUnavailable('away')
  }
  t.is(await new Servers({ servers: [], shown: '' }, 30_000).patiently(work, () => false), 'there')
})
