/** A module with an uncaught error in a hook after its tests. */
import test from '#test'

test.after.always(async () => {
  setImmediate(() => {
    throw new Error('uncaught')
  })
  await new Promise(() => {})
})
test('one', (t) => t.pass())
