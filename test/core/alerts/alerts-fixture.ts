/** Alerts of a daemon: its channels, notifier and deliveries, with mail of the service and real HTTP receivers on loopback. */
import type { ExecutionContext } from 'ava'
import type { AlertChannel } from '#core/alerts/channels/alert-channel.ts'
import type { NewChannel } from '#core/alerts/channels/channels.ts'
import { findings, observed, type Finding, type Observed } from '#core/findings/finding.ts'
import type { Settle } from '#core/findings/settle.ts'
import { members } from '#core/people/members/member.ts'
import { addUser } from '#core/people/users/user.ts'
import { systemOrganizationId } from '#core/routing/policy/system-policy.ts'
import { webhookDeliveries, type WebhookDelivery } from '#core/webhooks/delivery.ts'
import { Change } from '#store/change.ts'
import { readContent } from '#store/content.ts'
import { coreFixture, organizationId, principal, projectId, type CoreFixture } from '../core-fixture.ts'
import { systemDestinationId } from '../people/people-fixture.ts'
import { column } from '../../support/column.ts'

export const second = 1000
export const minute = 60 * second
export const refused: Observed = observed(
  'destination.login_refused',
  'dst_1',
  { destination: 'Postmark', code: 'auth_failed', fallback: 'none' },
  projectId,
)
/** The owner of the organization, who gets the mails of the channel `members`. */
export const owner = 'owner@example.ch'

export class AlertsFixture {
  readonly fixture: CoreFixture
  readonly settle: Settle

  constructor(fixture: CoreFixture) {
    this.fixture = fixture
    this.settle = fixture.part('settle')
  }

  get channels() {
    return this.fixture.part('alerts').alertChannels
  }

  async start(): Promise<void> {
    this.fixture.part('alertNotifier').start()
    await this.fixture.part('webhooks').webhookDispatcher.start()
    await this.idle()
  }

  /** Ends the process and starts another one on the same store. */
  async crash(): Promise<AlertsFixture> {
    const next = new AlertsFixture(await this.fixture.crash())
    await next.start()
    return next
  }

  async channel(request: Omit<NewChannel, 'name'>): Promise<AlertChannel> {
    const { channel } = await this.channels.create(principal, { name: request.kind, ...request })
    await this.idle()
    return channel
  }

  look(...found: readonly Observed[]): Promise<boolean> {
    return this.settle.settle({ organizationId, check: 'test', observed: found })
  }

  /** Completes the work that is due. */
  async idle(): Promise<void> {
    const { webhookDispatcher } = this.fixture.part('webhooks')
    for (let round = 0; round < 3; round++) {
      await this.fixture.part('alertNotifier').idle()
      await this.fixture.part('people').background.idle()
      await webhookDispatcher.idle()
    }
  }

  /** Advances the clock in steps, so that all work starts at its time. */
  async pass(ms: number, step = 10 * second): Promise<void> {
    for (let passed = 0; passed < ms; passed += step) {
      this.fixture.clock.advance(Math.min(step, ms - passed))
      await this.idle()
    }
  }

  async deliveries(organization = organizationId): Promise<WebhookDelivery[]> {
    return column(await this.fixture.database.all(webhookDeliveries, { organizationId: organization }), 'record')
  }

  async findings(organization = organizationId): Promise<Finding[]> {
    return column(await this.fixture.database.all(findings, { organizationId: organization }), 'record')
  }

  /** Returns the mails of the service with their recipients. */
  async mails(): Promise<{ readonly to: string; readonly raw: string; readonly subject: string }[]> {
    await this.idle()
    return Promise.all(
      this.fixture.accepted.map(async ({ content, recipients }) => {
        const pieces: Uint8Array[] = []
        for await (const piece of readContent(this.fixture.database, systemOrganizationId, content)) pieces.push(piece)
        const raw = Buffer.concat(pieces).toString('utf8')
        return { to: recipients[0]?.address ?? '', raw, subject: /^Subject: (.*)$/m.exec(raw)?.[1]?.trim() ?? '' }
      }),
    )
  }
}

interface Options {
  readonly hasMail?: boolean
  readonly hasOwner?: boolean
  readonly env?: Readonly<Record<string, string>>
}

export async function alertsFixture(
  t: ExecutionContext,
  { hasMail = true, hasOwner = true, env = {} }: Options = {},
): Promise<AlertsFixture> {
  const systemMail = { POSTERN_SYSTEM_DESTINATION: systemDestinationId, POSTERN_SYSTEM_FROM: 'Post <post@example.ch>' }
  const settings = { POSTERN_OUTBOUND_ALLOW: 'webhooks=127.0.0.1/32', ...(hasMail && systemMail), ...env }
  const resolver = { resolve4: () => Promise.resolve([]), resolve6: () => Promise.resolve([]) }
  const fixture = await coreFixture(t, { deaf: true, publicUrl: 'https://post.example.ch', env: settings, resolver })
  if (hasMail) await fixture.destination({ id: systemDestinationId })
  if (hasOwner) await addOwner(fixture, organizationId, owner)
  const setup = new AlertsFixture(fixture)
  await setup.start()
  return setup
}

export async function addOwner({ database, clock }: CoreFixture, organization: string, address: string): Promise<void> {
  const change = new Change()
  const { id } = addUser(database, change, address, clock.now())
  change.insert(members, organization, { id, organizationId: organization, role: 'owner' as const, joinedAt: clock.now() })
  await database.commit(change)
}
