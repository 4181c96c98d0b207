/** A module that never ends in the phase that `HANGS` names. */
import test from '#test'

const never = new Promise<never>(() => {})
if (process.env['HANGS'] === 'import') await never

test.after.always(() => (process.env['HANGS'] === 'after' ? never : undefined))

test('a test', async (t) => {
  if (process.env['HANGS'] === 'test') await never
  if (process.env['HANGS'] === 'teardown') t.teardown(() => never)
  t.pass()
})
