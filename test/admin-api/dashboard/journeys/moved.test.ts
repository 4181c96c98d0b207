/** Former addresses of screens: each answers 308 to an address that is served, and keeps parameters and query. */
import test from '#test'
import { currentAddress, formerPaths, moved } from '../../../../admin-api/dashboard/moved.ts'
import { builtDashboard } from '../../../support/web/built.ts'
import { PageClient } from '../../pages/page-client.ts'
import { startPageServer } from '../../pages/page-server.ts'

const filled = (path: string): string => path.replaceAll(/\{\w+\}/g, 'xyz_1')

test('former addresses: each answers 308 to an address that answers 200', async (t) => {
  await builtDashboard()
  const server = await startPageServer(t)
  const olga = new PageClient(server)
  await olga.signIn('olga@example.ch')
  for (const [before, now] of moved) {
    const old = await olga.get(filled(before))
    t.deepEqual([old.status, old.location], [308, filled(now)], before)
    t.is((await olga.get(old.location)).status, 200, now)
  }
  const kept = await olga.get('/keys?org=org_1&kind=smtp&login=smc_1&q=a%26b')
  t.is(kept.location, '/settings/smtp-logins?org=org_1&login=smc_1&q=a%26b')
})

test('former addresses: anonymous visitors sign in at the current address', async (t) => {
  await builtDashboard()
  const visitor = new PageClient(await startPageServer(t))
  const old = await visitor.get('/webhooks/whk_1?attempt=1')
  t.deepEqual([old.status, old.location], [308, '/settings/webhooks/whk_1?attempt=1'])
  t.is((await visitor.get(old.location)).location, '/sign-in?next=%2Fsettings%2Fwebhooks%2Fwhk_1%3Fattempt%3D1')
})

test('former addresses: conditions of the query choose the screen; others have no current address', (t) => {
  const now = (address: string): string | undefined => {
    const { pathname, searchParams } = new URL(address, 'http://localhost')
    return currentAddress(pathname, searchParams)
  }
  t.is(now('/keys'), '/settings/keys')
  t.is(now('/keys?kind=unknown'), '/settings/keys?kind=unknown')
  t.is(now('/keys?kind=pages&new=1'), '/settings/browser-keys?new=1')
  t.is(now('/inbound-routes/inr_1/inm_1?tab=text'), '/incoming/routes/inr_1/inm_1?tab=text')
  for (const path of ['/', '/queue', '/queue/acts/a/b', '/settings/keys', '/usage/x', '/webhooks/a/b']) t.is(now(path), undefined, path)
  t.false(
    moved.some(([, current]) => formerPaths.includes(current)),
    'no address leads to a former one',
  )
})
