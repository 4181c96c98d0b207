/** What happens to a test whose peer this machine lacks. */
import test, { type TestFn } from '#test'
import { reasonAgainst, type PeerName } from './peer-packages.ts'

/**
 * AVA's `test` where this machine has all these peers. Elsewhere every test of it is reported as skipped, with the reason behind
 * its title, and its hooks are left out.
 */
export function testWith(...names: readonly PeerName[]): TestFn {
  const reasons = names.flatMap((name) => reasonAgainst(name) ?? [])
  return reasons.length === 0 ? test : skipping(reasons.join(' and '))
}

/** As `testWith`, for what is no peer, such as a right of this process. */
export const testIf = (has: boolean, what: string): TestFn => (has ? test : skipping(what))

const nothing = (): void => undefined

function skipping(reason: string): TestFn {
  const skip = (title: string): void => test.skip(`${title} (needs ${reason})`, nothing)
  const hook = Object.assign(nothing, { always: nothing, skip: nothing })
  return Object.assign(skip, { skip, serial: skip, before: hook, beforeEach: hook, after: hook, afterEach: hook }) as unknown as TestFn
}
