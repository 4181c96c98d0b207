/** Throws an error that nothing catches in a hook after its tests. */
import test from '#test'

test.after.always(async () => {
  setImmediate(() => {
    throw new Error('nothing catches it')
  })
  await new Promise(() => {})
})
test('one', (t) => t.pass())
