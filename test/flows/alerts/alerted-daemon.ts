/**
 * A daemon with real SMTP sockets at both ends: a provider that can refuse the login, a fallback, the operator's own provider for mail of
 * the service, and a receiver of each kind of alert channel. The test moves the clock.
 */
import type { ExecutionContext } from 'ava'
import { suppressions } from '#core/feedback/suppression/suppression.ts'
import { findings, type Finding } from '#core/findings/finding.ts'
import { members } from '#core/people/members/member.ts'
import { addUser } from '#core/people/users/user.ts'
import { loggedAttempts, webhookDeliveries } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { column } from '../../support/column.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { makeDestination, makeLogin, type Login } from '../../support/daemon/provision.ts'
import { startDaemon, type StartedDaemon } from '../../support/daemon/start-daemon.ts'
import { Sink } from '../../support/smtp/sink.ts'
import type { SinkScript } from '../../support/smtp/sink-script.ts'
import { SmtpClient } from '../../support/smtp/smtp-client.ts'
import { assertSound } from '../../support/problems.ts'
import { receiverOf, type Answering, type WebhookReceiver } from '../../support/web/webhook-receiver.ts'

export const second = 1000
export const minute = 60 * second

/** Texts of the test mails and targets, which appear nowhere but in the mail and at its receivers. */
export const markers = {
  recipient: 'marked-recipient',
  subject: 'marked-subject',
  reply: 'marked-reply',
  token: 'AAAA-marked-token-BBBB-CCCC',
  path: 'marked-webhook-path',
} as const

export const chatKinds = ['slack', 'discord', 'teams', 'telegram', 'ntfy', 'webhook'] as const
export type ChatKind = (typeof chatKinds)[number]
export const ownerAddress = 'owner@example.ch'
export const operatorKey = `svcop_${'o'.repeat(43)}`

const content = Buffer.from(`From: shop@site.test\r\nTo: anna@peer.test\r\nSubject: ${markers.subject}\r\n\r\nThank you.\r\n`)

interface Options {
  /** Name of the destination. */
  readonly name?: string
  readonly hasFallback?: boolean
  /** Behavior of the provider of mail of the service. */
  readonly system?: SinkScript
  /** Responses of the chats. */
  readonly answer?: (kind: ChatKind) => Answering | undefined
  readonly chats?: readonly ChatKind[]
  readonly env?: Readonly<Record<string, string>>
}

export class AlertedDaemon {
  readonly daemon: StartedDaemon
  readonly provider: Sink
  readonly fallback: Sink
  readonly system: Sink
  readonly receivers: ReadonlyMap<ChatKind, WebhookReceiver>
  readonly channelIds: ReadonlyMap<ChatKind, string>
  readonly mailChannelId: string
  readonly destinationId: string
  readonly users: Record<string, string>
  readonly #login: Login

  private constructor(
    made: Pick<AlertedDaemon, keyof AlertedDaemon & ('daemon' | 'provider' | 'fallback' | 'system' | 'users')> & Provided,
  ) {
    this.daemon = made.daemon
    this.provider = made.provider
    this.fallback = made.fallback
    this.system = made.system
    this.receivers = made.receivers
    this.channelIds = made.channelIds
    this.mailChannelId = made.mailChannelId
    this.destinationId = made.destinationId
    this.users = made.users
    this.#login = made.login
  }

  static async start(t: ExecutionContext, options: Options = {}): Promise<AlertedDaemon> {
    const sink = async (given: ConstructorParameters<typeof Sink>[0]): Promise<Sink> => {
      const made = await Sink.listen(given)
      t.teardown(() => made[Symbol.asyncDispose]())
      return made
    }
    const users: Record<string, string> = { shop: 'right' }
    const provider = await sink({ users })
    const [fallback, system] = [await sink({}), await sink({ ...(options.system && { script: options.system }) })]
    const env = {
      POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32',
      POSTERN_SUBMISSION_CLEARTEXT_AUTH: 'loopback',
      POSTERN_OPERATOR_KEY: operatorKey,
      POSTERN_DOCTOR_BLOCKLISTS: '',
      POSTERN_DOCTOR_TIME_SERVERS: '',
      ...options.env,
    }
    const first = await startDaemon(t, { env })
    const systemId = await makeDestination(first.rest, { name: 'Service', port: system.port, mode: 'live' })
    await first.stop()
    const own = { POSTERN_SYSTEM_DESTINATION: systemId, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' }
    const daemon = await first.again({ env: { ...env, ...own } })
    await addOwner(daemon)
    const sinks = { daemon, provider, fallback, system, users }
    return new AlertedDaemon({ ...sinks, ...(await provide(t, sinks, options)) })
  }

  get clock(): FakeClock {
    return this.daemon.clock as FakeClock
  }

  /** Sends messages over SMTP submission and waits for their first attempts. */
  async submit(count = 1): Promise<void> {
    const port = Number(this.daemon.addresses.submission.split(':').at(-1))
    const client = await SmtpClient.signIn({ port }, this.#login)
    for (let n = 0; n < count; n++) {
      const { accepted } = await client.send({ from: 'shop@site.test', to: [`${markers.recipient}-${n}@peer.test`], content })
      if (!accepted) throw new Error('the message was refused')
    }
    client.destroy()
    await this.daemon.settled()
  }

  /** Lets the provider accept another password only; Postern tests nothing then, because its settings stay. */
  setPassword(password: string): void {
    this.users['shop'] = password
  }

  /** Number of attempts to sign in at the provider. */
  get signIns(): number {
    return this.provider.lines.filter((line) => line.startsWith('AUTH')).length
  }

  async findings(organizationId = this.daemon.organizationId): Promise<readonly Finding[]> {
    return column(await this.daemon.database.all(findings, { organizationId }), 'record')
  }

  /** Kinds and subjects of the open findings. */
  async open(organizationId?: string): Promise<readonly string[]> {
    const open = (await this.findings(organizationId)).filter(({ state }) => state === 'open')
    return open.map(({ kind, subject }) => `${kind} ${subject}`).toSorted()
  }

  /** Mails to the owner about alerts. */
  mails(): readonly string[] {
    return this.system.deliveries.filter(({ to }) => to.includes(ownerAddress)).map(({ text }) => text)
  }

  /** Requests at a receiver, without those of tests. */
  alerts(kind: ChatKind): readonly string[] {
    const bodies = column(this.receivers.get(kind)?.received ?? [], 'body')
    return bodies.filter((body) => !/Test alert|"test":true/.test(body))
  }

  /** All texts in the requests at a receiver, as the chat shows them: Discord shows the character after a backslash as it is. */
  textsOf(kind: ChatKind): readonly string[] {
    const texts = this.alerts(kind).flatMap((body) => textsIn(JSON.parse(body)))
    return kind === 'discord' ? texts.map((text) => text.replaceAll(/\\(.)/g, '$1')) : texts
  }

  assertSound(t: ExecutionContext): Promise<void> {
    return assertSound(t, this.daemon)
  }

  /** Removes the suppressions of mail of the service. */
  async unsuppress(): Promise<void> {
    const { database } = this.daemon
    for (const stored of await database.all(suppressions, { organizationId: 'system' }))
      await database.commit(new Change().remove(suppressions, 'system', stored))
  }

  /** Everything that people other than the mail's own see: findings, alerts, attempts, log and metrics. */
  async shown(): Promise<string> {
    const { rest, database, organizationId, log } = this.daemon
    const attempts = await Promise.all(
      [...this.channelIds.values()].map((id) => rest.must('GET', `/v1/alert-channels/${id}/attempts?limit=100`)),
    )
    const deliveries = column(await database.all(webhookDeliveries, { organizationId }), 'record')
    const logged = await Promise.all(deliveries.map(({ id }) => loggedAttempts(database, organizationId, id)))
    const channels = await rest.must('GET', '/v1/alert-channels?limit=100')
    const metrics = (await rest.call('GET', '/metrics')).bytes.toString('utf8')
    const alerts = [...this.receivers.values()].flatMap(({ received }) => column(received, 'body'))
    const stored = [attempts, deliveries, logged, channels, await this.findings(), await this.findings('system'), log]
    return [...stored.map((one) => JSON.stringify(one)), metrics, ...alerts, ...this.mails()].join('\n')
  }
}

const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []

interface Provided {
  readonly receivers: ReadonlyMap<ChatKind, WebhookReceiver>
  readonly channelIds: ReadonlyMap<ChatKind, string>
  readonly mailChannelId: string
  readonly destinationId: string
  readonly login: Login
}

type Sinks = Pick<AlertedDaemon, 'daemon' | 'provider' | 'fallback'>

/** Creates the destination with its login, and a channel of each kind. */
async function provide(t: ExecutionContext, { daemon, provider, fallback }: Sinks, options: Options): Promise<Provided> {
  const { rest } = daemon
  const credentials = { username: 'shop', password: 'right' }
  const destinationId = await makeDestination(rest, { name: options.name ?? 'Provider', port: provider.port, mode: 'live', credentials })
  if (options.hasFallback) {
    const fallbackId = await makeDestination(rest, { name: 'Spare', port: fallback.port, mode: 'live' })
    const conditions = { on: ['misconfigured', 'breaker_open'] }
    await rest.must('POST', '/v1/failover/policy', { primary_id: destinationId, fallback_ids: [fallbackId], conditions })
  }
  const receivers = new Map<ChatKind, WebhookReceiver>()
  const channelIds = new Map<ChatKind, string>()
  for (const kind of options.chats ?? chatKinds) {
    const answer = options.answer?.(kind)
    const receiver = await receiverOf(t, answer ? { answer } : {})
    const target = targetOf(kind, `http://127.0.0.1:${receiver.port}/${markers.path}`)
    const { id } = await rest.must('POST', '/v1/alert-channels', { kind, name: kind, target })
    receivers.set(kind, receiver)
    channelIds.set(kind, String(id))
  }
  const mail = await rest.must('POST', '/v1/alert-channels', { kind: 'mail', name: 'Mail', target: { address: ownerAddress } })
  const login = await makeLogin(rest, destinationId)
  await daemon.pass(2 * minute) // the channels take their first look, and mails about them leave
  return { receivers, channelIds, mailChannelId: String(mail['id']), destinationId, login }
}

function targetOf(kind: ChatKind, url: string): object {
  if (kind === 'telegram') return { url, bot_token: `123456789:${markers.token}`, chat_id: '-100123' }
  return kind === 'ntfy' ? { url, topic: 'marked-topic', token: markers.token } : { url }
}

async function addOwner({ database, organizationId, clock }: StartedDaemon): Promise<void> {
  const change = new Change()
  const user = addUser(database, change, ownerAddress, clock.now())
  change.insert(members, organizationId, { id: user.id, organizationId, role: 'owner' as const, joinedAt: clock.now() })
  await database.commit(change)
}
