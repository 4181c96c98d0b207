/**
 * Section "forms": form submissions compared with `POST /v1/messages` in the same run, both acknowledged when durable, and the time until a
 * page has the form definition. Every submission comes from a different visitor with an address and a token.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { portOf } from '../../support/daemon/daemon.ts'
import { RestClient } from '../../support/daemon/rest.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { recipient, sender, startPostern, type Postern } from '../contenders.ts'
import { loadByRest } from '../load/generators.ts'
import { sessions, type LoadResult, type RestRequest } from '../load/load-job.ts'
import { inTurns, lastTurns, measure } from '../measure.ts'
import type { BenchOptions } from '../options.ts'
import { profiled, shareLines } from '../profile.ts'
import { costHead, costRow, judge, medianSample, sampleHead, sampleRow, type Sample, type Section } from '../results.ts'

const size = 2048
/** Limit of a form per hour. */
const perForm = 900
const shares = { warm: 0.3, fetches: 0.5 }
const kinds = ['rest', 'submissions', 'definitions'] as const
type Kind = (typeof kinds)[number]

const definition = {
  schema: {
    version: 1,
    fields: [
      { key: 'name', type: 'text', label: 'Name', required: true },
      { key: 'email', type: 'email', label: 'Email', required: true },
      { key: 'message', type: 'textarea', label: 'Message', required: true },
    ],
  },
  settings: { min_fill_seconds: 0 },
}

export async function measureForms(options: BenchOptions): Promise<Section> {
  const samples: Record<Kind, Sample[]> = { rest: [], submissions: [], definitions: [] }
  const start = (env: Readonly<Record<string, string>> = {}) => startPostern('nowhere', { ...env, POSTERN_TRUST_PROXY: '127.0.0.1' })
  for (let round = 0; round < options.rounds; round++) {
    await using postern = await start()
    const life = await measureLife(postern, options)
    for (const kind of kinds) samples[kind].push(...(life.get(kind) ?? []).map(({ sample }) => sample))
  }
  const [rest, submissions, definitions] = kinds.map((kind) => medianSample(samples[kind])) as [Sample, Sample, Sample]
  const profile = options.profile ? await profiled(start, async (postern) => lastTurns(await measureLife(postern, options))) : new Map()
  const ratio = submissions.perSecond / rest.perSecond
  return {
    name: 'forms',
    lines: [
      `Submissions of 2 KiB by ${String(sessions)} connections, acknowledged when durable; POST /v1/messages of 2 KiB; and GET of the definition.`,
      sampleHead,
      sampleRow('POST /v1/messages', rest),
      sampleRow('POST …/submissions', submissions),
      sampleRow('GET /v1/public/forms/{public_id}', definitions),
      'Cost of one for Postern:',
      costHead,
      costRow('POST /v1/messages', rest),
      costRow('POST …/submissions', submissions),
      costRow('GET /v1/public/forms/{public_id}', definitions),
      ...shareLines(profile),
    ],
    verdicts: [judge('submissions of forms: >= 0.7 x POST /v1/messages', ratio, '>=', 0.7, 'x')],
    data: { rest, submissions, definitions, ratio, samples, profile: Object.fromEntries(profile) },
  }
}

/** Measures one daemon, with both entry points in turns. */
async function measureLife(postern: Postern, { warm, messages, seconds }: BenchOptions) {
  const { daemon } = postern
  await using folder = await temporaryFolder('bench-forms')
  const base = {
    port: portOf(daemon.addresses.http),
    key: daemon.adminKey,
    from: sender,
    to: recipient,
    sessions,
    size,
    mostSeconds: seconds,
  }
  let opened = ''
  const loads: Readonly<Record<Exclude<Kind, 'definitions'>, (count: number) => Promise<LoadResult>>> = {
    rest: (count) => loadByRest({ ...base, count }),
    async submissions(count) {
      const requests = join(folder.path, 'visits')
      opened = await writeVisits(postern, requests, count + sessions)
      return loadByRest({ ...base, count, requests })
    },
  }
  const life = await inTurns(postern, new Map(Object.entries(loads)), { warm: Math.ceil(warm * shares.warm), messages })
  const definitions = await measure(postern, () =>
    loadByRest({ ...base, count: Math.ceil(messages * shares.fetches), request: { path: opened } }),
  )
  return new Map([...life, ['definitions', [definitions]]])
}

let visitors = 0

/** Creates forms and `count` requests of visitors with tokens. Returns the public address of one form. */
async function writeVisits({ daemon }: Postern, file: string, count: number): Promise<string> {
  using client = new RestClient(daemon.addresses.http, daemon.adminKey)
  const lines: string[] = []
  let opened = ''
  while (lines.length < count) {
    const { id, public_id } = await client.must('POST', '/v1/forms', { name: 'Load', definition })
    await client.must('POST', `/v1/forms/${String(id)}/publish`)
    opened = `/v1/public/forms/${String(public_id)}`
    const fetching = Array.from({ length: Math.min(perForm, count - lines.length) }, () => client.must('GET', opened))
    for (const { fill_time_token: token } of await Promise.all(fetching)) lines.push(JSON.stringify(visitOf(opened, String(token))))
  }
  await writeFile(file, lines.join('\n'))
  return opened
}

function visitOf(opened: string, token: string): RestRequest {
  const number = visitors++
  const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
  const data = { name: 'Ada', email: `visitor${number}@example.net`, message: 'It works. '.repeat(180) }
  return { path: `${opened}/submissions`, headers: { 'X-Forwarded-For': address }, body: JSON.stringify({ data, _mnx_ft: token }) }
}
