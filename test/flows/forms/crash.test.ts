/**
 * The daemon is killed while visitors submit forms and files are scanned. Acknowledged submissions are stored with their files, notified
 * once and finally scanned; others can be repeated.
 */
import test from '#test'
import { hash } from 'node:crypto'
import { pdfWith } from '../../core/forms/file-samples.ts'
import { multipartBody, multipartType } from '../../admin-api/rest/forms/multipart-body.ts'
import { Daemon, runCommand, type DaemonOptions } from '../../support/daemon/daemon.ts'
import { waitFor } from '../../support/waits.ts'
import { makeDestination, makeRoute } from '../../support/daemon/provision.ts'
import { RestClient, type RestAnswer } from '../../support/daemon/rest.ts'
import { FakeClamd } from '../../support/web/fake-clamd.ts'
import { temporaryFolder } from '../../support/daemon/workspace.ts'
import { assertVerified } from '../../support/problems.ts'

type Row = Readonly<Record<string, unknown>>

const clients = 20
const perClient = 8
const owner = 'owner@example.ch'
const definition = {
  schema: {
    version: 1,
    fields: [
      { key: 'text', type: 'text', label: 'Text', required: true },
      { key: 'file', type: 'file_upload', label: 'File' },
    ],
  },
  settings: { min_fill_seconds: 0 },
}

/** A visitor's submission, with a token and a client address. */
interface Order {
  readonly number: number
  readonly token: string
}

/** Creates a form that mails submissions to its owner, in a sandbox. */
async function formOf({ rest, addresses }: Daemon, options: DaemonOptions): Promise<{ readonly path: string; readonly open: string }> {
  const link = /\/sign-in\/link\/[\w-]{43}/.exec((await runCommand(options, 'login-link', owner)).output)?.[0] ?? ''
  const origin = `http://${addresses.http}`
  await fetch(origin + link, { method: 'POST', body: new URLSearchParams({ email: owner }), redirect: 'manual', headers: { origin } })
  await makeRoute(rest, await makeDestination(rest, { name: 'Sandbox', port: 9, mode: 'sandbox' }))
  const { id, public_id } = await rest.must('POST', '/v1/forms', { name: 'Crash', definition })
  const path = `/v1/forms/${String(id)}`
  const notifications = { from: 'forms@example.ch', recipients: [{ email: owner }], subject_tmpl: '{{.submission.id}}' }
  await rest.must('PUT', `${path}/notifications`, notifications)
  await rest.must('POST', `${path}/publish`)
  return { path, open: `/v1/public/forms/${String(public_id)}` }
}

/** A unique file. Every eighth visitor sends one. */
const fileOf = (number: number): Buffer | undefined => (number % 8 === 0 ? pdfWith(Buffer.from(`file ${number}`)) : undefined)

const send = (client: RestClient, open: string, { number, token }: Order): Promise<RestAnswer> => {
  const body = { data: { text: `answer ${number}` }, _mnx_ft: token }
  const from = { 'x-forwarded-for': `198.51.${Math.floor(number / 200)}.${(number % 200) + 1}` }
  const file = fileOf(number)
  if (!file) return client.call('POST', `${open}/submissions`, body, from)
  const parts = multipartBody([
    ['data', JSON.stringify(body)],
    ['file', file, 'file.pdf'],
  ])
  return client.call('POST', `${open}/submissions`, parts, { ...from, 'content-type': multipartType() })
}

test('forms: an acknowledged submission survives kill -9; a repeated one is one row', async (t) => {
  await using folder = await temporaryFolder('form-crash')
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => undefined // the first run never gets a scan result
  const options = { folder: folder.path, env: { POSTERN_TRUST_PROXY: '127.0.0.1', POSTERN_CLAMD: `127.0.0.1:${scanner.port}` } }
  const ids = new Map<number, string>()
  const orders: Order[] = []
  let form = { path: '', open: '' }
  let adminKey = ''
  {
    await using daemon = await Daemon.start(options)
    ;({ adminKey } = daemon)
    form = await formOf(daemon, options)
    using client = new RestClient(daemon.addresses.http, adminKey)
    for (let number = 0; number < clients * perClient; number++)
      orders.push({ number, token: String((await client.must('GET', form.open))['fill_time_token']) })
    let killed: Promise<unknown> | undefined
    const visit = async (own: readonly Order[]): Promise<void> => {
      for (const order of own) {
        const { status, body } = await send(client, form.open, order)
        if (status === 201) ids.set(order.number, String((body as Row)['id']))
        if (ids.size >= clients * 3 && scanner.scanned.length > 0) killed ??= daemon.kill()
      }
    }
    const visits = Array.from({ length: clients }, (_, of) => visit(orders.filter(({ number }) => number % clients === of)))
    await Promise.allSettled(visits)
    await killed
  }
  const before = new Map(ids)
  t.true(before.size >= clients * 3 && before.size < orders.length, `${before.size} were acknowledged`)

  scanner.conduct = () => 'stream: OK'
  await using daemon = await Daemon.start(options, adminKey)
  using client = new RestClient(daemon.addresses.http, adminKey)
  const again = await Promise.all(orders.flatMap((order) => [order, order]).map((order) => send(client, form.open, order)))
  for (const [at, { status, body, bytes }] of again.entries()) {
    const number = Math.floor(at / 2)
    t.is(status, 201, bytes.toString())
    const { id } = body as { readonly id: string }
    t.is(ids.get(number) ?? id, id, 'ledger: a repeated submission gets another id')
    ids.set(number, id)
  }
  const rows: Row[] = []
  for await (const row of client.rows(`${form.path}/submissions`)) rows.push(row)
  t.deepEqual(rows.map(({ id }) => String(id)).toSorted(), [...ids.values()].toSorted(), 'ledger: each submission once')
  t.deepEqual(
    rows.map(({ answers }) => String((answers as Row)['text'])).toSorted(),
    orders.map(({ number }) => `answer ${number}`).toSorted(),
    'ledger: each answer once',
  )
  const scanned = await waitFor('every file is scanned', async () => {
    const found: Row[] = []
    for await (const { id, answers, files } of client.rows(`${form.path}/submissions`))
      for (const file of files as Row[]) found.push({ ...file, submission: id, text: (answers as Row)['text'] })
    return found.every(({ status }) => status === 'clean') ? found : undefined
  })
  const sums = orders.flatMap(({ number }) => {
    const file = fileOf(number)
    return file ? [`answer ${number} ${hash('sha256', file)}`] : []
  })
  t.deepEqual(scanned.map(({ text, sha256 }) => `${String(text)} ${String(sha256)}`).toSorted(), sums.toSorted(), 'ledger: each file once')
  const [one] = scanned
  const { headers } = await client.call('GET', `${form.path}/submissions/${String(one?.['submission'])}/files/${String(one?.['id'])}`)
  const { bytes } = await client.call('GET', String(headers.location))
  t.is(hash('sha256', bytes), String(one?.['sha256']))
  t.true(
    [...before].every(([number, id]) => ids.get(number) === id),
    'ledger: an acknowledged submission is lost',
  )

  const notified = async (): Promise<readonly string[]> => {
    const subjects: string[] = []
    for await (const { subject } of client.rows('/v1/traces')) subjects.push(String(subject))
    return subjects
  }
  const all = await waitFor('all submissions are notified', async () => {
    const subjects = await notified()
    return subjects.length >= orders.length ? subjects : undefined
  })
  t.deepEqual(all.toSorted(), [...ids.values()].toSorted(), 'ledger: each is notified once')
  t.is((await daemon.stop()).code, 0)
  assertVerified(t, await runCommand(options, 'verify'))
})
