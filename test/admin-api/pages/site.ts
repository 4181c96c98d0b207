/** The pages over a real socket and a real store, at an address that browsers take for secure; time stands still unless moved, and mail is read instead of delivered. */
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Projects } from '#core/administration/projects.ts'
import type { Removals } from '#core/administration/removals.ts'
import { ApiKeys } from '#core/access/api-keys.ts'
import { CaptureBell } from '#core/capture/bell.ts'
import { WorkerMessageReader } from '#ingest/message-reader.ts'
import { TraceReader } from '#core/trace/read.ts'
import type { TimelineEntry } from '#core/trace/timeline.ts'
import { SecretBox } from '#core/access/secret-box.ts'
import { Audit } from '#core/audit.ts'
import { Invoices } from '#core/billing/invoice.ts'
import { Usage } from '#core/billing/usage.ts'
import { bootstrap } from '#core/bootstrap.ts'
import { Claims } from '#core/claims/claims.ts'
import { grantStands } from '#core/oauth/grant.ts'
import type { Sandboxes } from '#core/oauth/sandboxes.ts'
import type { SignUp } from '#core/people/login-links.ts'
import { operatorLink } from '#core/people/operator-link.ts'
import { people, type People } from '#core/people/people.ts'
import { FetchFailed, type FetchedDocument } from '#core/outbound/fetch.ts'
import { destinations } from '#core/routing/destination.ts'
import { Policies } from '#core/routing/policy.ts'
import { systemOrganizationId } from '#core/routing/system-policy.ts'
import { SettingWrites } from '#core/setting-writes.ts'
import { Accept } from '#core/submission/accept.ts'
import type { Trace } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { Database } from '#store/database.ts'
import { LevelKv } from '#store/level/level-kv.ts'
import { newId } from '#store/ids.ts'
import { bearerAuthentication } from '../../../admin-api/authentication.ts'
import { oauthOperations } from '../../../admin-api/oauth/operations.ts'
import { allowingOperations, pageOperations } from '../../../admin-api/pages/operations.ts'
import { nothingPage } from '../../../admin-api/pages/refusal-page.ts'
import { flagCheck } from '../../../admin-api/rest/operations.ts'
import { claimOperations } from '../../../admin-api/pages/claims.ts'
import { AdminApi } from '../../../admin-api/server.ts'
import { administration } from '../../../daemon/administration.ts'
import { inboxCore, type InboxCore, type InboxParts } from '../../../daemon/inbox-core.ts'
import { allowingCore, oauthServer, type OAuthServer } from '../../../daemon/oauth-core.ts'
import { destinationDefaults } from '../../core/house.ts'
import { noTracking } from '../../core/no-parsers.ts'
import { ManualClock } from '../../protocols/relay/manual-clock.ts'
import { freePort, temporaryFolder } from '../../support/workspace.ts'

const adminKey = `svckey_${'a'.repeat(43)}`

export interface SiteOptions {
  readonly signUp?: SignUp
  /** Why queued mail rests, as the probes of destinations would tell. */
  readonly waiting?: TimelineEntry
  /** Mail of the service is configured, unless told otherwise. */
  readonly hasMail?: boolean
  /** Images of messages may be on loopback. */
  readonly imagesFromHere?: boolean
  /** As what the service presents itself; http://localhost with its port unless told. */
  readonly publicUrl?: string
}

/** A mail of the service, as it lies in the queue. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly raw: string
  /** The first address in it. */
  readonly link: string
}

export interface Site {
  /** Where it is reached, without a slash at the end. */
  readonly url: string
  readonly clock: ManualClock
  readonly database: Database
  readonly people: People
  readonly claims: Claims
  readonly accept: Accept
  readonly inboxCore: InboxCore
  readonly sandboxes: Sandboxes
  readonly organizationId: string
  readonly apiKeys: ApiKeys
  readonly oauth: OAuthServer
  readonly projects: Projects
  /** What removes the rows of what was deleted. */
  readonly removals: Removals
  /** Documents of the web by address, for clients that describe themselves there. */
  readonly web: Map<string, FetchedDocument>
  readonly failures: unknown[]
  /** The link that the first start printed. */
  readonly ownerLink: string
  /** Every mail so far, once all that is under way is queued. */
  mails(): Promise<Mail[]>
  /** The newest mail to an address. */
  mailTo(address: string): Promise<Mail>
  /** A link as `postern login-link` prints it. */
  operatorLink(email: string): Promise<string>
}

const systemDestination = newId('dst', 0)

export async function startSite(t: Pick<ExecutionContext, 'teardown'>, options: SiteOptions = {}): Promise<Site> {
  const { signUp = 'invited', hasMail = true } = options
  const folder = await temporaryFolder('pages')
  const kv = await LevelKv.open(join(folder.path, 'store'))
  const database = new Database(kv)
  const clock = new ManualClock()
  const secrets = new SecretBox(Buffer.alloc(32, 7))
  const { organizationId, ownerLink = '' } = await bootstrap({ database, clock, secrets, adminKey, plan: 'enterprise' })
  await database.commit(new Change().insert(destinations, organizationId, { ...destinationDefaults, id: systemDestination }))
  const port = await freePort()
  const url = `http://localhost:${port}`
  const publicUrl = options.publicUrl ?? url
  const systemMail = hasMail ? { destination: systemDestination, from: 'Postern <post@example.ch>' } : { destination: null, from: null }
  const policies = new Policies(database, systemMail.destination)
  const audit = new Audit({ database, clock })
  const base = { database, writes: new SettingWrites(database, audit), policies, secrets, clock }
  const failures: unknown[] = []
  const onError = (error: unknown): void => void failures.push(error)
  const traces: Trace[] = []
  const listener = { accepted: (trace: Trace) => void traces.push(trace), queued() {}, captured() {} }
  const accept = new Accept({ ...base, ...noTracking, listener, recipientsMax: 100, messageBytesMax: 1_000_000 })
  const house = people({ ...base, accept, baseUrl: publicUrl, signUp, systemMail, onError })
  const apiKeys = new ApiKeys({ ...base, rightsOfMember: house.members.rightsOf, grantStands: grantStands(database) })
  const web = new Map<string, FetchedDocument>()
  const { projects, organizations, removals } = administration({ ...base, accept, attempts: { breakOff: async () => {} }, onError })
  const oauth = oauthServer({
    ...base,
    config: { baseUrl: publicUrl, authUrl: null, mcpUrl: null, smtpHost: 'localhost', http: { listen: { host: '', port: 0 } } as never },
    fetch: async (address) => web.get(address) ?? Promise.reject(new FetchFailed('The host could not be reached.')),
    ...{ rightsOfMember: house.members.rightsOf, servesMcp: true },
    events: { tokenReused() {} },
    notices: house.notices,
    onDeleted() {},
  })
  const usage = new Usage({ database, clock })
  const reader = new WorkerMessageReader(clock)
  const its = inboxesOf({ ...base, reader, onError }, publicUrl, options)
  const claims = new Claims({ ...base, audit, sandboxes: oauth.sandboxes, people: house })
  const invoices = new Invoices({ database, usage, vatBasisPoints: 810 })
  const read = { usage, invoices, traces: new TraceReader(database), probes: { waiting: async () => options.waiting } }
  const own = { people: house, organizations, baseUrl: publicUrl, projects, ...read, ...its }
  const api = new AdminApi({
    listen: { host: 'localhost', port },
    baseUrl: publicUrl,
    version: '1.2.3',
    operations: [
      ...pageOperations(own),
      ...claimOperations({ people: house, claims }),
      ...allowingOperations(allowingCore(oauth, { ...base, people: house, projects })),
      ...oauthOperations(oauth),
    ],
    nothingAs: nothingPage,
    requireFlag: flagCheck(policies),
    authenticate: bearerAuthentication((key) => apiKeys.authenticate(key)),
    admission: { check() {} },
    events: { answered() {}, failed: (error) => failures.push(error), connectionDropped() {} },
    health: { ready: () => [] },
    metrics: { contentType: 'text/plain', render: async () => '' },
  })
  await api.listen()
  t.teardown(async () => {
    await api.close(0)
    await reader[Symbol.asyncDispose]()
    await house.background.idle()
    await removals.stop()
    await kv[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
    if (failures.length > 0) throw new AggregateError(failures, 'the service failed inside')
  })
  const mails = (): Promise<Mail[]> => house.background.idle().then(() => Promise.all(traces.map((trace) => readMail(database, trace))))
  return {
    ...{ oauth, projects, removals, web },
    ...{ url, clock, database, people: house, organizationId, apiKeys, failures, mails, ownerLink: `${url}/sign-in/link/${ownerLink}` },
    async mailTo(address) {
      const found = (await mails()).findLast(({ to }) => to === address)
      if (!found) throw new Error(`no mail to ${address}`)
      return found
    },
    ...{ claims, sandboxes: oauth.sandboxes, accept, inboxCore: its },
    operatorLink: async (email) => url + (await operatorLink(database, clock, email)),
  }
}

function inboxesOf(
  base: Omit<InboxParts, 'bell' | 'resolver' | 'allowed' | 'baseUrl' | 'pagesUrl'>,
  url: string,
  { imagesFromHere }: SiteOptions,
): InboxCore {
  const resolver = { resolve4: async () => [], resolve6: async () => [] }
  const imagesAllowed = imagesFromHere ? [{ cidr: '127.0.0.1/32' }] : []
  return inboxCore({ ...base, bell: new CaptureBell(), resolver, allowed: [], imagesAllowed, baseUrl: url, pagesUrl: url })
}

async function readMail(database: Database, trace: Trace): Promise<Mail> {
  const pieces: Uint8Array[] = []
  for await (const piece of readContent(database, systemOrganizationId, trace.content)) pieces.push(piece)
  const raw = Buffer.concat(pieces).toString('utf8')
  const [link = ''] = /https?:\/\/[^\s"<]+/.exec(raw) ?? []
  return { to: trace.recipients[0]?.address ?? '', subject: trace.subject, raw, link }
}
