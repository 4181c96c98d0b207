/** Files of forms and their scanner: clean and infected files, and a scanner that is down, slow or disconnects. */
import test, { type ExecutionContext } from '#test'
import { findings } from '#core/findings/finding.ts'
import { integrityChecks } from '#core/integrity.ts'
import { within as keysWithin } from '#store/tuple.ts'
import { verify } from '#store/verify/verify.ts'
import { Clamd } from '../../../../protocols/clamd/clamd.ts'
import { Front } from '../../../support/network/front.ts'
import { waiting } from '../../../support/waits.ts'
import { FakeClamd } from '../../../support/web/fake-clamd.ts'
import { largePng, samples } from '../../../core/forms/file-samples.ts'
import { codeOf } from '../fixture/publishable-page.ts'
import { multipartBody, multipartType } from './multipart-body.ts'
import { formFixture, type FormFixture } from './visitor.ts'

type Row = Readonly<Record<string, unknown>>

const schema = { version: 1, fields: [{ key: 'cv', type: 'file_upload', label: 'CV' }] }

interface Sent {
  readonly id: string
  /** Returns the file of the submission. */
  file(): Promise<Row>
  status(): Promise<unknown>
  get(): ReturnType<FormFixture['rest']['call']>
}

async function scannedFixture(t: ExecutionContext, scanner: { readonly port: number }) {
  const fixture = await formFixture(t, { schema }, { settings: { POSTERN_CLAMD: `127.0.0.1:${scanner.port}` } })
  const { post, token, rest, path, clock, daemon, database, organizationId } = fixture
  const send = async (file: Buffer): Promise<Sent> => {
    const { body } = await post(
      multipartBody([
        ['_mnx_ft', await token()],
        ['cv', file, 'cv'],
      ]),
      multipartType(),
    )
    const id = String((body as Row)['id'])
    const read = async (): Promise<Row> => ((await rest.must('GET', `${path}/submissions/${id}`))['files'] as Row[])[0] ?? {}
    return {
      id,
      file: read,
      status: async () => (await read())['status'],
      get: async () => rest.call('GET', `${path}/submissions/${id}/files/${String((await read())['id'])}`),
    }
  }
  return {
    ...fixture,
    send,
    /** Advances the clock past the longest pause between two scans of a file. */
    async scanAgain() {
      clock.advance(600_000)
      await daemon.settled()
    },
    contents: async () => (await Array.fromAsync(database.kv.range(keysWithin([organizationId, 'content'])))).length,
    problems: async () => (await verify(database, integrityChecks(database))).problems,
  }
}

test('clean files can be downloaded, and infected files are deleted completely', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = (file) => (file.includes('IHDR') ? 'stream: Worm.Test-1 FOUND' : 'stream: OK')
  const { send, daemon, contents, problems, failures, rest, path } = await scannedFixture(t, scanner)
  const clean = await send(samples.pdf)
  await daemon.settled()
  t.is(await clean.status(), 'clean')
  const { status, headers } = await clean.get()
  t.is(status, 302)
  t.deepEqual((await rest.call('GET', String(headers['location']))).bytes, samples.pdf)
  const infected = await send(largePng(600_000))
  await daemon.settled()
  t.is(await infected.status(), 'infected')
  t.like(await infected.file(), { virus: 'Worm.Test-1', name: 'cv.png', bytes: 600_000 })
  t.is(codeOf(await infected.get()), '410 file_infected')
  t.is(await contents(), 1)
  t.deepEqual(
    scanner.scanned.map(({ length }) => length),
    [samples.pdf.length, 600_000],
  )
  t.deepEqual([failures, await problems()], [[], []])
  await rest.must('DELETE', `${path}?confirm=Contact`)
})

test('without a working scanner, submissions are stored and their files stay pending', async (t) => {
  await using scanner = await FakeClamd.listen()
  await using front = await Front.to(scanner.port)
  const { send, scanAgain, problems, daemon, failures, database, organizationId, rest, operator } = await scannedFixture(t, front)
  scanner.conduct = () => ({ goneAfter: 100_000 })
  const gone = await send(largePng(2_000_000))
  await daemon.settled()
  t.is(await gone.status(), 'pending')
  t.is(codeOf(await gone.get()), '409 scan_pending')
  await front.close()
  const down = await send(samples.gif)
  await daemon.settled()
  t.deepEqual([await gone.status(), await down.status()], ['pending', 'pending'])
  const unreachable = async () => {
    const all = await database.all(findings, { organizationId })
    return all.filter(({ record }) => record.kind === 'scanner.unreachable').map(({ record }) => [record.state, record.params['count']])
  }
  await daemon.part('watch').start()
  daemon.part('watch').note(organizationId, '')
  await daemon.pass(9 * 60_000)
  t.deepEqual(await unreachable(), [])
  await daemon.pass(2 * 60_000)
  t.deepEqual(await unreachable(), [['open', 2]])
  const warnings = async () => ((await rest.must('GET', '/readyz')) as { readonly warnings: readonly string[] }).warnings
  const metrics = async () => (await rest.call('GET', '/metrics')).bytes.toString()
  t.deepEqual(await warnings(), ['scanner.unreachable: Uploaded files wait for the virus scanner (POSTERN_CLAMD).'])
  t.regex(await metrics(), /^postern_scans_waiting 2$/m)
  const seen = (await operator.must('GET', '/operator/v1/doctor'))['findings'] as Row[]
  t.deepEqual(
    seen.filter(({ id }) => id === 'scanner.unreachable').map(({ severity }) => severity),
    ['error'],
  )
  await front.open()
  scanner.conduct = (file) => (file.length > 1000 ? 'INSTREAM size limit exceeded. ERROR' : 'stream: OK')
  await scanAgain()
  t.is(await down.status(), 'clean', 'a file that cannot be scanned delays no other file')
  t.is(await gone.status(), 'pending')
  scanner.conduct = () => 'stream: OK'
  await scanAgain()
  t.is(await gone.status(), 'clean')
  await daemon.pass(60_000)
  t.deepEqual(await unreachable(), [['over', 2]])
  t.deepEqual(await warnings(), [])
  t.regex(await metrics(), /^postern_scans_waiting 0$/m)
  await daemon.pass(60_000)
  t.deepEqual(await unreachable(), [['over', 2]])
  t.true(failures.length > 0)
  failures.length = 0
  t.deepEqual(await problems(), [])
})

test('form page: shows a pending scan to the visitor, in the language of the form', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => ({ goneAfter: 0 })
  const { address, publicId, publish, token, daemon, scanAgain, failures } = await scannedFixture(t, scanner)
  await publish({ schema, locale: 'de' })
  const parts = multipartBody([
    ['_mnx_ft', await token()],
    ['cv', samples.pdf, 'cv'],
  ])
  const headers = { 'content-type': multipartType(), accept: 'application/json' }
  const sent = await fetch(`http://${address}/f/${publicId}`, { method: 'POST', headers, body: new Uint8Array(parts) })
  const { thanks } = (await sent.json()) as { readonly thanks: string }
  const page = async (): Promise<string> => (await fetch(`http://${address}${thanks}`)).text()
  await daemon.settled()
  t.regex(await page(), /Ihre Dateien werden auf Viren geprüft\./)
  scanner.conduct = () => 'stream: OK'
  await scanAgain()
  const after = await page()
  t.false(after.includes('auf Viren'))
  t.regex(after, /Es wird keine automatische E-Mail gesendet\./)
  failures.length = 0
})

test('a pending file that is deleted is not scanned', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => ({ goneAfter: 0 })
  const { send, clock, rest, path, daemon, contents, problems, failures } = await scannedFixture(t, scanner)
  const { id } = await send(samples.webp)
  await daemon.settled()
  t.is((await rest.call('DELETE', `${path}/submissions/${id}`)).status, 204)
  scanner.conduct = () => 'stream: OK'
  clock.advance(1000)
  await daemon.settled()
  t.deepEqual([scanner.scanned.length, await contents(), await problems()], [0, 0, []])
  failures.length = 0
})

test('a scanner that does not answer times out', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => undefined
  const clamd = new Clamd({ address: { host: '127.0.0.1', port: scanner.port }, idleMs: 200 })
  const octets = async function* () {
    yield samples.pdf
  }
  const error = await t.throwsAsync(clamd.scan(octets()))
  t.like(error, { name: 'ScanFailed', isDown: true, message: 'The virus scanner does not answer.' })
  const nowhere = new Clamd({ address: { path: '/nonexistent/clamd.ctl' } })
  t.like(await t.throwsAsync(nowhere.scan(octets())), { name: 'ScanFailed', isDown: true })
})

test('stopping aborts a running scan and leaves the file pending', async (t) => {
  await using scanner = await FakeClamd.listen()
  scanner.conduct = () => undefined
  const { send, daemon, failures } = await scannedFixture(t, scanner)
  const { status } = await send(samples.pdf)
  await scanner.hasScanned(1)
  await waiting('scanning stops', daemon.fileScanning.stop())
  t.is(await status(), 'pending')
  t.deepEqual(failures, [])
})
