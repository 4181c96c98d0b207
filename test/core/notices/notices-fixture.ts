/** A fixture whose author sends from a local machine to a provider that refuses every address that begins with `gone`. */
import type { SmtpMessage } from '#core/submission/doors/smtp-door.ts'
import { sendingDomains } from '#core/domains/sending-domain.ts'
import { traces, type Trace } from '#core/trace/trace.ts'
import { startOfTime } from '../../support/fake-clock.ts'
import { organizationId, type CoreFixture, type CoreFixtureOptions } from '../core-fixture.ts'
import { contentOf, report, ScriptedTransport, take, type Call, type Script } from '../scripted-transport.ts'
import { doorOf, submit } from '../submission/smtp/smtp-fixture.ts'

export const minute = 60_000
export const author = 'shop@example.com'
export const gone = 'gone@example.net'

/** Refuses unknown recipients at RCPT. */
export const refusing: Script = (call) => {
  const verdicts = Object.fromEntries(
    call.job.rcptTo.map((address) => [address, address.toLowerCase().startsWith('gone') ? 'permanent' : 'accepted'] as const),
  )
  return call.job.rcptTo.some((address) => verdicts[address] === 'accepted') ? take(call, verdicts) : report(call, verdicts)
}

export async function noticing(
  t: Parameters<typeof doorOf>[0],
  { script = refusing, ...options }: CoreFixtureOptions & { readonly script?: Script } = {},
): Promise<CoreFixture> {
  const fixture = await doorOf(t, { deaf: false, transport: new ScriptedTransport(script), ...options })
  await fixture.credential('right', { allowedFromDomains: ['example.com'] })
  fixture.part('failureNotices').start()
  return fixture
}

export const message = (fields: readonly string[] = [], to = gone): string =>
  [...fields, `From: ${author}`, `To: ${to}`, 'Subject: =?utf-8?q?Gr=C3=BCezi?=', 'Message-ID: <a@b>', 'Date: now', '', 'hello', ''].join(
    '\r\n',
  )

/** Submits over SMTP from this machine, and completes every attempt. */
export async function send(
  fixture: CoreFixture,
  changes: Partial<SmtpMessage> & { readonly text?: string | Buffer } = {},
): Promise<string> {
  const { text, ...envelope } = changes
  const { rcptTo = [gone], remoteAddress = '127.0.0.1' } = envelope
  const live = await fixture.door.login('cms-user', 'right', remoteAddress)
  const { traceId } = await submit(live, text ?? message([], rcptTo.join(', ')), { ...envelope, rcptTo, remoteAddress })
  await fixture.settled()
  return traceId
}

export const verifiedDomain = (fixture: CoreFixture, domain: string) =>
  fixture.put(sendingDomains, {
    ...{ id: `sdm_${domain}`, domain, status: 'verified', keys: [], check: null, createdAt: startOfTime, updatedAt: startOfTime },
  })

/** Returns the notices that were passed to a provider. */
export const handedOver = ({ transport }: CoreFixture): readonly Call[] => transport.calls.filter(({ job }) => job.mailFrom === '')

export const textOf = async (call: Call | undefined): Promise<string> => (call ? (await contentOf(call)).toString() : '')

/** Returns the traces of notices. */
export const noticeTraces = async ({ database }: CoreFixture, of = organizationId): Promise<readonly Trace[]> =>
  (await database.all(traces, { organizationId: of })).map(({ record }) => record).filter(({ door }) => door === 'failure_notice')

export const outcomes = ({ notices = [] }: Trace): string[] =>
  notices.map(({ at, withheld }) => (at === undefined ? 'due' : (withheld ?? 'sent')))
