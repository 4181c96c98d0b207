/** Skips tests whose peer this machine lacks. */
import test, { type TestFn } from '#test'
import { reasonAgainst, type PeerName } from './peer-packages.ts'

/**
 * Returns AVA's `test` if this machine has all these peers. Otherwise it skips every test with the reason after its title, and omits its
 * hooks.
 */
export function testWith(...names: readonly PeerName[]): TestFn {
  const reasons = names.flatMap((name) => reasonAgainst(name) ?? [])
  return reasons.length === 0 ? test : skipping(reasons.join(' and '))
}

/** Like `testWith`, for other requirements, such as a permission of this process. */
export const testIf = (has: boolean, what: string): TestFn => (has ? test : skipping(what))

const nothing = (): void => undefined

function skipping(reason: string): TestFn {
  const skip = (title: string): void => test.skip(`${title} (needs ${reason})`, nothing)
  const hook = Object.assign(nothing, { always: nothing, skip: nothing })
  return Object.assign(skip, { skip, serial: skip, before: hook, beforeEach: hook, after: hook, afterEach: hook }) as unknown as TestFn
}
