/**
 * The pages of a daemon at an address that browsers treat as secure. The clock stands still unless advanced, and mail stays in the queue.
 */
import type { ExecutionContext } from 'ava'
import type { ApiKeys } from '#core/access/keys/api-keys.ts'
import type { Projects } from '#core/administration/projects.ts'
import type { TimedRounds } from '#core/work-loop.ts'
import type { Claims } from '#core/claims/claims.ts'
import type { Sandboxes } from '#core/oauth/endpoints/sandboxes.ts'
import { FetchFailed, type FetchedDocument } from '#core/outbound/fetch.ts'
import type { SignUp } from '#core/people/sign-in/login-links.ts'
import { operatorLink } from '#core/people/sign-in/operator-link.ts'
import type { People } from '#core/people/people.ts'
import { destinations } from '#core/routing/destination.ts'
import { systemOrganizationId, systemProjectId } from '#core/routing/policy/system-policy.ts'
import type { Accept } from '#core/submission/accept/accept.ts'
import { traces } from '#core/trace/trace.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import type { Database } from '#store/database.ts'
import { RecordIds } from '#store/ids.ts'
import type { OAuthServer } from '../../../daemon/composition/composed.ts'
import type { Daemon } from '../../../daemon/composition/parts.ts'
import { destinationDefaults } from '../../core/core-fixture.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { programPort } from '../../support/network/program-port.ts'
import { FakeTransport } from '../rest/fixture/fake-providers.ts'

export interface PageServerOptions {
  readonly signUp?: SignUp
  /** Whether mail of the service is configured; true by default. */
  readonly hasMail?: boolean
  /** Allows images of messages on loopback. */
  readonly imagesFromHere?: boolean
  /** Public address; by default http://localhost with its port. */
  readonly publicUrl?: string
}

/** A mail of the service in the queue. */
export interface Mail {
  readonly to: string
  readonly subject: string
  readonly raw: string
  /** The first address in the mail. */
  readonly link: string
}

export interface PageServer {
  /** Address of the pages, without a slash at the end. */
  readonly url: string
  /** The daemon, for parts that are not listed here. */
  readonly daemon: StartedDaemon
  readonly clock: FakeClock
  readonly database: Database
  readonly people: People
  readonly claims: Claims
  readonly accept: Accept
  readonly inboxCore: Daemon['inboxes']
  readonly sandboxes: Sandboxes
  readonly organizationId: string
  readonly apiKeys: ApiKeys
  readonly oauth: OAuthServer
  readonly projects: Projects
  /** Removes the rows of deleted objects. */
  readonly removals: TimedRounds
  /** Documents of the web by address, for clients that are described there. */
  readonly web: Map<string, FetchedDocument>
  /** Sign-in link of the first start. */
  readonly ownerLink: string
  /** Returns all mails after pending work is queued. */
  mails(): Promise<Mail[]>
  /** Returns the newest mail to an address. */
  mailTo(address: string): Promise<Mail>
  /** Returns a link as `postern login-link` prints it. */
  operatorLink(email: string): Promise<string>
}

const systemDestination = new RecordIds().next('dst', 0)

export async function startPageServer(t: Pick<ExecutionContext, 'teardown'>, options: PageServerOptions = {}): Promise<PageServer> {
  const { signUp = 'invited', hasMail = true, publicUrl, imagesFromHere } = options
  const port = await programPort()
  const url = `http://localhost:${port}`
  const [clock, transport, web] = [new FakeClock(Date.UTC(2030, 0, 1)), new FakeTransport(), new Map<string, FetchedDocument>()]
  const daemon = await startDaemon(t, {
    env: {
      ...{ POSTERN_HTTP_LISTEN: `localhost:${port}`, POSTERN_SIGN_UP: signUp },
      ...(hasMail && { POSTERN_SYSTEM_DESTINATION: systemDestination, POSTERN_SYSTEM_FROM: 'Postern <post@example.ch>' }),
      ...(publicUrl !== undefined && { POSTERN_BASE_URL: publicUrl }),
    },
    replacements: {
      ...{ clock, transport },
      fetch: async (address) => web.get(address) ?? Promise.reject(new FetchFailed('The host could not be reached.')),
      ...(imagesFromHere && { imagesAllowed: [{ cidr: '127.0.0.1/32' }] }),
    },
  })
  t.teardown(() => transport.release())
  const { database, organizationId, people, part, ownerLink = '' } = daemon
  await database.commit(new Change().insert(destinations, organizationId, { ...destinationDefaults, id: systemDestination }))
  const mails = async (): Promise<Mail[]> => {
    await people.background.idle()
    const ids = daemon.log
      .filter((line) => line.msg === 'message accepted' && line['project_id'] === systemProjectId)
      .map((line) => line['trace_id'])
    return Promise.all(ids.map((id) => readMail(database, String(id))))
  }
  return {
    ...{ daemon, url, clock, database, people, organizationId, web, mails, ownerLink: `${url}/sign-in/link/${ownerLink}` },
    ...{ oauth: part('oauth'), sandboxes: part('oauth').sandboxes, claims: part('claims'), apiKeys: part('apiKeys') },
    ...{
      accept: part('accept'),
      inboxCore: daemon.inboxes,
      projects: part('administration').projects,
      removals: daemon.administration.removals,
    },
    async mailTo(address) {
      const found = (await mails()).findLast(({ to }) => to === address)
      if (!found) throw new Error(`no mail to ${address}`)
      return found
    },
    operatorLink: async (email) => url + (await operatorLink(database, clock, email)),
  }
}

async function readMail(database: Database, traceId: string): Promise<Mail> {
  const trace = (await database.get(traces, { organizationId: systemOrganizationId }, traceId))?.record
  if (!trace) throw new Error(`no trace ${traceId}`)
  const pieces: Uint8Array[] = []
  for await (const piece of readContent(database, systemOrganizationId, trace.content)) pieces.push(piece)
  const raw = Buffer.concat(pieces).toString('utf8')
  const [link = ''] = /https?:\/\/[^\s"<]+/.exec(raw) ?? []
  return { to: trace.recipients[0]?.address ?? '', subject: trace.subject, raw, link }
}
