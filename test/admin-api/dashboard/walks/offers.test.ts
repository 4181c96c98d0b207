/** Actions of each role: all permitted ones and no others. A viewer has no action that changes data. */
import { testWith } from '../../../support/peers/peers.ts'
import { browserOf } from '../../../support/web/browser.ts'
import type { InvitedRole } from '../open-as.ts'
import { startHostile } from './look.ts'
import { offersTo, placesOfOwner } from './offered.ts'

const test = testWith('chromium')
const browser = browserOf(test)

/** Expected operations. They prove that the walk pressed all controls. */
const certain: Readonly<Record<InvitedRole, readonly string[]>> = {
  admin: ['createInvitation', 'createRoutingRule'],
  developer: ['createRoutingRule'],
  viewer: [],
  billing: [],
}

for (const role of ['admin', 'developer', 'viewer', 'billing'] as const)
  test(`roles: ${role} has no action on any screen that the service refuses`, async (t) => {
    const server = await startHostile(t, browser)
    const all = await placesOfOwner(t, server)
    const { offered, wrongly, open, forms } = await offersTo(t, browser, server, all, role)
    t.deepEqual({ wrongly, open, forms }, { wrongly: [], open: [], forms: [] })
    t.deepEqual(
      certain[role].filter((id) => !offered.has(id)),
      [],
    )
    if (role === 'admin' || role === 'developer') t.true(offered.size > 10, [...offered].join(' '))
    else t.deepEqual([...offered], [], role)
    if (role === 'developer') t.false(offered.has('createInvitation'))
  })
