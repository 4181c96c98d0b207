/** The token of a run is taken from whoever has all of it, and from no one else. */
import test from '#test'
import { orRunToken } from '#core/access/run-token.ts'
import type { Database } from '#store/database.ts'

test('another secret is for the check of keys, also one of the same length', async (t) => {
  const token = 'a'.repeat(43)
  const check = orRunToken({} as Database, token, (secret) => Promise.reject(new Error(`${secret.length} characters go on`)))
  for (const secret of ['b'.repeat(43), `${'a'.repeat(42)}b`, 'a'.repeat(42), 'a'.repeat(44), ''])
    await t.throwsAsync(check(secret), { message: `${secret.length} characters go on` })
})
