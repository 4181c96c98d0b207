/** A destination with an HTTP provider, with the whole daemon: a send by REST reaches the vendor, and wrong settings delay mail. */
import test from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waitFor, waiting } from '../../support/waits.ts'
import { VendorDouble } from '../../support/vendors/double.ts'
import { sendgridRules } from '../../support/vendors/sendgrid-double.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

interface Entry {
  readonly event: string
  readonly message: string
  readonly detail: { readonly host?: string; readonly error?: { readonly code: string; readonly class?: string } | null }
}

test('HTTP provider: a send arrives; with a wrong key, mail waits for the right one', async (t) => {
  const folder = await temporaryFolder('http-provider')
  const double = await new VendorDouble(sendgridRules, 'http').listen()
  const daemon = await Daemon.start({ folder: folder.path, env: { POSTERN_DELIVERY_RETRY_SECONDS: '1', POSTERN_LOG_LEVEL: 'warn' } })
  t.teardown(async () => {
    await daemon[Symbol.asyncDispose]()
    await double[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  })
  const { rest } = daemon
  const made = await rest.must('POST', '/v1/destinations', {
    name: 'SendGrid',
    provider: 'sendgrid',
    credentials: { ...sendgridRules.credentials, base_url: double.origin },
  })
  const path = `/v1/destinations/${String(made['id'])}`
  t.deepEqual(made['credentials'], { has_api_key: true, region: null, base_url: double.origin })
  await rest.must('POST', `${path}/promote-to-live`)
  const send = (subject: string) =>
    rest.must('POST', '/v1/messages', {
      from: 'Shop <shop@site.test>',
      to: ['anna@peer.test'],
      bcc: ['carl@peer.test'],
      subject,
      text: 'Hello',
      html: '<p>Hello</p>',
      destination_id: made['id'],
    })
  const traceWith = (id: unknown, holds: (trace: Record<string, unknown>, timeline: readonly Entry[]) => boolean) =>
    waitFor('the trace has the expected status', async () => {
      const trace = await rest.must('GET', `/v1/traces/${String(id)}`)
      const timeline = trace['timeline'] as Entry[]
      return holds(trace, timeline) ? { trace, timeline } : undefined
    })

  const { trace_id: first } = await send('one')
  const { timeline } = await traceWith(first, ({ status }) => status === 'sent')
  t.deepEqual(double.faults, [])
  t.deepEqual(double.taken[0]?.recipients, ['anna@peer.test', 'carl@peer.test'])
  t.deepEqual(double.taken[0]?.named, ['anna@peer.test'])
  t.like(
    timeline.find(({ event }) => event === 'attempt'),
    { detail: { host: '127.0.0.1', error: null } },
  )

  await rest.must('PATCH', path, { credentials: sendgridRules.wrong })
  const { trace_id: second } = await send('two')
  const pending = await traceWith(second, (_, entries) => entries.some(({ detail }) => detail.error?.code === 'destination_misconfigured'))
  t.is(pending.trace['status'], 'queued')
  t.true(pending.timeline.some(({ event }) => event === 'retry_scheduled'))
  t.false(JSON.stringify(pending).includes('SG.wrong'))
  t.is(double.taken.length, 1)

  const arrival = double.arrival()
  await rest.must('PATCH', path, { credentials: sendgridRules.credentials })
  await waiting('the waiting message arrives', arrival)
  await traceWith(second, ({ status }) => status === 'sent')
  t.is(double.taken.at(-1)?.fields?.subject, 'two')
  t.false(daemon.log.includes('SG.'))
})
