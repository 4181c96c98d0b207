/** A scrape of a running daemon after a real bounce and a failed webhook: correct counts in a format that Prometheus can parse. */
import test from '#test'
import { Daemon } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { Sink } from '../../support/smtp/sink.ts'
import { WebhookReceiver } from '../../support/web/webhook-receiver.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'

const operatorKey = `svcop_${'o'.repeat(43)}`
const env = { POSTERN_OUTBOUND_ALLOW: 'destinations=127.0.0.1/32;webhooks=127.0.0.1/32', POSTERN_OPERATOR_KEY: operatorKey }

const nameForm = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const sampleForm = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const labelForm = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g

interface Scrape {
  readonly text: string
  /** Values by name and labels, in their text form. */
  readonly samples: ReadonlyMap<string, number>
  /** Errors in the format (Prometheus text format 0.0.4) or in the names, one sentence each. */
  readonly faults: readonly string[]
}

/** Parses the text format strictly. A problem that `promtool check metrics` would report is an error. */
function read(text: string): Scrape {
  const faults: string[] = []
  const types = new Map<string, string>()
  const helps = new Set<string>()
  const samples = new Map<string, number>()
  const finished = new Set<string>()
  let current = ''
  if (!text.endsWith('\n')) faults.push('the last line has no end')
  for (const line of text.split('\n').filter(Boolean)) {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (word !== undefined) {
      const told: { has(name: string): boolean } = word === 'HELP' ? helps : types
      if (told.has(name)) faults.push(`${name} has ${word} twice`)
      if (word === 'HELP') helps.add(name)
      else types.set(name, rest)
      if (name !== current && finished.has(name)) faults.push(`${name} is defined twice`)
      finished.add((current = name))
      continue
    }
    const [, sample = '', labels = '', value = ''] = sampleForm.exec(line) ?? []
    const family = types.get(current) === 'histogram' ? sample.replace(/_(?:bucket|sum|count)$/, '') : sample
    if (!nameForm.test(sample) || family !== current) faults.push(`not a sample of ${current}: ${line}`)
    if (labels.replaceAll(labelForm, '') !== '') faults.push(`invalid labels: ${line}`)
    if (value !== 'Nan' && Number.isNaN(Number(value.replace('Inf', 'Infinity')))) faults.push(`not a number: ${line}`)
    const key = labels === '' ? sample : `${sample}{${labels}}`
    if (samples.has(key)) faults.push(`${key} twice`)
    samples.set(key, Number(value.replace('Inf', 'Infinity')))
  }
  for (const [name, type] of types) {
    if (!helps.has(name)) faults.push(`${name} has no HELP`)
    if (name.startsWith('postern_') && (type === 'counter') !== name.endsWith('_total')) faults.push(`${name} is a ${type}`)
    if (type === 'histogram') faults.push(...bucketFaults(name, samples))
  }
  return { text, samples, faults }
}

/** Decreasing buckets, or a last bucket that differs from the count. */
function bucketFaults(name: string, samples: ReadonlyMap<string, number>): string[] {
  const faults: string[] = []
  const series = new Map<string, number[]>()
  for (const [key, value] of samples) {
    if (!key.startsWith(`${name}_bucket{`)) continue
    const others = key
      .slice(key.indexOf('{'))
      .replace(/le="[^"]*",?/, '')
      .replace(',}', '}')
      .replace('{}', '')
    series.set(others, [...(series.get(others) ?? []), value])
  }
  for (const [labels, counts] of series) {
    if (counts.some((count, i) => count < (counts[i - 1] ?? 0))) faults.push(`${name}${labels} has buckets that shrink`)
    if (counts.at(-1) !== samples.get(`${name}_count${labels}`)) faults.push(`${name}${labels} counts otherwise than its buckets`)
  }
  return faults
}

async function scrape({ rest }: Daemon): Promise<Scrape> {
  const { status, bytes } = await rest.call('GET', '/metrics')
  if (status !== 200) throw new Error(`/metrics answered ${status}`)
  return read(bytes.toString('utf8'))
}

/** Increments by a bounce of one recipient, its suppression and one failed webhook. */
const expected: Readonly<Record<string, number>> = {
  'postern_messages_accepted_total{door="rest",outcome="relayed"}': 1,
  'postern_delivery_attempts_total{verdict="permanent"}': 1,
  'postern_bounces_total{class="hard"}': 1,
  'postern_bounces_total{class="soft"}': 0,
  postern_complaints_total: 0,
  'postern_suppressions_added_total{source="bounce"}': 1,
  'postern_webhook_attempts_total{result="failed"}': 1,
  'postern_webhook_attempts_total{result="succeeded"}': 0,
}
/** Counters that alerts use: they exist with 0 before an event. */
const known = Object.keys(expected).filter((key) => !key.includes('messages_accepted'))

test('metrics: a scrape counts bounce, suppression and failed webhook without names', async (t) => {
  await using folder = await temporaryFolder('metrics')
  await using sink = await Sink.listen({
    script: { recipient: (address) => (address.startsWith('gone') ? '550 5.1.1 no such user' : undefined) },
  })
  await using receiver = await new WebhookReceiver({ answer: (response) => response.writeHead(500).end() }).listen()
  await using daemon = await Daemon.start({ folder: folder.path, env })
  const { rest } = daemon
  const before = await scrape(daemon)
  for (const key of known) t.is(before.samples.get(key), 0, key)

  const organization = String(((await rest.must('GET', '/v1/organizations'))['data'] as Record<string, unknown>[])[0]?.['id'])
  const flags = await fetch(`http://${daemon.addresses.http}/operator/v1/organizations/${organization}/flags`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bounce_auto_suppress: true }),
  })
  t.is(flags.status, 200)
  await makeRoute(rest, await makeDestination(rest, { name: 'Sink', port: sink.port, mode: 'live' }))
  await rest.must('POST', '/v1/webhooks', { name: 'Shop', target_url: receiver.url, event_types: ['failed'] })
  await rest.must('POST', '/v1/messages', { from: 'shop@sender.test', to: 'gone@reader.test', subject: 'Tell nobody', text: 'x' })
  await rest.call('GET', '/no/such/path/gone@reader.test')
  await rest.call('POST', '/v1/messages', { from: 'shop@sender.test', to: 'nobody', text: 'x' })

  const after = await waitFor('the counters include all traffic', async () => {
    const seen = await scrape(daemon)
    const grown = (key: string): number => (seen.samples.get(key) ?? 0) - (before.samples.get(key) ?? 0)
    return Object.entries(expected).every(([key, by]) => grown(key) >= by) ? seen : undefined
  })
  for (const [key, by] of Object.entries(expected)) t.is((after.samples.get(key) ?? 0) - (before.samples.get(key) ?? 0), by, key)
  t.is(after.samples.get('postern_refusals_total{door="rest",code="validation_failed"}'), 1)
  t.deepEqual([before.faults, after.faults], [[], []])
  for (const [key, value] of before.samples) {
    if (/_(?:total|count|bucket)(?:\{|$)/.test(key) && key.startsWith('postern_')) t.true((after.samples.get(key) ?? -1) >= value, key)
  }
  for (const word of ['gone', 'reader.test', 'sender.test', 'Tell nobody', organization, 'prj_', 'dst_', 'key_', '127.0.0.1'])
    t.false(after.text.includes(word), word)
})
