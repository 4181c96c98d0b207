/** A tab of somebody who was invited in a role. */
import type { Browser } from '../../../support/web/browser.ts'
import type { DashboardServer, DashboardTab, TabOptions } from '../dashboard-server.ts'

export async function openAs(
  browser: () => Browser,
  server: DashboardServer,
  role: 'admin' | 'developer' | 'viewer' | 'billing',
  options: TabOptions = {},
): Promise<DashboardTab> {
  await server.open()
  const email = `${role}@alpenblick.example`
  const invitation = await server.daemon.rest.must('POST', '/v1/invitations', { email, role })
  const joining = await (await browser().newContext()).newPage()
  await joining.goto(String(invitation['accept_url']))
  await joining.click('button:has-text("Join")')
  await joining.context().close()
  return server.open({ ...options, link: await server.signInLink(email) })
}
