import test from '#test'
import { OneDaemon } from '#store/daemons/one-daemon.ts'
import { SharedChanges } from '#store/daemons/shared-changes.ts'

test('generation(): changes at every moment while a daemon is not current', (t) => {
  let isCurrent = true
  const daemons = Object.assign(new OneDaemon(), { isCurrent: () => isCurrent })
  const nothing = (): void => {}
  // it reads the store only in beats, and this test has no beats
  const changes = new SharedChanges(undefined as never, daemons, { onSettings: nothing, onWork: nothing, onTallied: nothing })
  const known = changes.generation('org_1')
  t.is(changes.generation('org_1'), known)
  isCurrent = false
  const seen = new Set<number>()
  let asked = 0
  while (seen.size < 4) {
    seen.add(changes.generation('org_1'))
    asked++
  }
  t.true(asked > 100, 'a caller that repeats its read until the generation is unchanged finishes')
  t.false(seen.has(known))
})
