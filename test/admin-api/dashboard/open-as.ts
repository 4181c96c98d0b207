/** Invites a user with a role, and opens a tab for that user. */
import type { Browser } from '../../support/web/browser.ts'
import type { DashboardServer, DashboardTab, TabOptions } from './dashboard-server.ts'

export type InvitedRole = 'admin' | 'developer' | 'viewer' | 'billing'

/** Joins by the invitation link. Returns the sign-in address. */
export async function join(browser: () => Browser, server: DashboardServer, role: InvitedRole): Promise<string> {
  const owner = await server.open()
  await owner.page.context().close()
  const email = `${role}@alpenblick.example`
  const invitation = await server.daemon.rest.must('POST', '/v1/invitations', { email, role })
  const joining = await (await browser().newContext()).newPage()
  await joining.goto(String(invitation['accept_url']))
  await joining.click('button:has-text("Join")')
  await joining.waitForLoadState()
  await joining.context().close()
  return email
}

export async function openAs(
  browser: () => Browser,
  server: DashboardServer,
  role: InvitedRole,
  options: TabOptions = {},
): Promise<DashboardTab> {
  const email = await join(browser, server, role)
  return server.open({ ...options, link: await server.signInLink(email) })
}
