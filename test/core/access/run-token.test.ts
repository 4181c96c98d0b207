/** The token of a run is accepted only if it is complete. */
import test from '#test'
import { orRunToken } from '#core/access/run-token.ts'
import type { Database } from '#store/database.ts'

test('run token: other secrets are checked as API keys, also of the same length', async (t) => {
  const token = 'a'.repeat(43)
  const check = orRunToken({} as Database, token, (secret) => Promise.reject(new Error(`${secret.length} characters go on`)))
  for (const secret of ['b'.repeat(43), `${'a'.repeat(42)}b`, 'a'.repeat(42), 'a'.repeat(44), ''])
    await t.throwsAsync(check(secret), { message: `${secret.length} characters go on` })
})
