/**
 * The daemon of a mail test, composed and started like a production daemon, on loopback and in a temporary folder. It connects only to this
 * machine, regardless of its configuration, and queries no DNS server. Its simulated recipients can fail.
 */
import { createServer } from 'node:net'
import { randomBytes } from 'node:crypto'
import { formatEndpoint } from '#config/settings/formats.ts'
import { loadConfig, pagesUrl, publicUrl, type Config } from '#config/settings/load.ts'
import type { Principal } from '#core/access/principal/principal.ts'
import { catchAll } from '#core/capture/inbox-pattern.ts'
import { systemClock } from '#core/clock.ts'
import { OpenDoor } from '#core/mail-tests/open-door.ts'
import { TestAccept } from '#core/mail-tests/test-accept.ts'
import { TestMailbox } from '#core/mail-tests/test-mailbox.ts'
import { TestRecipients } from '#core/mail-tests/test-recipients.ts'
import { isLoopbackAddress } from '#core/outbound/address-guard.ts'
import type { RecordResolver, Resolver } from '#core/outbound/resolver.ts'
import { loginLinkPath } from '#core/people/sign-in/operator-link.ts'
import { LaterReports } from '../../../protocols/mail-tests/later-reports.ts'
import { receiverName, TestReceiver } from '../../../protocols/mail-tests/receiver.ts'
import type { Replacements, Resolve } from '../../composition/parts.ts'
import type { Logger } from '../../observability/logging.ts'
import type { Lifecycle } from '../../process/lifecycle.ts'
import { open, start } from '../../start.ts'

/** The data that programs need to use the instance, as `--json` prints it. */
export interface CaptureAccess {
  readonly smtp: { readonly host: string; readonly port: number; readonly username: string; readonly password: string }
  /** Origin of REST, MCP and the dashboard. */
  readonly http: string
  readonly api_key: string
  readonly inbox_id: string
}

export interface Instance {
  readonly access: CaptureAccess
  /** A link that signs in to the dashboard once. */
  readonly dashboard: string | undefined
  readonly part: Resolve
  readonly principal: Principal
  /** Returns true while a delivery or a report is pending. */
  isBusy(): boolean
}

export interface InstanceOptions {
  readonly folder: string
  /** 0 selects a free port. */
  readonly smtpPort: number
  readonly httpPort: number
  /** Bounces and complaints put recipients on the suppression list. */
  readonly suppresses: boolean
  readonly version: string
}

const loopback = '127.0.0.1'

/** Starts all parts within the lifecycle, which also stops them. */
export async function startInstance(options: InstanceOptions, log: Logger, lifecycle: Lifecycle): Promise<Instance> {
  const config = await configOf(options)
  const recipients = new TestRecipients(systemClock)
  let accept: TestAccept | undefined
  let door: OpenDoor | undefined
  const replacements: Replacements = {
    ...{ resolver: loopbackNames, lookUp: noRecords, guard: isLoopbackAddress, recipients },
    accept: (given) => (accept = new TestAccept(given)),
    smtpDoor: (given) => (door = new OpenDoor(given)),
  }
  const operatorToken = randomBytes(32).toString('base64url')
  const { part, bootstrapped } = await open(config, log, lifecycle, { version: options.version, operatorToken }, replacements)
  const { organizationId, apiKey = '', smtpLogin, ownerLink } = bootstrapped
  part('submission') // composes the SMTP door, which the next line opens
  if (smtpLogin) await door?.openWith(smtpLogin.username, smtpLogin.password)
  const { http, submission } = await start(part, config, lifecycle)
  const [listener] = submission
  const projectId = [...(await part('core').policies.of(organizationId)).projects.keys()][0] ?? ''
  const principal: Principal = { organizationId, projectId, bound: false, scopes: ['api:admin'], credentialId: 'mail-test' }
  if (!accept || !listener || !smtpLogin) throw new Error('a part of the instance was not composed')
  if (options.suppresses) await part('rest').operator.setFlags(organizationId, { bounce_auto_suppress: true })
  const reports = await startRecipients({ part, lifecycle, principal, recipients, accept })
  const inbox = await part('inboxes').inboxes.lookup(principal, catchAll)
  return {
    access: {
      smtp: { host: loopback, port: listener.port, ...smtpLogin },
      ...{ http: publicUrl(config, http), api_key: apiKey, inbox_id: inbox?.id ?? '' },
    },
    dashboard: ownerLink === undefined ? undefined : pagesUrl(config, http) + loginLinkPath(ownerLink),
    ...{ part, principal },
    isBusy: () => part('queue').active > 0 || reports.expected > 0,
  }
}

interface Surroundings {
  readonly part: Resolve
  readonly lifecycle: Lifecycle
  readonly principal: Principal
  readonly recipients: TestRecipients
  readonly accept: TestAccept
}

/** Starts the SMTP server of the simulated recipients, the live destination for it, and the source of its reports. */
async function startRecipients({ part, lifecycle, principal, recipients, accept }: Surroundings): Promise<LaterReports> {
  const { organizationId, projectId } = principal
  const { feedback, reports: reader, sources } = part('ingest')
  const { details } = await sources.create(principal, { provider: 'arf', label: 'Simulated recipients' })
  const onError = (error: unknown): void => part('observer').broke('simulated recipients', error)
  const mailbox = new TestMailbox({ ...part('core'), accept, organizationId, projectId })
  const reports = new LaterReports({
    ...{ feedback, organizationId, sourceId: details.source.id, clock: part('clock'), onError },
    readReport: (mail, turn) => reader.read(mail, turn),
    isRecorded: (sendId, recipient) => mailbox.isRecorded(sendId, recipient),
  })
  const receiver = new TestReceiver({ recipients, mailbox, reports, onError })
  const destinations = part('destinations')
  await lifecycle.start({
    name: receiverName,
    async start() {
      const endpoint = { host: loopback, port: await receiver.listen(), security: 'none' } as const
      const { id } = await destinations.create(principal, { name: 'Simulated recipients', connection: { provider: 'smtp', endpoint } })
      await destinations.promoteToLive(principal, id)
      await destinations.update(principal, id, { ownership: { scope: 'org' } })
      accept.relayFaults({ organizationId, destinationId: id })
    },
    async stop() {
      await reports.stop()
      await receiver.close()
    },
  })
  return reports
}

async function configOf({ folder, smtpPort, httpPort }: InstanceOptions): Promise<Config> {
  // links contain this port, so it is chosen before the start
  const http = httpPort === 0 ? await freePort() : httpPort
  return loadConfig({
    env: {
      POSTERN_DATA_DIR: folder,
      POSTERN_HTTP_LISTEN: formatEndpoint({ host: loopback, port: http }),
      POSTERN_SUBMISSION_LISTEN: formatEndpoint({ host: loopback, port: smtpPort }),
      POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback',
      POSTERN_SUBMISSIONS_LISTEN: '',
      POSTERN_MX_LISTEN: '',
      POSTERN_SMTP_HOST: 'localhost',
      POSTERN_PLAN: 'enterprise',
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.0/8,::1/128;webhooks=127.0.0.0/8,::1/128',
      POSTERN_DELIVERY_RETRY_SECONDS: '1,1,2,5',
      POSTERN_DELIVERY_JITTER: '0',
      POSTERN_SHUTDOWN_SECONDS: '5',
      POSTERN_STORE_BALLAST_BYTES: '0',
      POSTERN_STORE_LOW_DISK_BYTES: '0',
    },
    readFile: () => '',
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, loopback, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

const isLocalName = (name: string): boolean => /^(?:.+\.)?localhost\.?$/i.test(name)

/** Resolves only names of loopback (RFC 6761 §6.3). */
const loopbackNames: Resolver & RecordResolver = {
  resolve4: async (name) => (isLocalName(name) ? [loopback] : []),
  resolve6: async () => [],
  resolveTxt: async () => [],
  resolveMx: async () => [],
}

const noRecords: NonNullable<Replacements['lookUp']> = () =>
  Promise.reject(Object.assign(new Error('Mail tests do not use DNS.'), { code: 'ENOTFOUND' }))
