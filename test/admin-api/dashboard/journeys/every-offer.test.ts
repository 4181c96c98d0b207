/** What every screen offers: each tab, dialog and form is in order, and no role is offered what the service would refuse it. */
import type { ExecutionContext } from 'ava'
import { testWith } from '../../../support/peers/peers.ts'
import { axeFaults, browserOf } from '../../../support/web/browser.ts'
import { beyond } from '../../rest/fixture/beyond-roles.ts'
import { startDashboard } from '../dashboard-server.ts'
import { gateOf, type Gate } from './gate.ts'
import { seedHostile } from './hostile-things.ts'
import { openHostile } from './look.ts'
import { pressAll, type Reached } from './press.ts'
import { isScreen } from './screen-list.ts'
import { walk } from './screen-walk.ts'

const test = testWith('chromium')
const browser = browserOf(test)

test('every tab and dialog is in order, and so is what its form says when it is refused', async (t) => {
  const tab = await openHostile(t, browser)
  const { page } = tab
  const gate = await gateOf(page)
  const faults: string[] = []
  const look = async (kind: string, what: Reached, label: string): Promise<void> => {
    const dark = what === 'dialog'
    const found = await axeFaults(page, { at: [1280] })
    if (dark) {
      await page.emulateMedia({ colorScheme: 'dark' })
      found.push(...(await axeFaults(page, { at: [1280], rules: ['color-contrast'] })))
      await page.emulateMedia({ colorScheme: 'light' })
    }
    faults.push(...found.map((fault) => `${kind}, ${what} ${label.slice(0, 40)}: ${fault}`))
  }
  await walk(page, isScreen, (place) => pressAll(page, place, (what, label) => look(place.kind, what, label)))
  t.deepEqual(faults, [])
  t.true(gate.attempted.size > 20, [...gate.attempted].join(' '))
  await tab.check(t)
})

/** Presses everything as a member with the role, and gives back what would have been changed. */
async function offeredTo(t: ExecutionContext, role: 'viewer' | 'developer'): Promise<Gate['attempted']> {
  const server = await startDashboard(t, browser)
  await seedHostile(t, server)
  const { page: owner } = await server.open()
  await owner.context().close()
  const email = `${role}@alpenblick.example`
  const { accept_url: link } = await server.daemon.rest.must('POST', '/v1/invitations', { email, role })
  const joining = await (await browser().newContext()).newPage()
  await joining.goto(String(link))
  await joining.click('button:has-text("Join")')
  await joining.context().close()
  const { page } = await server.open({ link: await server.signInLink(email) })
  const gate = await gateOf(page)
  await walk(page, isScreen, (place) => pressAll(page, place, () => Promise.resolve()))
  return gate.attempted
}

/** Everybody may end their own membership. */
const leaving = 'deleteMember'

test('a viewer finds nothing on any screen that would change anything', async (t) => {
  t.deepEqual(
    [...(await offeredTo(t, 'viewer'))].filter((id) => id !== leaving),
    [],
  )
})

test('a developer finds nothing on any screen that is for administrators alone', async (t) => {
  const attempted = await offeredTo(t, 'developer')
  t.true(attempted.size > 10, [...attempted].join(' '))
  t.deepEqual(
    [...attempted].filter((id) => id !== leaving && beyond.developer.includes(id)),
    [],
  )
})
