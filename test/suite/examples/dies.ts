/** A test that kills its process, for the tests of the runner. */
import test from '#test'

test('before the end', (t) => t.pass())

test('the end', async (t) => {
  process.kill(process.pid, 'SIGKILL')
  await new Promise(() => {})
  t.pass()
})
