/**
 * Section "aliases": the send APIs of nine other services compared with `POST /v1/messages` in the same run. Each accepts the same mail, in
 * a request of the official client of the service.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { portOf } from '../../support/daemon/daemon.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { clients, type Mail } from '../../admin-api/vendors/clients.ts'
import { recipient, sender, startPostern, type Postern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import { sessions, type LoadResult } from '../load/load-job.ts'
import { RequestRecorder } from '../load/recorded-request.ts'
import { inTurns, lastTurns } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { profiled, shareLines } from '../profile.ts'
import { costHead, costRow, judge, medianSample, sampleHead, sampleRow, type Sample, type Section } from '../results.ts'

const native = 'POST /v1/messages'
/** The client of Amazon SES adds an idempotency key to every send, which costs another row and a read. */
const nativeIdempotent = 'the same, idempotent'
const names = Object.keys(clients)
/** Warm-up messages of each address. */
const share = 0.25
const goal = 0.8
/** Placeholder that the load generator replaces with another text in each message. */
const stamp = '0000000000000000'

const file = { name: 'x.txt', type: 'text/plain', content: Buffer.from('x') }
const mail: Mail = {
  ...{ from: { email: sender, name: 'Load' }, to: { email: recipient, name: 'Recipient' }, cc: 'cc@inbox.test', bcc: 'bcc@inbox.test' },
  ...{ replyTo: 'reply@load.test', subject: `Load ${stamp}`, text: 'Thank you. '.repeat(90), html: `<p>${'Thank you. '.repeat(90)}</p>` },
  ...{ file, image: { ...file, cid: 'x' }, tag: 'load', isBare: true },
}

/** The same mail for Postern's own API. */
const ownBody = JSON.stringify({
  ...{ from: `"Load" <${sender}>`, to: [`"Recipient" <${recipient}>`], cc: [mail.cc], bcc: [mail.bcc], reply_to: mail.replyTo },
  ...{ subject: mail.subject, text: mail.text, html: mail.html, headers: { 'X-Order': '4711' }, tags: [mail.tag] },
})

/** The request of Node's `fetch`, which most of the other clients use too, with all its header fields. */
const sendOwn = (address: string, key: string, more: Readonly<Record<string, string>> = {}) =>
  fetch(`${address}${native.replace('POST ', '')}`, {
    ...{ method: 'POST', body: ownBody },
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...more },
  })

export async function measureAliases(options: BenchOptions): Promise<Section> {
  const samples = new Map([native, ...names, nativeIdempotent].map((name) => [name, [] as Sample[]]))
  const start = (env: Readonly<Record<string, string>> = {}) => startPostern('nowhere', env)
  for (let round = 0; round < options.rounds; round++) {
    await using postern = await start()
    const life = await measureLife(postern, options)
    for (const [name, list] of samples) list.push(...(life.get(name) ?? []).map(({ sample }) => sample))
  }
  const profile = options.profile ? await profiled(start, async (postern) => lastTurns(await measureLife(postern, options))) : new Map()
  const found = [...samples].map(([name, list]) => [name, medianSample(list)] as const)
  const rate = (name: string): number => found.find(([each]) => each === name)?.[1].perSecond ?? NaN
  return {
    name: 'aliases',
    lines: [
      `The same mail of 2 KiB by each address, ${String(sessions)} connections, acknowledged when durable; in turns.`,
      sampleHead,
      ...found.map(([name, sample]) => sampleRow(name, sample)),
      'Cost of one message for Postern:',
      costHead,
      ...found.map(([name, sample]) => costRow(name, sample)),
      ...shareLines(profile),
    ],
    verdicts: [
      ...names.map((name) => judge(`${name}: >= ${String(goal)} x ${native}`, rate(name) / rate(native), '>=', goal, 'x')),
      judge(`ses: >= ${String(goal)} x ${native} with an Idempotency-Key`, rate('ses') / rate(nativeIdempotent), '>=', goal, 'x'),
    ],
    data: { samples: Object.fromEntries(samples), profile: Object.fromEntries(profile) },
  }
}

/** Measures one daemon, with all addresses in turns. */
async function measureLife(postern: Postern, { warm, messages, seconds }: BenchOptions) {
  const { daemon } = postern
  await using folder = await temporaryFolder('bench-aliases')
  await using recorder = await RequestRecorder.start()
  const common = { key: daemon.adminKey, from: sender, to: recipient, sessions, size: 0, mostSeconds: seconds }
  const base = { ...common, port: portOf(daemon.addresses.http) }
  const kinds = new Map<string, (count: number) => Promise<LoadResult>>()
  const add = async (name: string, send: (address: string) => Promise<unknown>): Promise<void> => {
    const request = { raw: await recorder.requestOf(send) }
    kinds.set(name, (count) => loadByRest({ ...base, count, request }))
  }
  await add(native, (address) => sendOwn(address, daemon.adminKey))
  for (const name of names) {
    const send = (address: string) => clients[name]?.(address, daemon.adminKey, mail) ?? Promise.reject(new Error(name))
    if (name !== 'ses') {
      await add(name, send)
      continue
    }
    // signed requests, so no octet can change
    kinds.set(name, async (count) => {
      const lines: string[] = []
      while (lines.length < count + sessions) lines.push(JSON.stringify({ raw: await recorder.requestOf(send) }))
      const requests = join(folder.path, 'requests')
      await writeFile(requests, `${lines.join('\n')}\n`)
      return loadByRest({ ...base, count, requests })
    })
  }
  await add(nativeIdempotent, (address) => sendOwn(address, daemon.adminKey, { 'Idempotency-Key': stamp }))
  return await inTurns(postern, kinds, { warm: Math.ceil(warm * share), messages })
}
