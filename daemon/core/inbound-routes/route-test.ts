/** Tests an inbound route: sends an example mail to its webhook once, and returns the receiver's response. Stores nothing. */
import type { Principal } from '../access/principal/principal.ts'
import type { Core } from '../core.ts'
import type { TestDeliveries, TestResult } from '../webhooks/endpoints/test-delivery.ts'
import { must } from '../writes/transact.ts'
import { addressFor } from './route-pattern.ts'
import { inboundRoutes, routeSecretContext } from './route.ts'
import { inboundEventBody, type ReadMail } from './webhook-body.ts'

export interface InboundRouteTestsOptions extends Core {
  readonly tests: Pick<TestDeliveries, 'send'>
  /** A-label domain; null if none is configured. */
  readonly inboundDomain: string | null
  /** Public address of the service, without a trailing slash. */
  readonly baseUrl: string
}

const linksLastMs = 72 * 3_600_000

export class InboundRouteTests {
  readonly #options: InboundRouteTestsOptions

  constructor(options: InboundRouteTestsOptions) {
    this.#options = options
  }

  /** Throws `not_found`, and `rate_limit_exceeded` during another test of the route. */
  async run(principal: Principal, routeId: string, signal: AbortSignal): Promise<TestResult> {
    const { database, clock, tests, inboundDomain, baseUrl } = this.#options
    const { record: route } = await must(database, inboundRoutes, principal, routeId)
    const now = clock.now()
    const messageId = database.newId('inm', now)
    const to = addressFor(route.localPartPattern, inboundDomain ?? 'example.com')
    const { mail, size } = sampleTo(to, now)
    const message = {
      ...{ id: messageId, routeId, projectId: route.projectId, receivedAt: now, prefix: '', content: { size } },
      ...{ mailFrom: sender, recipients: [to], remoteAddress: '192.0.2.10', helo: 'mail.example.com', isEncrypted: true },
    }
    const body = inboundEventBody({
      ...{ eventId: database.newId('evt', now), at: now, message, isTest: true, linksExpireAt: now + linksLastMs, authentication },
      read: { ok: true, message: mail },
      urlOf: (part) => `${baseUrl}/share/inbound/${part === 'raw' ? 'test' : `test-${part}`}`,
    })
    const target = { targetUrl: route.webhookUrl, sealedSecret: route.sealedSecret, secretContext: routeSecretContext(routeId) }
    return tests.send(routeId, target, { eventType: 'inbound_message', body }, signal)
  }
}

const sender = 'ada@example.com'
const authentication = {
  spf: { result: 'pass', domain: 'example.com' },
  dkim: [{ result: 'pass', domain: 'example.com', selector: 's1' }],
  dmarc: { result: 'pass', domain: 'example.com', policy: 'reject' },
  arc: { result: 'none' },
}

/** Returns a short parsed mail with its size in octets. */
function sampleTo(to: string, at: number): { readonly mail: ReadMail; readonly size: number } {
  const date = new Date(at)
  const subject = 'A test of this inbound route'
  const text = 'This is an example mail that tests the webhook.\n'
  const messageId = '<test@example.com>'
  const headers = [
    { name: 'From', value: `Ada <${sender}>` },
    { name: 'To', value: to },
    { name: 'Subject', value: subject },
    { name: 'Date', value: date.toUTCString() },
    { name: 'Message-ID', value: messageId },
  ]
  const mail = {
    ...{ subject, text, messageId, headers, date: date.toISOString(), html: `<p>${text.trim()}</p>`, attachments: [] },
    from: [{ address: sender, name: 'Ada' }],
    to: [{ address: to, name: '' }],
    ...{ cc: [], replyTo: [], notes: [] },
  }
  const size = headers.reduce((sum, { name, value }) => sum + name.length + value.length + ': \r\n'.length, text.length + '\r\n'.length)
  return { mail, size }
}
