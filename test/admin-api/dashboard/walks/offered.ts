/** Finds the actions that a role can use by pressing every control. Also finds the operations that the service refuses to it. */
import type { ExecutionContext } from 'ava'
import { restOperations } from '../../../../admin-api/rest/rest-operations.ts'
import { isUnscoped, type Operation } from '../../../../admin-api/operation/operation.ts'
import type { Browser, Page } from '../../../support/web/browser.ts'
import { beyond } from '../../rest/fixture/beyond-roles.ts'
import type { DashboardServer, DashboardTab } from '../dashboard-server.ts'
import { join, type InvitedRole } from '../open-as.ts'
import { gateOf } from './gate.ts'
import { openWatched } from './look.ts'
import { pressAll } from './press.ts'
import { isScreen } from './screen-list.ts'
import { show, walk, type Place } from './screen-walk.ts'

/** Every member may end the own membership and change the own account. */
const own: ReadonlySet<string> = new Set([
  'deleteMember',
  ...restOperations.filter(({ scope }) => scope === 'person').map(({ operationId }) => operationId),
])

/** Queries that open forms by address, as a link shared by a user with more permissions. */
const shared = ['new=1', 'edit={id}', 'do=new', 'do=edit', 'do=delete']

export interface Offers {
  /** Ids of attempted operations beyond those of every member. None of them reached the service. */
  readonly offered: ReadonlySet<string>
  /** Attempted operations that the service would refuse. */
  readonly wrongly: readonly string[]
  /** Addresses without a link for this role that open a form. */
  readonly forms: readonly string[]
  /** Operations outside of the role that the service did not refuse. */
  readonly open: readonly string[]
}

/** Returns all places that links reach for the owner. */
export async function placesOfOwner(t: ExecutionContext, server: DashboardServer): Promise<readonly Place[]> {
  const pages = await tabsOf(() => openWatched(t, server))
  const places = await walk(pages, isScreen, () => Promise.resolve())
  await Promise.all(pages.map((page) => page.context().close()))
  return places
}

/** Visits the places linked for the role, and all places of the owner. */
export async function offersTo(
  t: ExecutionContext,
  browser: () => Browser,
  server: DashboardServer,
  all: readonly Place[],
  role: InvitedRole,
): Promise<Offers> {
  const email = await join(browser, server, role)
  const pages = await tabsOf(async () => openWatched(t, server, { link: await server.signInLink(email) }))
  const [page] = pages
  const open = await openTo(page, role)
  const gates = await Promise.all(pages.map(gateOf))
  const press = (place: Place, on: Page): Promise<void> => pressAll(on, place, () => Promise.resolve())
  const linked = await walk(pages, isScreen, press)
  const ownKinds = new Set(linked.map(({ kind }) => kind))
  const forms: string[] = []
  for (const { kind, path } of all.filter((place) => !ownKinds.has(place.kind) && shared.some((one) => place.kind.endsWith(one)))) {
    await show(page, path)
    if ((await page.locator('dialog[open] form').count()) > 0) forms.push(kind)
  }
  await Promise.all(pages.map((one) => one.context().close()))
  const offered = new Set(gates.flatMap(({ attempted }) => [...attempted]).filter((id) => !own.has(id)))
  return { offered, open, forms, wrongly: [...offered].filter((id) => isBeyond(role, id)) }
}

/** Separate windows, because browsers rarely render hidden tabs. */
const tabsOf = async (open: () => Promise<DashboardTab>): Promise<readonly [Page, ...Page[]]> => {
  const [first, ...others] = await Promise.all([open(), open(), open()])
  return [first.page, ...others.map(({ page }) => page)]
}

const operations: readonly Operation<never>[] = restOperations.filter(({ scope }) => !isUnscoped(scope))

function isBeyond(role: InvitedRole, id: string): boolean {
  const operation = operations.find(({ operationId }) => operationId === id)
  return (operation !== undefined && !hasScope(role, operation)) || (id !== 'rotateApiKey' && beyond[role].includes(id))
}

const hasScope = (role: InvitedRole, { scope, openToBilling = false }: Operation<never>): boolean =>
  role === 'billing' ? openToBilling : role !== 'viewer' || scope === 'api:read'

/** Requests all operations beyond the scope of the role from a script of the page. */
async function openTo(page: Page, role: InvitedRole): Promise<string[]> {
  const closed = operations.filter((operation) => !hasScope(role, operation))
  const asked = closed.map(({ operationId, method, path }) => ({ operationId, method, path: path.replaceAll(/\{\w+\}/g, 'x') }))
  return page.evaluate(`Promise.all(${JSON.stringify(asked)}.map(async ({ operationId, method, path }) => {
    const body = method === 'GET' || method === 'DELETE' ? {} : { headers: { 'content-type': 'application/json' }, body: '{}' }
    const { status } = await fetch(path, { method, ...body })
    return status === 403 ? [] : [operationId + ' ' + status]
  })).then((all) => all.flat())`)
}
