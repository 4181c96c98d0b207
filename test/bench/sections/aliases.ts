/**
 * Section "aliases": the send addresses of nine other services against `POST /v1/messages` of the same life. Each takes the same
 * mail, in the request that the official client of the service sends.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { portOf } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { clients, type Mail } from '../../admin-api/vendors/clients.ts'
import { recipient, sender, startPostern, type Postern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import { sessions } from '../load/load-job.ts'
import { RequestRecorder } from '../load/recorded-request.ts'
import { measure } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { profiled, shareLines } from '../profile.ts'
import { costHead, costRow, judge, medianSample, sampleHead, sampleRow, type Sample, type Section } from '../results.ts'

const native = 'POST /v1/messages'
/** Measured first and last, as code warms up meanwhile; what is compared is the mean. */
const nativeLast = 'the same, last'
/** The client of Amazon SES gives every send an idempotency key: one more row, and a look whether it is there. */
const nativeIdempotent = 'the same, idempotent'
const names = Object.keys(clients)
/** Of the warm-up, and of what is counted, that each address gets. */
const share = 0.25
const goal = 0.8
/** The load generator puts another text in its place for each message. */
const stamp = '0000000000000000'

const file = { name: 'x.txt', type: 'text/plain', content: Buffer.from('x') }
const mail: Mail = {
  ...{ from: { email: sender, name: 'Load' }, to: { email: recipient, name: 'Recipient' }, cc: 'cc@inbox.test', bcc: 'bcc@inbox.test' },
  ...{ replyTo: 'reply@load.test', subject: `Load ${stamp}`, text: 'Thank you. '.repeat(90), html: `<p>${'Thank you. '.repeat(90)}</p>` },
  ...{ file, image: { ...file, cid: 'x' }, tag: 'load', isBare: true },
}

/** The same mail in our own words. */
const ownRequest = {
  path: '/v1/messages',
  body: JSON.stringify({
    ...{ from: `"Load" <${sender}>`, to: [`"Recipient" <${recipient}>`], cc: [mail.cc], bcc: [mail.bcc], reply_to: mail.replyTo },
    ...{ subject: mail.subject, text: mail.text, html: mail.html, headers: { 'X-Order': '4711' }, tags: [mail.tag] },
  }),
}

export async function measureAliases(options: BenchOptions): Promise<Section> {
  const samples = new Map([native, ...names, nativeIdempotent, nativeLast].map((name) => [name, [] as Sample[]]))
  const start = (env: Readonly<Record<string, string>> = {}) => startPostern('nowhere', env)
  for (let round = 0; round < options.rounds; round++) {
    await using postern = await start()
    const life = await measureLife(postern, options)
    for (const [name, list] of samples) list.push(...[life.get(name)?.sample ?? []].flat())
  }
  const profile = options.profile ? await profiled(start, (postern) => measureLife(postern, options)) : new Map()
  const found = [...samples].map(([name, list]) => [name, medianSample(list)] as const)
  const rate = (name: string): number => found.find(([each]) => each === name)?.[1].perSecond ?? NaN
  const own = (rate(native) + rate(nativeLast)) / 2
  return {
    name: 'aliases',
    lines: [
      `The same mail of 2 KiB by each address, ${String(sessions)} connections, acknowledged when durable.`,
      sampleHead,
      ...found.map(([name, sample]) => sampleRow(name, sample)),
      'What one message costs Postern:',
      costHead,
      ...found.map(([name, sample]) => costRow(name, sample)),
      ...shareLines(profile),
    ],
    verdicts: [
      ...names.map((name) => judge(`${name}: >= ${String(goal)} x ${native}`, rate(name) / own, '>=', goal, 'x')),
      judge(`ses: >= ${String(goal)} x ${native} with an Idempotency-Key`, rate('ses') / rate(nativeIdempotent), '>=', goal, 'x'),
    ],
    data: { samples: Object.fromEntries(samples), profile: Object.fromEntries(profile) },
  }
}

/** One daemon, warm by every address. */
async function measureLife(postern: Postern, { warm, messages, seconds }: BenchOptions) {
  const { daemon } = postern
  await using folder = await temporaryFolder('bench-aliases')
  await using recorder = await RequestRecorder.start()
  const base = {
    port: portOf(daemon.addresses.http),
    key: daemon.adminKey,
    from: sender,
    to: recipient,
    sessions,
    size: 0,
    mostSeconds: seconds,
  }
  const measured = new Map<string, Awaited<ReturnType<typeof measure>>>()
  const measureOwn = () => measure(postern, () => loadByRest({ ...base, count: messages, request: ownRequest }))
  await loadByRest({ ...base, count: Math.ceil(warm * share), request: ownRequest })
  measured.set(native, await measureOwn())
  for (const name of names) {
    const [before, counted] = [Math.ceil(warm * share), messages]
    const send = (address: string) => clients[name]?.(address, daemon.adminKey, mail) ?? Promise.reject(new Error(name))
    if (name !== 'ses') {
      const request = { raw: await recorder.requestOf(send) }
      await loadByRest({ ...base, count: before, request })
      measured.set(name, await measure(postern, () => loadByRest({ ...base, count: counted, request })))
      continue
    }
    // each of these is signed, so that no octet of it can be another one
    const write = async (path: string, count: number): Promise<string> => {
      const lines: string[] = []
      while (lines.length < count + sessions) lines.push(JSON.stringify({ raw: await recorder.requestOf(send) }))
      await writeFile(path, `${lines.join('\n')}\n`)
      return path
    }
    await loadByRest({ ...base, count: before, requests: await write(join(folder.path, 'warm'), before) })
    const requests = await write(join(folder.path, 'counted'), counted)
    measured.set(name, await measure(postern, () => loadByRest({ ...base, count: counted, requests })))
  }
  const idempotent = { ...ownRequest, headers: { 'Idempotency-Key': stamp } }
  measured.set(nativeIdempotent, await measure(postern, () => loadByRest({ ...base, count: messages, request: idempotent })))
  return measured.set(nativeLast, await measureOwn())
}
