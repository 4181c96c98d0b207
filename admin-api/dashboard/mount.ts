/** Serves the dashboard: the shell page under the path of every screen, and its built files. */
import { join } from 'node:path'
import * as z from 'zod'
import { readOwnFile } from '#config/own-files.ts'
import { Refusal } from '#core/refusals.ts'
import { prefersPage, varies } from '../http/negotiation.ts'
import { media, raw, type Answer } from '../operation/answer.ts'
import { operation, type Operation } from '../operation/operation.ts'
import type { PageRequest, Pages, SignedInRequest } from '../pages/session/page-operation.ts'
import type { OperatorSessions } from '../pages/session/operator-sessions.ts'
import { builtFolder } from './built-files.ts'
import { firstAnswers, type FirstAnswersCore } from './first-answers.ts'
import { currentAddress, formerPaths } from './moved.ts'
import { dashboardAssets, shellPage, type Boot, type PublicAddresses } from './shell-page.ts'

/** Paths of all screens except the start page. `start-page.ts` serves `/` for signed-in and anonymous visitors. */
const paths = [
  ...['/insights', '/findings', '/traces', '/traces/{trace_id}'],
  ...['/captures', '/captures/{inbox_id}', '/captures/{inbox_id}/{message_id}'],
  ...['/incoming/routes', '/incoming/routes/{id}', '/incoming/routes/{id}/{message_id}'],
  ...['/incoming/sources', '/incoming/sources/{id}'],
  ...['/queue', '/queue/scheduled', '/queue/replays', '/queue/replays/{job_id}', '/queue/history', '/queue/history/{id}'],
  ...['/destinations', '/destinations/{id}', '/destinations/new', '/destinations/new/{provider}'],
  ...['/destinations/{id}/go-live', '/destinations/{id}/go-live/{step}', '/routing', '/domains', '/domains/{id}'],
  ...['/recipients/suppressions', '/recipients/unsubscribes', '/inspect', '/inspect/{id}', '/templates', '/templates/{id}'],
  ...['/forms', '/forms/{id}', '/forms/{id}/logic', '/forms/{id}/theme', '/forms/{id}/thanks', '/forms/{id}/settings'],
  ...['/forms/{id}/notifications', '/forms/{id}/embed', '/forms/{id}/versions', '/forms/{id}/test', '/forms/{id}/analytics'],
  ...['/forms/submissions', '/forms/{id}/submissions', '/forms/{id}/submissions/{submission_id}'],
  ...['/websites', '/websites/{id}', '/websites/{id}/deploys/{deploy_id}'],
  ...['/settings', '/settings/project', '/settings/keys', '/settings/smtp-logins', '/settings/browser-keys', '/settings/agents'],
  ...['/settings/webhooks', '/settings/webhooks/{id}', '/settings/alerts', '/settings/alerts/{id}'],
  ...['/settings/organization', '/settings/members', '/settings/usage', '/settings/credits'],
  ...['/settings/projects', '/settings/projects/{id}', '/settings/projects/{id}/move'],
  ...['/settings/invoices', '/settings/invoices/{id}', '/settings/audit', '/settings/import'],
  ...['/settings/you', '/settings/preferences'],
] as const

/** Paths of the operator's screens. They return 404 to anybody else. */
const operatorPaths = [
  '/operator',
  '/operator/organizations',
  '/operator/organizations/{id}',
  '/operator/invoices',
  '/operator/invoices/{id}',
  '/operator/queue',
  '/operator/queue/acts',
  '/operator/queue/acts/{id}',
  '/operator/logins',
] as const

/** Paths of public screens. */
const openPaths = ['/docs/api', '/docs/api/{operation_id}'] as const

export interface DashboardCore extends PublicAddresses {
  /** The core of the REST operations whose answers the start screen carries. */
  readonly rest: FirstAnswersCore
  /** Checks whether a session belongs to the operator of the service. */
  readonly operators: Pick<OperatorSessions, 'has'>
}

export const dashboardOperations = (pages: Pages, core: DashboardCore): readonly Operation[] => [
  ...paths.map((path) =>
    pages.signedIn({ path, operationId: `showDashboard${nameOf(path)}`, summary: 'Show a screen of the dashboard' }, (request) =>
      dashboard(pages, core, request),
    ),
  ),
  ...operatorPaths.map((path) =>
    pages.signedIn({ path, operationId: `showDashboard${nameOf(path)}`, summary: 'Show a screen of the operator' }, (request) => {
      if (core.operators.has(request.signedIn)) return dashboard(pages, core, request)
      throw new Refusal('not_found', 'Nothing is served at this address.')
    }),
  ),
  ...openPaths.map((path) =>
    pages.open({ path, operationId: `showDashboard${nameOf(path)}`, summary: 'Show the API reference' }, (request) => {
      const { signedIn } = request
      if (!signedIn) return shellPage(anonymous(core), {})
      return dashboard(pages, core, { ...request, signedIn, visitor: pages.browsers.visitorOf(signedIn) })
    }),
  ),
  ...formerPaths.map((path) =>
    pages.open({ path, operationId: `showFormer${nameOf(path)}`, summary: 'Redirect to the current address of a screen' }, movedOn),
  ),
  asset,
]

/** Redirects to the current address of a screen. A sign-in, if necessary, follows there. */
function movedOn(_: PageRequest, address: string): Answer {
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  const location = currentAddress(pathname, searchParams)
  if (location === undefined) throw new Refusal('not_found', 'Nothing is served at this address.')
  return raw('', { contentType: 'text/html; charset=utf-8', status: 308, headers: { location, 'cache-control': 'no-store' } })
}

const anonymous = ({ baseUrl, mcpUrl, submission }: DashboardCore): Boot => ({
  ...{ email: '', csrfToken: '', organizations: [], confirmedForMs: 0, isOperator: false },
  ...{ baseUrl, mcpUrl, submission },
})

const nameOf = (path: string): string => path.replaceAll(/[/{_](\w)?|[}]/g, (_, first: string | undefined) => first?.toUpperCase() ?? '')

/** Returns the shell page for a signed-in user. Renews the session cookie for the remaining lifetime of the session. */
async function dashboard(pages: Pages, core: DashboardCore, request: SignedInRequest): Promise<Answer> {
  return pageOf(pages, await bootOf(pages, core, request), request)
}

/** Returns the shell page of the start screen, with the answers to its first reads. */
export async function startScreen(pages: Pages, core: DashboardCore, request: SignedInRequest): Promise<Answer> {
  const boot = await bootOf(pages, core, request)
  // the organization of the screen, as `client/app/location.ts` chooses it
  const named = request.query('org') ?? boot.organizations[0]?.id
  const shown = boot.organizations.find(({ id }) => id === named)
  if (!shown) return pageOf(pages, boot, request)
  const principal = await pages.people.members.principalOf(request.signedIn.user.id, shown.id)
  const first = await firstAnswers(core.rest, { principal, project: request.query('project'), isOperator: boot.isOperator })
  return pageOf(pages, { ...boot, first }, request)
}

async function bootOf(
  { people }: Pages,
  { baseUrl, mcpUrl, submission, operators }: DashboardCore,
  { signedIn, visitor }: SignedInRequest,
): Promise<Boot> {
  const memberships = await people.members.organizationsOf(signedIn.user.id)
  return {
    ...visitor,
    organizations: memberships.map(({ organization: { id, name }, member: { role } }) => ({ id, name, role })),
    ...{ baseUrl, mcpUrl, submission },
    confirmedForMs: people.sessions.confirmedForMs(signedIn.session),
    isOperator: operators.has(signedIn),
  }
}

const pageOf = ({ browsers }: Pages, boot: Boot, { headers }: SignedInRequest): Answer =>
  shellPage(boot, { ...browsers.keepAsLong(headers), ...(prefersPage(headers) && varies) })

const types: Readonly<Record<string, string>> = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8' }

/** Serves a built file from disk. No cache in memory is necessary, because browsers cache each file permanently. */
const asset = operation({
  method: 'GET',
  path: `${dashboardAssets}/{file}`,
  operationId: 'getDashboardFile',
  summary: 'Get a built file of the dashboard',
  tags: ['pages'],
  scope: 'none',
  bypassesLoadShedding: true,
  hiddenFromOpenApi: true,
  params: z.strictObject({ file: z.string().max(100) }),
  response: media('text/javascript'),
  async handle({ params: { file }, headers }) {
    const [, kind = ''] = /^[a-z]+-[A-Z0-9]+\.(js|css)$/.exec(file) ?? []
    const contentType = types[kind]
    if (contentType === undefined) throw gone()
    const takesGzip = /\bgzip\b/.test(headers['accept-encoding'] ?? '')
    try {
      return raw(await readOwnFile(join(builtFolder, takesGzip ? `${file}.gz` : file)), {
        contentType,
        headers: {
          'cache-control': 'public, max-age=31536000, immutable',
          vary: 'Accept-Encoding',
          ...(takesGzip && { 'content-encoding': 'gzip' }),
        },
      })
    } catch {
      throw gone()
    }
  },
})

const gone = (): Refusal => new Refusal('not_found', 'There is no such file; load the page again.')
